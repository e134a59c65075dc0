// Vectors over a ring, multiplied by its units to span the vectors over the reals.
#pragma once

#include <Eigen/Dense>

#include "heddle/entries/complex.hpp"
#include "heddle/entries/quaternion.hpp"

namespace heddle::test {

/// v with every number of ring R multiplied from the right by the unit `u`.
inline Eigen::Matrix<long double, -1, 1> times_unit(const Eigen::Matrix<long double, -1, 1>& v,
                                                    Ring ring, int u) {
  const int size = ring_size(ring);
  Eigen::Matrix<long double, -1, 1> image(v.size());
  const auto turn = [&]<class N>(N unit) {
    unit.component[u] = 1;
    for (Eigen::Index at = 0; at < v.size(); at += size) {
      N number{}, product{};
      for (int k = 0; k < size; ++k) number.component[k] = v[at + k];
      multiply_add(product, number, unit);
      for (int k = 0; k < size; ++k) image[at + k] = product.component[k];
    }
  };
  if (ring == Ring::real) return v;
  if (ring == Ring::complex) turn(complex<long double>{});
  if (ring == Ring::quaternion) turn(quaternion<long double>{});
  return image;
}

}  // namespace heddle::test
