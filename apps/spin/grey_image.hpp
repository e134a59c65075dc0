// A grey image as a function on the unit square.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::spin {

/// Grey at each point, from 0 (black) to 1 (white), bilinear between pixels. (0, 0) is the lower
/// left corner, pixel (i, j) from there lies at (i / width, j / height), and beyond the border the
/// last pixel counts. Reads PNG, recognized by its first bytes, and TGA (.tga), also compressed
/// with gzip. Throws `Error` (io; malformed_file and unsupported like `read_png` and `read_tga`).
std::vector<double> grey_at(const std::string& path,
                            std::span<const mesh::TextureCoordinate> points);

}  // namespace heddle::spin
