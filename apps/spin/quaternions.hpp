// Products of quaternions, and points as imaginary ones.
#pragma once

#include <cmath>

#include "heddle/entries/quaternion.hpp"
#include "heddle/problems.hpp"

namespace heddle::spin {

using Quaternion = quaternion<double>;

inline Quaternion product(const Quaternion& a, const Quaternion& b) {
  Quaternion c = Quaternion::zero();
  multiply_add(c, a, b);
  return c;
}
inline Quaternion imaginary(const Point& p) { return {{0, p[0], p[1], p[2]}}; }
inline Point imaginary_part(const Quaternion& q) { return {q.x(), q.y(), q.z()}; }
inline Quaternion times(double s, const Quaternion& q) {
  return {{s * q.w(), s * q.x(), s * q.y(), s * q.z()}};
}
inline double squared_norm(const Quaternion& q) {
  return q.w() * q.w() + q.x() * q.x() + q.y() * q.y() + q.z() * q.z();
}

}  // namespace heddle::spin
