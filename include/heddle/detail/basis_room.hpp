// The vectors of a method that keeps a basis, one behind the other, each laid out as the operator's
// fields. Those of a flexible method's second basis lie behind all of the first.
#pragma once

#include "heddle/field.hpp"

namespace heddle::detail {

struct BasisRoom {
  void* data = nullptr;
  Offset stride = 0;  // scalars from one vector to the next
  int most = 0;       // vectors, of either basis
  int scalar_bytes = 0;

  /// A stride that keeps vectors aligned for every access.
  static Offset stride_of(Offset scalars) { return (scalars + 31) / 32 * 32; }
};

}  // namespace heddle::detail
