#include "row_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "heddle/error.hpp"
#include "mesh_patterns.hpp"

namespace heddle::bench {

namespace {

// Purposes of random choices, each with a seed of its own.
enum Choice : std::uint64_t { longest_of_slice = 201, shorter_half, length, place_of_longest, hub };

constexpr Index half = 16, slice = 32;

/// A number to choose: from `low` to `high`.
struct Range {
  Index low, high;
};

/// Chooses numbers within their ranges whose sum is `total`: each at the same bend of a random
/// place in its range. The bend u / (u + c (1 - u)) maps [0, 1] to itself, and rounds the same way
/// on every machine.
class Fit {
 public:
  Fit(std::span<const Range> ranges, std::uint64_t seed) : ranges_(ranges), seed_(seed) {}

  std::vector<Index> with_sum(Offset total) const {
    Offset low = 0, high = 0;
    for (const Range& range : ranges_) {
      low += range.low;
      high += range.high;
    }
    if (total < low || total > high) {
      throw Error(ErrorKind::usage, "no row lengths of that kind have these statistics: a sum of " +
                                        std::to_string(total) + " is not within " +
                                        std::to_string(low) + " to " + std::to_string(high));
    }
    double above = 1.0 / (1LL << 40), below = 1LL << 40;  // bends with too large, too small a sum
    for (int i = 0; i < 60; ++i) {
      const double between = std::sqrt(above) * std::sqrt(below);
      (sum_at(between) > total ? above : below) = between;
    }
    std::vector<Index> chosen(ranges_.size());
    Offset missing = total;
    for (std::size_t i = 0; i < chosen.size(); ++i) missing -= chosen[i] = at(i, below);
    while (missing > 0) {
      for (std::size_t i = 0; i < chosen.size() && missing > 0; ++i) {
        if (chosen[i] == ranges_[i].high) continue;
        ++chosen[i];
        --missing;
      }
    }
    return chosen;
  }

 private:
  Index at(std::size_t i, double c) const {
    const double u = of_place(seed_, i);
    const Range& range = ranges_[i];
    return range.low +
           static_cast<Index>(std::lround((range.high - range.low) * (u / (u + c * (1 - u)))));
  }
  Offset sum_at(double c) const {
    Offset sum = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) sum += at(i, c);
    return sum;
  }

  std::span<const Range> ranges_;
  std::uint64_t seed_;
};

std::size_t pieces(Index rows, Index size) {
  return static_cast<std::size_t>((rows + size - 1) / size);
}

/// Bounds on the lengths of all rows but the longest one.
struct Usual {
  Index shortest, mean, longest;
};

Usual usual_lengths(const RowStatistics& s) {
  const auto mean = static_cast<Index>(s.entries / s.rows);
  const auto slices = static_cast<Offset>(pieces(s.rows, slice));
  const Offset of_slice = (s.steps_of_32 - s.longest) / std::max<Offset>(1, slices - 1);
  // Slices differ, but a few long rows do not make up the whole excess over the mean.
  const auto longest = static_cast<Index>(mean + 4 * (of_slice - mean) + 3);
  return {std::min<Index>(4, mean), mean, std::min(s.longest, longest)};
}

/// The longest row of each half of a slice.
std::vector<Index> longest_of_halves(const RowStatistics& s, const Usual& usual,
                                     std::uint64_t seed) {
  const std::size_t slices = pieces(s.rows, slice), halves = pieces(s.rows, half);
  const std::size_t whole = halves / 2;  // slices with both halves
  const auto with_hub =
      static_cast<std::size_t>(of_place(seed * 1000 + hub, 0) * static_cast<double>(whole));
  std::vector<Range> ranges(slices, {usual.mean, usual.longest});
  ranges[with_hub] = {s.longest, s.longest};
  const auto longest = Fit(ranges, seed * 1000 + longest_of_slice).with_sum(s.steps_of_32);
  ranges.clear();
  for (std::size_t i = 0; i < whole; ++i) {
    ranges.push_back({usual.mean, std::min(longest[i], usual.longest)});
  }
  const Offset others = s.steps_of_16 - std::accumulate(longest.begin(), longest.end(), Offset(0));
  const auto shorter = Fit(ranges, seed * 1000 + shorter_half).with_sum(others);
  std::vector<Index> of_half;
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    of_half.insert(of_half.end(), {longest[i], shorter[i]});
    if (of_place(seed * 1000 + shorter_half, slices + i) < 0.5) {
      std::swap(of_half[2 * i], of_half[2 * i + 1]);
    }
  }
  if (whole < slices) of_half.push_back(longest.back());
  return of_half;
}

}  // namespace

RowStatistics row_statistics(const PatternView& pattern) {
  RowStatistics s{.rows = pattern.rows, .entries = pattern.entries()};
  const auto steps = [&](Index size) {
    Offset sum = 0;
    for (Index first = 0; first < pattern.rows; first += size) {
      Index longest = 0;
      for (Index row = first; row < std::min(pattern.rows, first + size); ++row) {
        longest = std::max(longest, pattern.length(row));
      }
      s.longest = std::max(s.longest, longest);
      sum += longest;
    }
    return sum;
  };
  s.steps_of_16 = steps(half);
  s.steps_of_32 = steps(slice);
  return s;
}

std::vector<Index> row_lengths(const RowStatistics& s, std::uint64_t seed) {
  const Usual usual = usual_lengths(s);
  const std::vector<Index> longest = longest_of_halves(s, usual, seed);
  std::vector<Range> ranges(static_cast<std::size_t>(s.rows));
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const std::size_t first = i * half, last = std::min(ranges.size(), first + half);
    for (std::size_t row = first; row < last; ++row) {
      ranges[row] = {usual.shortest, std::min(longest[i], usual.longest)};
    }
    const double place = of_place(seed * 1000 + place_of_longest, i);
    ranges[first + static_cast<std::size_t>(place * static_cast<double>(last - first))] = {
        longest[i], longest[i]};
  }
  return Fit(ranges, seed * 1000 + length).with_sum(s.entries);
}

}  // namespace heddle::bench
