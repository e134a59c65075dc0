// A picture of a deformed body.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model.hpp"

namespace heddle::elastic {

/// Draws the body's surface under each of the displacements, in the order of the mesh: z up, seen
/// from above on the side of negative y. Each is scaled so that the largest displacement is a tenth
/// of the body's size, and coloured by displacement, grey for none. Writes a PNG; throws `Error`
/// (io).
void write_body_picture(const std::string& path, const Model& model,
                        std::span<const std::vector<Point>* const> displacements);

}  // namespace heddle::elastic
