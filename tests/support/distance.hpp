#pragma once

#include <cmath>
#include <vector>

#include "heddle/vector_operations.hpp"

namespace heddle::test {

/// |a - b| / |b|.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(sum / size);
}

/// The same for fields of one basis, in the host's memory.
template <class E>
double distance(const Field<E>& a, const Field<E>& b) {
  Field<E> difference = a;
  axpby<E>(-1, b, 1, difference);
  return static_cast<double>(norm<E>(difference) / norm<E>(b));
}

}  // namespace heddle::test
