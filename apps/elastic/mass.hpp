// The pattern of a model's matrices, and its mass on it.
#pragma once

#include <vector>

#include "heddle/element_pattern.hpp"
#include "model.hpp"

namespace heddle::elastic {

/// Throws `Error` like `element_pattern`.
ElementPattern pattern_of(const Model& model);

/// The consistent mass matrix (Hughes, The Finite Element Method, section 7.3), one number for each
/// entry of the pattern: density V / 20 for each element that has both vertices, twice that on the
/// diagonal.
std::vector<double> consistent_mass(const Model& model, const ElementPattern& pattern);

}  // namespace heddle::elastic
