// Pictures of the surface of a solid.
#pragma once

#include <span>
#include <vector>

#include "../mesh/surface_picture.hpp"
#include "boundary.hpp"

namespace heddle::simulation {

/// Triangles of a surface, each with a colour, seen from negative y with z up. They share no
/// corners, so that edges of the body stay sharp.
mesh::DrawnSurface drawn_surface(std::span<const Point> position,
                                 std::span<const Triangle> triangles,
                                 std::vector<mesh::Colour> colour);

}  // namespace heddle::simulation
