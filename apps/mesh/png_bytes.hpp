// Coloured images as PNG.
#pragma once

#include <string>
#include <vector>

namespace heddle::mesh {

/// Red, green and blue of each pixel, rows from the top, as the bytes of a PNG file.
std::string png_of(int width, int height, const std::vector<unsigned char>& pixels);

}  // namespace heddle::mesh
