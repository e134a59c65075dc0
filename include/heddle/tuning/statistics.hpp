// Times of one kind of work, and how well they are known.
#pragma once

#include <span>

#include "heddle/export.hpp"

namespace heddle {

/// In seconds, for one product or iteration (Mueller-Roemer et al. 2020 give the same six).
struct HEDDLE_EXPORT Statistics {
  int runs = 0;
  double least = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double greatest = 0;
  double mean = 0;

  bool operator==(const Statistics&) const = default;
};

/// Needs at least one time; all finite. Quantiles are linear between neighbouring order statistics.
HEDDLE_EXPORT Statistics statistics_of(std::span<const double> seconds);

/// The interval that contains the median with the probability `confidence`, whatever the
/// distribution: order statistics by the binomial distribution (David and Nagaraja 2003, section
/// 7.1). It is the whole range if that is not enough.
struct HEDDLE_EXPORT Interval {
  double low = 0;
  double high = 0;
};
HEDDLE_EXPORT Interval median_interval(std::span<const double> seconds, double confidence);

namespace detail {
/// Linear between the neighbouring order statistics; q is in [0, 1], and there is at least one
/// value.
double quantile(std::span<const double> sorted, double q);
}  // namespace detail

}  // namespace heddle
