// Whether a static solution exists beside motions that strain nothing.
#pragma once

#include <vector>

#include "case_file.hpp"
#include "model.hpp"

namespace heddle::elastic {

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
