// Timing by medians of interleaved repetitions, and the bandwidth to hold them against.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "heddle/device.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Of one kind of work, in seconds.
struct HEDDLE_EXPORT Timing {
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};

/// Runs every work once to warm up, then all of them in turn `repetitions` times, so that a change
/// of the machine's speed meets all alike. What is timed follows a run of itself, whose caches it
/// finds, and not the others'.
HEDDLE_EXPORT std::vector<Timing> measure(const std::vector<std::function<void()>>& works,
                                          int repetitions);

/// The same for works that only queue on the stream that they are given, one of `device`. On a GPU
/// each is replayed from a graph and timed by events there, with warm caches; capturable work only.
HEDDLE_EXPORT std::vector<Timing> measure(
    const std::vector<std::function<void(const Stream&)>>& works, int repetitions,
    const Device& device);

/// The same with cold caches: before every run, outside of its time, a buffer of three times the
/// last cache's size is written and then read. On a GPU a run lies between two events in a graph,
/// so that its time includes what the GPU takes to begin a kernel that has to wait for others, and
/// to see its end: `run_nothing` measured beside it says how much.
HEDDLE_EXPORT std::vector<Timing> measure_cold(
    const std::vector<std::function<void(const Stream&)>>& works, int repetitions,
    const Device& device);

/// An empty kernel; on the CPU an empty parallel region of the team.
HEDDLE_EXPORT void run_nothing(const Stream& stream);

namespace detail {
/// One of each list, which are sorted.
HEDDLE_EXPORT std::vector<Timing> timings_of(std::vector<std::vector<double>>& seconds);
}  // namespace detail

/// What a bandwidth is held against: on the CPU STREAM's triad a = b + s c over arrays of its own,
/// with ordinary stores (McCalpin 1995); on a GPU a copy, 16 bytes a thread, a grid that covers it
/// all.
class HEDDLE_EXPORT Triad {
 public:
  /// `elements` of double an array; the default is far over any last-level cache.
  explicit Triad(const Device& device, long long elements = 64'000'000);
  ~Triad();
  Triad(const Triad&) = delete;
  Triad& operator=(const Triad&) = delete;

  void run(const Stream& stream);
  /// 24 bytes an element, as STREAM counts; 16 where it is a copy.
  long long bytes() const;
  std::string_view name() const;  // "triad" or "copy"

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace heddle
