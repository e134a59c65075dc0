// Vectors and matrices of three, for source that CPU and GPU share.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::elastic {

/// A separate namespace, so that its operators do not hide those of points.
namespace small {

struct Vector3 {
  double at[3];
};

struct Matrix3 {
  double at[3][3];  // row, column
};

HEDDLE_INLINE Vector3 operator+(const Vector3& a, const Vector3& b) {
  return {{a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2]}};
}
HEDDLE_INLINE Vector3 add(const Vector3& a, const Vector3& b) { return a + b; }
HEDDLE_INLINE Vector3 operator-(const Vector3& a, const Vector3& b) {
  return {{a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]}};
}
HEDDLE_INLINE Vector3 operator*(double s, const Vector3& a) {
  return {{s * a.at[0], s * a.at[1], s * a.at[2]}};
}
HEDDLE_INLINE double dot(const Vector3& a, const Vector3& b) {
  return a.at[0] * b.at[0] + a.at[1] * b.at[1] + a.at[2] * b.at[2];
}
HEDDLE_INLINE Vector3 cross(const Vector3& a, const Vector3& b) {
  return {{a.at[1] * b.at[2] - a.at[2] * b.at[1], a.at[2] * b.at[0] - a.at[0] * b.at[2],
           a.at[0] * b.at[1] - a.at[1] * b.at[0]}};
}

HEDDLE_INLINE Vector3 operator*(const Matrix3& m, const Vector3& v) {
  Vector3 product{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) product.at[i] += m.at[i][j] * v.at[j];
  }
  return product;
}
HEDDLE_INLINE Matrix3 operator*(const Matrix3& m, const Matrix3& n) {
  Matrix3 product{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) product.at[i][j] += m.at[i][k] * n.at[k][j];
    }
  }
  return product;
}
HEDDLE_INLINE Matrix3 transposed(const Matrix3& m) {
  Matrix3 result;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result.at[i][j] = m.at[j][i];
  }
  return result;
}
HEDDLE_INLINE double trace(const Matrix3& m) { return m.at[0][0] + m.at[1][1] + m.at[2][2]; }
/// The sum of the products of their components.
HEDDLE_INLINE double contraction(const Matrix3& a, const Matrix3& b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) sum += a.at[i][j] * b.at[i][j];
  }
  return sum;
}
HEDDLE_INLINE Matrix3 symmetric_part(const Matrix3& m) {
  Matrix3 result;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result.at[i][j] = 0.5 * (m.at[i][j] + m.at[j][i]);
  }
  return result;
}
/// m + s I.
HEDDLE_INLINE Matrix3 plus_identity(Matrix3 m, double s) {
  for (int i = 0; i < 3; ++i) m.at[i][i] += s;
  return m;
}

}  // namespace small

using small::Matrix3;
using small::Vector3;

}  // namespace heddle::elastic
