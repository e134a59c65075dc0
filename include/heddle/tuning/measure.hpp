// Timing by medians of interleaved repetitions, and the bandwidth to compare with.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/device.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Times of one kind of work, in seconds.
struct HEDDLE_EXPORT Timing {
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};

/// Runs every work once to warm up, then all of them in turn `repetitions` times, so that a change
/// of the machine's speed affects all in the same way. Each timed run follows a run of the same
/// work, and finds its caches.
HEDDLE_EXPORT std::vector<Timing> measure(const std::vector<std::function<void()>>& works,
                                          int repetitions);

/// The same for works that only queue on the given stream, one of `device`. On a GPU a graph
/// replays each work, and events time it there, with warm caches; for capturable work only.
HEDDLE_EXPORT std::vector<Timing> measure(
    const std::vector<std::function<void(const Stream&)>>& works, int repetitions,
    const Device& device);

/// The same with cold caches: before every run, outside of its time, it writes and then reads a
/// buffer of three times the last cache's size. On a GPU a run lies between two events in a graph,
/// so that its time includes the start of a kernel that has to wait for others and the detection of
/// its end; measuring `run_nothing` along with it gives this overhead.
HEDDLE_EXPORT std::vector<Timing> measure_cold(
    const std::vector<std::function<void(const Stream&)>>& works, int repetitions,
    const Device& device);

/// An empty kernel; on the CPU an empty parallel region of the team.
HEDDLE_EXPORT void run_nothing(const Stream& stream);

namespace detail {
/// One timing for each list; the lists are sorted.
HEDDLE_EXPORT std::vector<Timing> timings_of(std::vector<std::vector<double>>& seconds);
}  // namespace detail

/// The reference bandwidth: on the CPU STREAM's triad a = b + s c over its own arrays, with
/// ordinary stores (McCalpin 1995); on a GPU a copy, 16 bytes per thread, by a grid that covers it
/// all.
class HEDDLE_EXPORT Triad {
 public:
  /// `elements` doubles per array; the default far exceeds any last-level cache.
  explicit Triad(const Device& device, long long elements = 64'000'000);

  void run(const Stream& stream);
  /// 24 bytes per element, as STREAM counts; 16 for a copy.
  long long bytes() const;
  std::string_view name() const;  // "triad" or "copy"

 private:
  bool on_gpu_;
  Array<double> a_, b_, c_;
};

}  // namespace heddle
