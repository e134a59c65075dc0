// Pictures of surfaces, drawn without a screen.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "heddle/problems.hpp"

namespace heddle::spin {

using Colour = std::array<double, 3>;  // red, green, blue, 0 to 1, as the eye counts (sRGB)

/// Grey-blue below zero, grey at zero, warm above, in units of `largest`.
Colour colour_of(double value, double largest);

/// Two surfaces of the same triangles side by side, before and after, each seen from the front (z
/// towards the viewer, y up) and scaled to its half; triangles coloured alike. Writes a PNG; throws
/// `Error` (io).
void write_picture(const std::string& path, const TriangleMesh& before, const TriangleMesh& after,
                   const std::vector<Colour>& colour_of_triangle);

}  // namespace heddle::spin
