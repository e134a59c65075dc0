// Element matrices of diffusion: 16 numbers each, K_00, K_01, ..., K_33.
#pragma once

#include <vector>

#include "heddle/element_pattern.hpp"
#include "model.hpp"

namespace heddle::heart {

/// Throws `Error` like `element_pattern`.
ElementPattern pattern_of(const Model& model);

/// V g_a . D g_b, mm3/ms.
std::vector<double> diffusion_of_elements(const Model& model);

/// In mm3: consistent, V / 20 and twice that for a = b (Hughes, The Finite Element Method, section
/// 7.3); or lumped, V / 4 for a = b, the row sums of the consistent mass.
std::vector<double> mass_of_elements(const Model& model, Mass mass);

/// In mm3: the norm of M v for a v that is 1 everywhere, the same for either mass.
double norm_of_mass(const Model& model);

}  // namespace heddle::heart
