// Numbers as bytes, in this machine's byte order or the other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "text_scanner.hpp"

namespace heddle::mesh {

class BinaryNumbers {
 public:
  /// `is_swapped`: the file's byte order differs from this machine's.
  BinaryNumbers(TextScanner& scan, bool is_swapped) : scan_(scan), is_swapped_(is_swapped) {}

  template <class T>
  T take() {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), scan_.bytes(sizeof(T)), sizeof(T));
    if (is_swapped_) std::reverse(bytes.begin(), bytes.end());
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  /// Throws not_finite for NaN and infinity.
  template <class T>
  double take_finite() {
    const T value = take<T>();
    if (!std::isfinite(value)) scan_.fail(ErrorKind::not_finite, "a number is not finite");
    return value;
  }

 private:
  TextScanner& scan_;
  bool is_swapped_;
};

}  // namespace heddle::mesh
