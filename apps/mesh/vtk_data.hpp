// The bytes of arrays in VTK's XML files, out of base64 and compression.
#pragma once

#include <cstdint>
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

// An array begins with its length, or with those of its blocks. Each throws `Error`
// (malformed_file), `where` in front, for lengths that do not fit in `bytes`.

/// How many bytes an array says that it holds; nothing is inflated.
std::uint64_t unpacked_size(std::string_view bytes, const VtkCoding& coding,
                            const std::string& where);

/// Its contents; zlib's checksum of every block is compared.
std::string unpacked(std::string_view bytes, const VtkCoding& coding, const std::string& where);

}  // namespace heddle::mesh
