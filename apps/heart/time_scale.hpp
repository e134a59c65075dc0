// The scale of a picture of times: bands of colour, with the first and the last time.
#pragma once

#include <span>

#include "../mesh/surface_picture.hpp"

namespace heddle::heart {

/// The surface with a bar of the same width below it, in these colours from left to right, and both
/// times in ms below the bar.
mesh::DrawnSurface with_time_scale(const mesh::DrawnSurface& surface,
                                   std::span<const mesh::Colour> bands, double first, double last);

}  // namespace heddle::heart
