#include "svg_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace heddle::report {

namespace {

using Limits = std::numeric_limits<double>;

/// Finite for every number: otherwise an axis through 0, or from a number below 1e-308, has no end.
double logarithm(double value) {
  return std::log10(value > Limits::min() ? std::min(value, Limits::max()) : Limits::min());
}

}  // namespace

Scale::Scale(bool logarithmic, double low, double high) : logarithmic_(logarithmic) {
  if (logarithmic) {
    low_ = logarithm(low);
    high_ = logarithm(high);
    const double margin = std::max(0.04 * (high_ - low_), 0.08);
    low_ -= margin;
    high_ += margin;
  } else {
    // Limits that keep steps between ticks from vanishing or overflowing.
    constexpr double min_length = 1e-290, max_end = 1e300;
    low_ = low < 0 ? std::max(low, -max_end) : 0;
    const double length = std::min(high, max_end) - low_;
    high_ = low_ + (length > min_length ? length * 1.02 : 1);
  }
}

bool Scale::shows(double value) const {
  return std::isfinite(value) && (!logarithmic_ || value > 0);
}

double Scale::at(double value) const {
  const double v = logarithmic_ ? logarithm(value) : value;
  return first_ + (v - low_) / (high_ - low_) * (last_ - first_);
}

std::vector<double> Scale::logarithmic_ticks(int most) const {
  if (most < 1) return {};  // decade 0 would remain for any step
  const std::array<std::vector<double>, 4> kinds = {
      std::vector<double>{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, std::vector<double>{1, 2, 3, 5},
      std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}};
  for (const auto& multiples : kinds) {
    const auto found = ticks_of(multiples, 1);
    if (static_cast<int>(found.size()) <= most) return found;
  }
  for (int step = 1;; ++step) {
    const auto found = ticks_of({1}, step);
    if (static_cast<int>(found.size()) <= most) return found;
  }
}

std::vector<double> Scale::ticks_of(const std::vector<double>& multiples, int step) const {
  std::vector<double> found;
  for (int decade = static_cast<int>(std::floor(low_)); decade <= std::ceil(high_); ++decade) {
    if (decade % step != 0) continue;
    for (const double multiple : multiples) {
      const double value = std::log10(multiple) + decade;
      const double tick = multiple * std::pow(10.0, decade);
      if (value >= low_ && value <= high_ && tick > 0 && std::isfinite(tick)) found.push_back(tick);
    }
  }
  return found;
}

std::vector<double> Scale::linear_ticks(int most) const {
  if (most < 1) return {};
  const double min_step = (high_ - low_) / most;
  const double power = std::pow(10.0, std::floor(std::log10(min_step)));
  double step = 10 * power;
  for (const double multiple : {5.0, 2.0, 1.0}) {
    if (multiple * power >= min_step) step = multiple * power;
  }
  std::vector<double> found;
  for (int i = 0; low_ + i * step <= high_ * (1 + 1e-9); ++i) found.push_back(low_ + i * step);
  return found;
}

std::string short_amount(double amount, const std::vector<std::string>& units) {
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && amount >= 999.5; ++unit) amount /= 1000;
  char text[48];
  std::snprintf(text, sizeof text, "%.3g", amount);
  return units[unit].empty() ? text : text + (" " + units[unit]);
}

}  // namespace heddle::report
