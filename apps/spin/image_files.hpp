// Image files, read as grey.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "read/named_bytes.hpp"

namespace heddle::spin {

struct Pixel {
  int column, row;  // from the upper left
};

/// Returns the pixels whose grey is requested, once the size of an image is known.
using PixelsOf = std::function<std::vector<Pixel>(int width, int height)>;

// Each returns the grey of the requested pixels, in their order: colours as their luma, alpha
// ignored. Other pixels are not kept, since a small file may hold a large image. Each throws
// `Error` with "path: " in front: malformed_file for a file that is damaged, ends too early or
// declares more pixels than its bytes can hold, unsupported for a kind that is not read.

/// Reads PNG of any kind (ISO/IEC 15948), checking every checksum.
std::vector<unsigned char> read_png(const mesh::NamedBytes& file, const PixelsOf& pixels);
bool is_png(std::string_view bytes);

/// Reads Truevision's TGA 2.0: 8 bits of grey, 24 of colour or 32 with alpha, plain or run-length
/// encoded.
std::vector<unsigned char> read_tga(const mesh::NamedBytes& file, const PixelsOf& pixels);

/// Luma of a colour, by the weights of ITU-R BT.601 in 256ths.
inline unsigned char luma(unsigned red, unsigned green, unsigned blue) {
  return static_cast<unsigned char>((77 * red + 150 * green + 29 * blue) >> 8);
}

}  // namespace heddle::spin
