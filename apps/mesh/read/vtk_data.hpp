// The bytes of arrays in VTK's XML files, decoded from base64 and decompressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::mesh {

struct VtkCoding {
  bool has_long_lengths = false;  // 8 bytes, else 4
  bool is_swapped = false;
  bool is_compressed = false;  // by zlib, in blocks
};

/// Decodes as far as the text is base64; blanks are skipped. Padded parts may follow one another.
std::string from_base64(std::string_view text);

// An array begins with its length, or with those of its blocks. Each of these throws `Error`
// (malformed_file), with `where` in front, for lengths that do not fit in `bytes`.

/// The number of bytes that an array declares; nothing is inflated.
std::uint64_t unpacked_size(std::string_view bytes, const VtkCoding& coding,
                            const std::string& where);

/// The array's contents; zlib's checksum of every block is verified.
std::string unpacked(std::string_view bytes, const VtkCoding& coding, const std::string& where);

}  // namespace heddle::mesh
