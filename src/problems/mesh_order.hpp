// Numbering vertices so that neighbours in space are close in memory.
#pragma once

#include <span>

#include "heddle/problems.hpp"

namespace heddle::problems {

/// The rank of each point along Hilbert's curve through the points' bounding cube; points in one
/// cell of it (2^-20 of the side) keep their order.
Array<Index> hilbert_ranks(std::span<const Point> points);

}  // namespace heddle::problems
