// The numbers of a Gmsh file, as text or as bytes, behind one interface.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "text_scanner.hpp"

namespace heddle::mesh {

class GmshTextNumbers {
 public:
  static constexpr bool is_binary = false;

  explicit GmshTextNumbers(TextScanner& scan) : scan_(scan) {}

  void begin_data() {}
  int integer() { return scan_.small_integer(); }
  long long size() { return scan_.integer(); }
  double real() { return scan_.real(); }

 private:
  TextScanner& scan_;
};

class GmshBinaryNumbers {
 public:
  static constexpr bool is_binary = true;

  /// `is_swapped`: the file's byte order is not that of this machine.
  GmshBinaryNumbers(TextScanner& scan, bool is_swapped) : scan_(scan), is_swapped_(is_swapped) {}

  /// Bytes begin on the line behind the last word.
  void begin_data() { scan_.skip_line_end(); }
  int integer() { return take<std::int32_t>(); }
  /// Those of 2^63 and more come out negative, which no number of a file may be.
  long long size() { return take<std::int64_t>(); }
  double real() {
    const auto value = take<double>();
    if (!std::isfinite(value)) scan_.fail(ErrorKind::not_finite, "a number is not finite");
    return value;
  }

 private:
  template <class T>
  T take() {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), scan_.bytes(sizeof(T)), sizeof(T));
    if (is_swapped_) std::reverse(bytes.begin(), bytes.end());
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  TextScanner& scan_;
  bool is_swapped_;
};

}  // namespace heddle::mesh
