// The lengths of adaptive time steps: 1, 2, 4 ... units, by an estimate of each step's error.
#pragma once

#include <algorithm>

namespace heddle::heart {

/// Counts of the steps taken, in units of the shortest.
struct StepCounts {
  long long taken = 0;
  long long rejected = 0;
  long long shortest = 0;
  long long longest = 0;
};

/// For a rule whose local error is of the second order, such as backward Euler. Errors are in the
/// unit of the tolerance; one that is infinite stands for a step that was not solved.
class StepLengths {
 public:
  /// `most` is at least 1.
  StepLengths(double tolerance, long long most) : tolerance_(tolerance), most_(most) {}

  /// The length to try, at most `room`.
  long long first(long long room) const { return power_of_two(std::min(wish_, room)); }
  bool accepts(long long length, double error) const { return length == 1 || error <= tolerance_; }
  /// After a step that was rejected: half of it, or less.
  long long shorter(long long length, double error) const {
    return fitting(length, error, length / 2);
  }
  void take(long long length, double error) {
    wish_ = fitting(length, error, std::min(2 * wish_, most_));
    ++counts_.taken;
    counts_.shortest = counts_.taken == 1 ? length : std::min(counts_.shortest, length);
    counts_.longest = std::max(counts_.longest, length);
  }
  void reject() { ++counts_.rejected; }
  /// Something begins that no earlier step says anything about.
  void begin_again() { wish_ = 1; }

  const StepCounts& counts() const { return counts_; }
  long long wish() const { return wish_; }
  void resume(long long wish) { wish_ = wish; }

 private:
  static long long power_of_two(long long most) {
    long long length = 1;
    while (2 * length <= most) length *= 2;
    return length;
  }
  /// The longest step up to `most` whose error is likely to stay below the tolerance.
  long long fitting(long long length, double error, long long most) const {
    constexpr double safety = 0.8;
    long long found = power_of_two(most);
    const auto expected = [&] {
      const double ratio = static_cast<double>(found) / static_cast<double>(length);
      return error * ratio * ratio;
    };
    while (found > 1 && !(expected() <= safety * tolerance_)) found /= 2;
    return found;
  }

  double tolerance_;
  long long most_;
  long long wish_ = 1;
  StepCounts counts_;
};

}  // namespace heddle::heart
