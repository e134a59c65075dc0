// The bytes of arrays in VTK's XML files, out of base64 and compression.
#pragma once

#include <string>
#include <string_view>

namespace heddle::mesh {

struct VtkCoding {
  bool has_long_lengths = false;  // of 8 bytes, else of 4
  bool is_swapped = false;
  bool is_compressed = false;  // by zlib, in blocks
};

/// As far as it is base64; blanks are passed over. Parts that are padded follow one another.
std::string from_base64(std::string_view text);

/// What an array holds that begins with its length, or with those of its blocks. Throws `Error`
/// (malformed_file), `where` in front, for lengths that do not fit in `bytes`.
std::string unpacked(std::string_view bytes, const VtkCoding& coding, const std::string& where);

}  // namespace heddle::mesh
