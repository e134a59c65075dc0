// The matrices of diffusion, a number for each entry of a pattern.
#pragma once

#include <vector>

#include "model.hpp"

namespace heddle::heart {

/// Of the elements, mm3.
std::vector<double> volumes(const Model& model);

/// K_ab, the sum of V g_a . D g_b over the elements that have both vertices.
std::vector<double> diffusion_matrix(const Model& model, const MeshPattern& pattern);

/// M: `simulation::consistent_mass` of the volumes, or the sums of its rows on the diagonal.
std::vector<double> mass_matrix(const Model& model, const MeshPattern& pattern, Mass mass);

}  // namespace heddle::heart
