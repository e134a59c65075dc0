// Images as files: what is read of them is grey.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "named_bytes.hpp"

namespace heddle::spin {

struct GreyPixels {
  int width = 0, height = 0;
  std::vector<unsigned char> grey;  // rows from the top; colours as their luma, alpha left out
};

// Each throws `Error` with "path: " in front: malformed_file for what is damaged, ends too early or
// promises more pixels than its bytes can hold, unsupported for a kind that is not read. Nothing is
// allocated for pixels before the size of the file is known to allow it.

/// PNG of any kind (ISO/IEC 15948), every checksum held.
GreyPixels read_png(const mesh::NamedBytes& file);
bool is_png(std::string_view bytes);

/// Truevision's TGA 2.0: 8 bits of grey, 24 of colour or 32 with alpha, plain or run-length
/// encoded.
GreyPixels read_tga(const mesh::NamedBytes& file);

/// Of a colour, by the weights of ITU-R BT.601 in 256ths.
inline unsigned char luma(unsigned red, unsigned green, unsigned blue) {
  return static_cast<unsigned char>((77 * red + 150 * green + 29 * blue) >> 8);
}

}  // namespace heddle::spin
