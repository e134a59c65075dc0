#include "frame_writer.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "../command/output_path.hpp"
#include "../mesh/vtu_file.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::simulation {

FrameWriter::FrameWriter(const std::string& path, std::span<const Point> position,
                         std::span<const std::array<Index, 4>> tetrahedra,
                         std::span<const FrameArray> shape, const Device& device,
                         std::optional<double> keep_before)
    : path_(path),
      position_(position),
      tetrahedra_(tetrahedra),
      shape_(shape.begin(), shape.end()),
      buffer_(shape, device) {
  if (cli::ends_with(path, ".pvd")) series_.emplace(path, keep_before);
  thread_ = std::thread([this] { work(); });
}

std::vector<std::string> FrameWriter::names_of(
    const std::string& path, const std::vector<std::optional<std::string>>& others) {
  if (!cli::ends_with(path, ".pvd")) return {};
  const std::filesystem::path series(path);
  const std::string stem = series.stem().string() + "-", end = ".vtu";
  if (io::printable(stem) != stem) {
    throw Error(ErrorKind::usage,
                "--output " + path +
                    ": the name is written into XML, and must be UTF-8 without control characters");
  }
  const auto is_of_series = [&](const std::string& name) {
    constexpr std::size_t min_digits = 6;
    return name.size() >= stem.size() + min_digits + end.size() && name.starts_with(stem) &&
           name.ends_with(end) &&
           name.find_first_not_of("0123456789", stem.size()) == name.size() - end.size();
  };
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path folder = series.has_parent_path() ? series.parent_path() : ".";
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (is_of_series(at->path().filename().string())) names.push_back(at->path().string());
  }
  for (const std::optional<std::string>& other : others) {
    if (!other || other->empty()) continue;
    const std::string name = std::filesystem::path(written_path(*other)).filename().string();
    const std::string next_to_series = (folder / name).string();
    const bool is_new = !std::filesystem::exists(next_to_series, error);
    // Each name once: one listed twice here would be refused as a file that is written twice.
    const bool is_named = std::find(names.begin(), names.end(), next_to_series) != names.end();
    if (is_of_series(name) && is_new && !is_named) names.push_back(next_to_series);
  }
  return names;
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

void FrameWriter::write(long long step, double time, std::span<const FrameArray> arrays) {
  {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
  }
  buffer_.take(arrays);
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
  std::vector<mesh::VtuArray> of_points, of_cells;
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    auto& arrays = shape_[i].of == FrameArray::Of::vertices ? of_points : of_cells;
    arrays.push_back({shape_[i].name, shape_[i].values.components, buffer_.values(i)});
  }
  const mesh::VtuContents contents{position_, tetrahedra_, of_points, of_cells};
  if (!series_) return mesh::write_vtu(path_, contents);
  char number[32];
  std::snprintf(number, sizeof number, "-%06lld.vtu", step_);
  const std::filesystem::path path(path_);
  const std::string name = path.stem().string() + number;
  mesh::write_vtu((path.parent_path() / name).string(), contents);
  series_->add(time_, name);
}

}  // namespace heddle::simulation
