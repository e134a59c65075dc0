// Hamilton's quaternions w + x i + y j + z k; components in that order (Eigen's coeffs() is x y z
// w).
#pragma once

#include "heddle/entries/entry.hpp"
#include "heddle/entries/lanes.hpp"
#include "heddle/export.hpp"

namespace heddle {

template <class S>
struct HEDDLE_EXPORT quaternion {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = quaternion;
  static constexpr int components = 4;
  static constexpr Ring ring = Ring::quaternion;
  template <class T>
  using with_scalar = quaternion<T>;

  S component[4];

  HEDDLE_HD constexpr S w() const { return component[0]; }
  HEDDLE_HD constexpr S x() const { return component[1]; }
  HEDDLE_HD constexpr S y() const { return component[2]; }
  HEDDLE_HD constexpr S z() const { return component[3]; }

  HEDDLE_HD static constexpr quaternion zero() { return {{S(0), S(0), S(0), S(0)}}; }

  /// One component of a against a signed permutation of b at a time.
  friend HEDDLE_INLINE void multiply_add(quaternion& r, const quaternion& a, const quaternion& b) {
    const S* p = a.component;
    const S* q = b.component;
    S* y = r.component;
    const S y0 = y[0] + p[0] * q[0], y1 = y[1] + p[0] * q[1];
    const S y2 = y[2] + p[0] * q[2], y3 = y[3] + p[0] * q[3];
    const S z0 = y0 - p[1] * q[1], z1 = y1 + p[1] * q[0];
    const S z2 = y2 - p[1] * q[3], z3 = y3 + p[1] * q[2];
    const S u0 = z0 - p[2] * q[2], u1 = z1 + p[2] * q[3];
    const S u2 = z2 + p[2] * q[0], u3 = z3 - p[2] * q[1];
    y[0] = u0 - p[3] * q[3];
    y[1] = u1 - p[3] * q[2];
    y[2] = u2 + p[3] * q[1];
    y[3] = u3 + p[3] * q[0];
  }
  /// The products of a row before they are put together: the sum of a_i b_k for each pair of
  /// components. An entry then adds four lanes to each of four sums that wait neither for a shuffle
  /// nor for one another, whereas `multiply_add` above is one chain through all four.
  struct row_sum {
    Lanes<S, 4> outer[4];
  };
  friend HEDDLE_INLINE void multiply_add(row_sum& sum, const quaternion& a, const quaternion& b) {
    for (int i = 0; i < 4; ++i) sum.outer[i].add(a.component[i], b.component);
  }
  friend HEDDLE_INLINE quaternion result_of(const row_sum& sum) {
    const auto& p = sum.outer;
    return {{p[0][0] - p[1][1] - p[2][2] - p[3][3], p[0][1] + p[1][0] + p[2][3] - p[3][2],
             p[0][2] - p[1][3] + p[2][0] + p[3][1], p[0][3] + p[1][2] - p[2][1] + p[3][0]}};
  }

  friend HEDDLE_HD constexpr quaternion add(const quaternion& a, const quaternion& b) {
    return {{a.w() + b.w(), a.x() + b.x(), a.y() + b.y(), a.z() + b.z()}};
  }
  /// conj(a) / |a|^2, scaled by the largest component so that |a|^2 neither over- nor underflows.
  friend HEDDLE_HD constexpr quaternion inverse(const quaternion& a) {
    S largest = 0;
    for (S c : a.component) largest = (c < 0 ? -c : c) > largest ? (c < 0 ? -c : c) : largest;
    const S w = a.w() / largest, x = a.x() / largest, y = a.y() / largest, z = a.z() / largest;
    const S scale = S(1) / ((w * w + x * x + y * y + z * z) * largest);
    return {{w * scale, -x * scale, -y * scale, -z * scale}};
  }
  friend HEDDLE_HD constexpr quaternion adjoint(const quaternion& a) {
    return {{a.w(), -a.x(), -a.y(), -a.z()}};
  }
};

}  // namespace heddle
