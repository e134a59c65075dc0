// Motions that strain nothing, and whether a static solution exists beside them.
#pragma once

#include <vector>

#include "case_file.hpp"
#include "model.hpp"

namespace heddle::elastic {

/// Three translations and three infinitesimal rotations about the vertices' mean, of displacements
/// near 1: three numbers a vertex each.
std::vector<std::vector<double>> rigid_motions(const std::vector<Point>& position);

/// How many of a part's six rigid motions its supports leave free.
int free_motions(const Model& model, const std::vector<Index>& vertices_of_part);

/// The same of all parts together.
int free_motions(const Model& model);

/// Whether rigid motions have to be projected out of a static solution: where nothing is supported
/// and `wish` allows it. Throws `Error` (malformed_file) with one line where there is no solution:
/// a part that its supports leave free, loads on a free body that are not in balance, a free body
/// of several parts, and rigid motions asked for though there are supports.
bool needs_projection(const Model& model, NullSpace wish);

}  // namespace heddle::elastic
