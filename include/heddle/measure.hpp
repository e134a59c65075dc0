// Timing by medians of interleaved repetitions, and the bandwidth to hold them against.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "heddle/device.hpp"

namespace heddle {

/// Of one kind of work, in seconds.
struct Timing {
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
};

/// Runs every work once to warm up, then all of them in turn `repetitions` times, so that a change
/// of the machine's speed meets all alike.
std::vector<Timing> measure(const std::vector<std::function<void()>>& works, int repetitions);

/// STREAM's triad a = b + s c over arrays of its own, with ordinary stores (McCalpin 1995).
class Triad {
 public:
  /// `elements` of double an array; the default is far over any last-level cache.
  explicit Triad(const Device& device, long long elements = 40'000'000);
  ~Triad();
  Triad(const Triad&) = delete;
  Triad& operator=(const Triad&) = delete;

  void run();
  /// 24 bytes an element, as STREAM counts.
  long long bytes() const;

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace heddle
