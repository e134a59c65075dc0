#pragma once

#include <cmath>
#include <vector>

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

}  // namespace heddle::test
