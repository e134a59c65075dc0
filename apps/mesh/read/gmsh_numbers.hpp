// The numbers of a Gmsh file, as text or as bytes, with one interface.
#pragma once

#include <cstdint>

#include "binary_numbers.hpp"

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

  GmshBinaryNumbers(TextScanner& scan, bool is_swapped) : scan_(scan), numbers_(scan, is_swapped) {}

  /// Bytes begin on the line after the last word.
  void begin_data() { scan_.skip_line_end(); }
  int integer() { return numbers_.take<std::int32_t>(); }
  /// Values of 2^63 and more become negative, which no number in a file may be.
  long long size() { return numbers_.take<std::int64_t>(); }
  double real() { return numbers_.take_finite<double>(); }

 private:
  TextScanner& scan_;
  BinaryNumbers numbers_;
};

}  // namespace heddle::mesh
