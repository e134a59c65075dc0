// A deformed body as a picture shows it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model.hpp"

namespace heddle::elastic {

/// Draws the body's surface under each of the displacements, in the order of the mesh: z up, seen
/// from above at the side of the negative y. Each is scaled so that the largest displacement is a
/// tenth of the body's size, and coloured by displacement, grey at none. Writes a PNG; throws
/// `Error` (io).
void write_body_picture(const std::string& path, const Model& model,
                        std::span<const std::vector<Point>* const> displacements);

}  // namespace heddle::elastic
