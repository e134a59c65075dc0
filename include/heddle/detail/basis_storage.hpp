// The vectors of a method that keeps a basis, one after another, each laid out like the operator's
// fields. Those of a flexible method's second basis come after all of the first.
#pragma once

#include "heddle/field.hpp"

namespace heddle::detail {

struct BasisStorage {
  void* data = nullptr;
  Offset stride = 0;  // scalars from one vector to the next
  int most = 0;       // vectors in each basis
  int scalar_bytes = 0;

  /// A stride that keeps vectors aligned for every access.
  static Offset stride_of(Offset scalars) { return (scalars + 31) / 32 * 32; }
};

}  // namespace heddle::detail
