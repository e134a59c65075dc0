// Sums with repeatable bits: partial sums belong to fixed groups of 256 rows and are added in a
// fixed tree, so that neither thread count nor schedule changes the result.
#pragma once

#include <array>
#include <type_traits>

#include "heddle/array.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle {

inline constexpr Index rows_of_group = 256;

inline Index groups_of(Index rows) {
  return static_cast<Index>((Offset(rows) + rows_of_group - 1) / rows_of_group);
}

/// What scalars of type S are summed in: double, or long double for itself.
template <class S>
using sum_t = std::conditional_t<std::is_same_v<S, long double>, long double, double>;

/// Room for up to `width` sums over the groups of a field, kept so that a solve allocates nothing.
template <class S>
class Reduction {
 public:
  using sum = sum_t<S>;
  static constexpr int width = 8;

  explicit Reduction(Index rows, const Device& device = Device::cpu())
      : groups_(groups_of(rows)), partials_(static_cast<std::size_t>(groups_) * width, device) {}

  Index groups() const { return groups_; }

  /// The partial sums of one group; whoever computes the group sets all that are finished later.
  sum* partials(Offset group) { return partials_.data() + group * width; }

  /// The first `count` sums, groups added pairwise. Destroys the partials. This is the one place
  /// where sums become whole: sums over several processes would be joined here.
  std::array<sum, width> finish(int count) {
    for (Offset half = 1; half < groups_; half *= 2) {
      for (Offset g = 0; g + half < groups_; g += 2 * half) {
        for (int v = 0; v < count; ++v) partials(g)[v] += partials(g + half)[v];
      }
    }
    std::array<sum, width> sums{};
    for (int v = 0; v < count && groups_ > 0; ++v)
      sums[static_cast<std::size_t>(v)] = partials(0)[v];
    return sums;
  }

 private:
  Index groups_ = 0;
  Array<sum> partials_;
};

}  // namespace heddle
