// Pictures of surfaces, drawn without a screen.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "heddle/problems.hpp"

namespace heddle::mesh {

using Colour = std::array<double, 3>;  // red, green, blue, 0 to 1, perceptual (sRGB)

/// Grey-blue below zero, grey at zero, warm above, in units of `largest`.
Colour colour_of(double value, double largest);

/// Seen from the front: z towards the viewer, y up.
struct DrawnSurface {
  TriangleMesh mesh;
  std::vector<Colour> colour;  // per triangle
};

/// Draws surfaces side by side, at most four in a row, each scaled to a square of `side` pixels;
/// the pictures are lower if all surfaces are wider than high. Writes a PNG; throws `Error` (io).
void write_picture(const std::string& path, std::span<const DrawnSurface> surfaces, int side);

}  // namespace heddle::mesh
