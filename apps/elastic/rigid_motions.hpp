// Existence of a static solution, given motions that cause no strain.
#pragma once

#include <vector>

#include "case_file.hpp"
#include "model.hpp"

namespace heddle::elastic {

/// Number of a part's six rigid motions that its supports leave free.
int free_motions(const Model& model, const std::vector<Index>& vertices_of_part);

/// The same for all parts together.
int free_motions(const Model& model);

/// True if rigid motions have to be projected out of a static solution: when nothing is supported
/// and `wish` allows it. Throws `Error` (malformed_file) with one line if there is no solution: a
/// part that its supports leave free, loads on a free body that are not in balance, a free body of
/// several parts, or a request for rigid motions although there are supports.
bool needs_projection(const Model& model, NullSpace wish);

}  // namespace heddle::elastic
