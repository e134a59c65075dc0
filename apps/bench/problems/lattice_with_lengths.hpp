// A pattern like a mesh's whose rows have given lengths.
#pragma once

#include <memory>
#include <vector>

#include "mesh_patterns.hpp"

namespace heddle::bench {

/// A symmetric pattern with the diagonal, whose row v has `lengths[v]` entries, at least one: each
/// vertex of a lattice of two or three dimensions is joined to the nearest ones that still lack
/// neighbours. Throws `Error` (usage) where there is no such pattern, as where the lengths less the
/// diagonals have an odd sum.
std::unique_ptr<Pattern> lattice_with_lengths(const std::vector<Index>& lengths, int dimensions);

}  // namespace heddle::bench
