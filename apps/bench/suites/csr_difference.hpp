// Compares two matrices in compressed rows.
#pragma once

#include <algorithm>
#include <limits>

#include "heddle/csr.hpp"

namespace heddle::bench {

/// 0 where both are the same bit by bit, otherwise infinite.
template <class E>
double difference(const CsrMatrix<E>& a, const CsrMatrix<E>& b) {
  const bool is_same =
      std::equal(a.offsets().begin(), a.offsets().end(), b.offsets().begin(), b.offsets().end()) &&
      std::equal(a.column().begin(), a.column().end(), b.column().begin(), b.column().end()) &&
      std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
  return is_same ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace heddle::bench
