#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle::test {

/// A case of a typed test: fields of a scalar, with coefficients of a ring.
template <class T, Ring R>
struct Over {
  using S = T;
  static constexpr Ring ring = R;
};

}  // namespace heddle::test
