#include "frame_writer.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "../command/output_path.hpp"
#include "../mesh/vtu_file.hpp"

namespace heddle::elastic {

FrameWriter::FrameWriter(const std::string& path, const Model& model, const ElasticSystem& system,
                         bool with_velocity)
    : path_(path), model_(model), buffer_(system, with_velocity) {
  if (cli::ends_with(path, ".pvd")) series_.emplace(path);
  thread_ = std::thread([this] { work(); });
}

FrameWriter::~FrameWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FrameWriter::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !is_full_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void FrameWriter::write(long long step, double time, const ElasticSystem& system,
                        const VertexField& displacement, const VertexField* velocity) {
  {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
  }
  buffer_.take(system, displacement, velocity);
  step_ = step;
  time_ = time;
  ++frames_;
  {
    const std::lock_guard lock(mutex_);
    is_full_ = true;
  }
  changed_.notify_all();
}

void FrameWriter::finish() {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
}

void FrameWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_full_ || is_over_; });
    if (!is_full_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      write_frame();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    is_full_ = false;
    changed_.notify_all();
  }
}

void FrameWriter::write_frame() {
  buffer_.wait();
  const std::array<mesh::VtuArray, 2> of_points = {
      {{"displacement", 3, buffer_.displacement()}, {"velocity", 3, buffer_.velocity()}}};
  const std::array<mesh::VtuArray, 2> of_cells = {
      {{"stress", 6, buffer_.stress()}, {"von_mises", 1, buffer_.equivalent_stress()}}};
  const mesh::VtuContents contents{model_.position, model_.tetrahedron,
                                   std::span(of_points).first(buffer_.velocity().empty() ? 1 : 2),
                                   of_cells};
  if (!series_) return mesh::write_vtu(path_, contents);
  char number[32];
  std::snprintf(number, sizeof number, "-%06lld.vtu", step_);
  const std::filesystem::path path(path_);
  const std::string name = path.stem().string() + number;
  mesh::write_vtu((path.parent_path() / name).string(), contents);
  series_->add(time_, name);
}

}  // namespace heddle::elastic
