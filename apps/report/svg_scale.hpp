// Maps numbers to pixels along an axis.
#pragma once

#include <string>
#include <vector>

namespace heddle::report {

class Scale {
 public:
  /// Makes room for `low` to `high` and a little more; a linear axis begins at 0 or below.
  Scale(bool logarithmic, double low, double high);

  void map_to(double first, double last) {
    first_ = first;
    last_ = last;
  }

  bool shows(double value) const;
  double at(double value) const;
  /// Returns about `most` ticks at most.
  std::vector<double> ticks(int most) const {
    return logarithmic_ ? logarithmic_ticks(most) : linear_ticks(most);
  }

 private:
  std::vector<double> logarithmic_ticks(int most) const;
  std::vector<double> ticks_of(const std::vector<double>& multiples, int step) const;
  std::vector<double> linear_ticks(int most) const;

  bool logarithmic_;
  double low_, high_;  // logarithms if the axis is logarithmic
  double first_ = 0, last_ = 1;
};

/// Tick texts: `amount` in the largest of `units` (each a thousand of the one before) in which it
/// is not below 1, without needless digits.
std::string short_amount(double amount, const std::vector<std::string>& units);

}  // namespace heddle::report
