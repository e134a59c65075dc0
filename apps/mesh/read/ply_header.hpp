// The contents of a PLY file, as its header declares them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text_scanner.hpp"

namespace heddle::mesh {

enum class PlyFormat : unsigned char { ascii, binary_little_endian, binary_big_endian };

enum class PlyType : unsigned char {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  float32,
  float64,
};

/// In bytes.
std::size_t size_of(PlyType type);
bool is_whole(PlyType type);

struct PlyProperty {
  std::string name;
  PlyType type;
  std::optional<PlyType> count_type;  // for lists
};

struct PlyElement {
  std::string name;
  long long count = 0;
  std::vector<PlyProperty> property;
};

struct PlyHeader {
  PlyFormat format = PlyFormat::ascii;
  std::vector<PlyElement> element;
};

/// Reads up to the word end_header. Throws `Error` (malformed_file), also for repeated names.
PlyHeader read_ply_header(TextScanner& scan);

}  // namespace heddle::mesh
