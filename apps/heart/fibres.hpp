// Directions of fibres.
#pragma once

#include <vector>

#include "../simulation/selection.hpp"
#include "model.hpp"

namespace heddle::heart {

/// Of each tetrahedron of a model that has its mesh, of length 1, as the case gives them. In a wall
/// the potential phi that is 0 on one surface and 1 on the other, of a Laplace equation that Heddle
/// solves, says how deep an element lies; its gradient is the way across. The fibre is then turned
/// by an angle that is linear in phi from the circumference, axis x grad phi, towards the axis
/// (Bayer et al., A novel rule-based algorithm for assigning myocardial fiber orientation, 2012,
/// whose angles are constant on surfaces of phi as well). Throws `Error`: io, malformed_file with
/// the first line of a file that holds no direction, or the first tetrahedron without one.
std::vector<Point> find_fibres(const Model& model, const Case& given,
                               const simulation::Selector& selector);

}  // namespace heddle::heart
