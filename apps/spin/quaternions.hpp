// Products of quaternions, and points as imaginary quaternions.
#pragma once

#include <cmath>

#include "heddle/entries/quaternion.hpp"
#include "heddle/field.hpp"
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
/// Access to the quaternions of a field in the host's memory, one by one.
class QuaternionsOf {
 public:
  explicit QuaternionsOf(const FieldView<double>& field) : field_(field) {}
  Quaternion operator[](Index i) const {
    return {{field_.at(i, 0), field_.at(i, 1), field_.at(i, 2), field_.at(i, 3)}};
  }
  void set(Index i, const Quaternion& q) const {
    for (int c = 0; c < 4; ++c) field_.at(i, c) = q.component[c];
  }

 private:
  FieldView<double> field_;
};

inline double squared_norm(const Quaternion& q) {
  return q.w() * q.w() + q.x() * q.x() + q.y() * q.y() + q.z() * q.z();
}

}  // namespace heddle::spin
