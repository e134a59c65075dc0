// How long a search takes unless its user says so.
#pragma once

#include <limits>

#include "heddle/tune.hpp"

namespace heddle {

/// A search on a GPU takes longer than most solves otherwise: it waits for kernels to be compiled.
inline double usual_seconds(Search search, const Device& device) {
  constexpr double on_gpu = 8.5;
  const bool waits = device.on_gpu() && search == Search::pruned;
  return waits ? on_gpu : std::numeric_limits<double>::infinity();
}

}  // namespace heddle
