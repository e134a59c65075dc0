// NumPy's arrays, as members of an `.npz` file: a header of text, then the numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::io {

enum class NpyType { int32, int64, float32, float64, complex64, complex128, bytes, text };

struct NpyHeader {
  NpyType type = NpyType::float64;
  std::size_t item_bytes = 0;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  /// Product of the shape; throws `Error` where it overflows.
  std::int64_t items() const;
};

/// `literal` is the dictionary behind the magic bytes. Throws `Error` without the place.
NpyHeader parse_npy_header(std::string_view literal);

/// Magic bytes, version and dictionary for an array in C order.
std::string npy_header(const std::string& descriptor, const std::vector<std::int64_t>& shape);

}  // namespace heddle::io
