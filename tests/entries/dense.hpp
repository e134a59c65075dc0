// Small dense matrices in long double: the reference for entries.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "heddle/expansion.hpp"

namespace heddle::test {

struct Dense {
  int rows = 0, columns = 0;
  std::vector<long double> at;

  Dense(int rows, int columns) : rows(rows), columns(columns), at(rows * columns) {}
  long double& operator()(int i, int j) { return at[i * columns + j]; }
  long double operator()(int i, int j) const { return at[i * columns + j]; }
};

inline Dense identity(int n) {
  Dense one(n, n);
  for (int i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
inline Dense operator+(const Dense& a, const Dense& b) {
  Dense c = a;
  for (std::size_t i = 0; i < c.at.size(); ++i) c.at[i] += b.at[i];
  return c;
}
inline Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int k = 0; k < a.columns; ++k) {
      for (int j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
inline Dense transpose(const Dense& a) {
  Dense t(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  }
  return t;
}
/// Component by component, like bounds on rounding errors.
inline Dense absolute(const Dense& a) {
  Dense b = a;
  for (long double& value : b.at) value = std::abs(value);
  return b;
}
/// The Frobenius norm.
inline long double norm(const Dense& a) {
  long double sum = 0;
  for (long double value : a.at) sum += value * value;
  return std::sqrt(sum);
}
/// The largest |a - b| / bound, where 0 / 0 is 0; NaN if any number is NaN.
inline long double excess(const Dense& a, const Dense& b, const Dense& bound) {
  long double worst = 0;
  for (std::size_t i = 0; i < a.at.size(); ++i) {
    const long double difference = std::abs(a.at[i] - b.at[i]);
    if (difference == 0) continue;
    const long double ratio = difference / bound.at[i];
    if (!(ratio <= worst)) worst = ratio;
    if (std::isnan(worst)) break;
  }
  return worst;
}

/// The real representation.
template <class E>
Dense rep(const E& e) {
  const auto tile = real_representation(e);
  Dense dense(tile_rows<E>, tile_columns<E>);
  for (int i = 0; i < dense.rows; ++i) {
    for (int j = 0; j < dense.columns; ++j) dense(i, j) = tile[i][j];
  }
  return dense;
}
/// A vector entry as one column.
template <class V>
Dense column(const V& v) {
  Dense dense(V::components, 1);
  for (int k = 0; k < V::components; ++k) dense(k, 0) = v.component[k];
  return dense;
}

/// Components uniform in [-1, 1], for an entry or a vector entry.
template <class T>
T random(std::mt19937_64& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  T t;
  for (auto& component : t.component) {
    component = static_cast<std::remove_reference_t<decltype(component)>>(uniform(generator));
  }
  return t;
}

}  // namespace heddle::test
