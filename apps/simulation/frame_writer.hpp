// Writes states to files in a separate thread: the run continues meanwhile, and waits only if the
// previous state is still being written.
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
  /// `path` is one state (.vtu), or a series of them (.pvd) with the states in files next to it.
  /// The mesh must outlive the writer. States have arrays of the given `shape`. A series that
  /// already exists keeps its states from before the time `keep_before`, if it is given.
  FrameWriter(const std::string& path, std::span<const Point> position,
              std::span<const std::array<Index, 4>> tetrahedra, std::span<const FrameArray> shape,
              const Device& device, std::optional<double> keep_before = {});
  ~FrameWriter();

  /// Files next to a series of this path (.pvd) whose names are those of its states: existing
  /// files, and those of `others`, which need not exist yet. None if `path` is one state. Throws
  /// `Error` (usage) if the names cannot be written in the XML that ParaView reads.
  static std::vector<std::string> names_of(const std::string& path,
                                           const std::vector<std::optional<std::string>>& others);
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  /// Takes the state. Throws the error, if any, of the previous one.
  void write(long long step, double time, std::span<const FrameArray> arrays);
  /// Returns when everything is written; throws the error, if any.
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
  long long step_ = 0;  // for the state in the buffer
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
