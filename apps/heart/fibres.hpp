// Directions of fibres.
#pragma once

#include <vector>

#include "../simulation/selection.hpp"
#include "model.hpp"

namespace heddle::heart {

/// One fibre direction of length 1 per tetrahedron, as the case gives them; the model has its mesh.
/// In a wall, the potential phi that is 0 on one surface and 1 on the other, from a Laplace
/// equation that Heddle solves, shows how deep an element lies; its gradient points across the
/// wall. The fibre is rotated from the circumference, axis x grad phi, towards the axis by an angle
/// linear in phi (Bayer et al., A novel rule-based algorithm for assigning myocardial fiber
/// orientation, 2012, whose angles are constant on surfaces of phi as well). Throws `Error`: io,
/// malformed_file with the first line of a file that holds no direction, or the first tetrahedron
/// without one.
std::vector<Point> find_fibres(const Model& model, const Case& given,
                               const simulation::Selector& selector);

}  // namespace heddle::heart
