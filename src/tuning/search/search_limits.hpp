// The time limit of a search unless its user sets one.
#pragma once

#include <limits>

#include "heddle/tune.hpp"

namespace heddle {

/// Unlimited, a search on a GPU takes longer than most solves: it waits for kernels to compile.
inline double usual_seconds(Search search, const Device& device) {
  constexpr double on_gpu = 8.5;
  const bool waits = device.on_gpu() && search == Search::pruned;
  return waits ? on_gpu : std::numeric_limits<double>::infinity();
}

}  // namespace heddle
