// States into files, written by a thread of their own: the run goes on meanwhile, and waits only
// where the state before is still being written.
#pragma once

#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../mesh/pvd_file.hpp"
#include "frame_buffer.hpp"
#include "heddle/problems.hpp"

namespace heddle::simulation {

class FrameWriter {
 public:
  /// `path` is one state (.vtu), or a series of them (.pvd) with the states in files beside it. The
  /// mesh must stay. States have arrays as `shape`. A series that is there keeps its states of
  /// before the time `keep_before`, if there is one.
  FrameWriter(const std::string& path, std::span<const Point> position,
              std::span<const std::array<Index, 4>> tetrahedra, std::span<const FrameArray> shape,
              const Device& device, std::optional<double> keep_before = {});
  ~FrameWriter();

  /// Files beside a series of this path (.pvd) that have names of its states: those that are there,
  /// and those of `others`, which may not be yet, that are called so. None where `path` is one
  /// state. Throws `Error` (usage) where ParaView could not be told the names.
  static std::vector<std::string> names_of(const std::string& path,
                                           const std::vector<std::optional<std::string>>& others);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Takes the state. Throws what became of the one before.
  void write(long long step, double time, std::span<const FrameArray> arrays);
  /// Returns when all is written; throws what became of it.
  void finish();
  long long frames() const { return frames_; }

 private:
  void work();
  void write_frame();
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  std::string path_;
  std::span<const Point> position_;
  std::span<const std::array<Index, 4>> tetrahedra_;
  std::vector<FrameArray> shape_;
  std::optional<mesh::PvdFile> series_;
  FrameBuffer buffer_;
  long long step_ = 0;  // of what is in the buffer
  double time_ = 0;
  long long frames_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_full_ = false;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace heddle::simulation
