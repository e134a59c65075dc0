// Images as files: what is read of them is grey.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "named_bytes.hpp"

namespace heddle::spin {

struct Pixel {
  int column, row;  // from the upper left
};

/// Says of which pixels the grey is wanted, once the size of an image is known.
using PixelsOf = std::function<std::vector<Pixel>(int width, int height)>;

// Each returns the grey of the pixels that are asked for, in their order, colours as their luma,
// alpha left out. No others are kept: a small file may hold a large image. Each throws `Error` with
// "path: " in front: malformed_file for what is damaged, ends too early or promises more pixels
// than its bytes can hold, unsupported for a kind that is not read.

/// PNG of any kind (ISO/IEC 15948), every checksum held.
std::vector<unsigned char> read_png(const mesh::NamedBytes& file, const PixelsOf& pixels);
bool is_png(std::string_view bytes);

/// Truevision's TGA 2.0: 8 bits of grey, 24 of colour or 32 with alpha, plain or run-length
/// encoded.
std::vector<unsigned char> read_tga(const mesh::NamedBytes& file, const PixelsOf& pixels);

/// Of a colour, by the weights of ITU-R BT.601 in 256ths.
inline unsigned char luma(unsigned red, unsigned green, unsigned blue) {
  return static_cast<unsigned char>((77 * red + 150 * green + 29 * blue) >> 8);
}

}  // namespace heddle::spin
