// Dual quaternions p + eps q with eps^2 = 0; components w x y z of p, then of q.
//
// The transpose of the real representation [P 0; Q P] has its off-diagonal block above the
// diagonal: it is not a dual quaternion, so there is no adjoint, and methods for Hermitian systems
// refuse it.
#pragma once

#include "heddle/entries/quaternion.hpp"
#include "heddle/export.hpp"

namespace heddle {

template <class S>
struct HEDDLE_EXPORT dual_quaternion {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = dual_quaternion;
  static constexpr int components = 8;
  static constexpr Ring ring = Ring::real;
  template <class T>
  using with_scalar = dual_quaternion<T>;

  S component[8];

  HEDDLE_HD constexpr quaternion<S> standard() const {
    return {{component[0], component[1], component[2], component[3]}};
  }
  HEDDLE_HD constexpr quaternion<S> dual() const {
    return {{component[4], component[5], component[6], component[7]}};
  }
  HEDDLE_HD static constexpr dual_quaternion from(const quaternion<S>& p, const quaternion<S>& q) {
    return {{p.w(), p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z()}};
  }

  HEDDLE_HD static constexpr dual_quaternion zero() { return {}; }

  /// (p + eps q)(u + eps v) = p u + eps (p v + q u).
  friend HEDDLE_INLINE void multiply_add(dual_quaternion& r, const dual_quaternion& a,
                                         const dual_quaternion& b) {
    quaternion<S> standard = r.standard();
    quaternion<S> dual = r.dual();
    multiply_add(standard, a.standard(), b.standard());
    multiply_add(dual, a.standard(), b.dual());
    multiply_add(dual, a.dual(), b.standard());
    r = from(standard, dual);
  }
  /// Like the quaternions' one; both products of the dual part share one sum.
  struct row_sum {
    typename quaternion<S>::row_sum standard;
    typename quaternion<S>::row_sum dual;
  };
  friend HEDDLE_INLINE void multiply_add(row_sum& sum, const dual_quaternion& a,
                                         const dual_quaternion& b) {
    multiply_add(sum.standard, a.standard(), b.standard());
    multiply_add(sum.dual, a.standard(), b.dual());
    multiply_add(sum.dual, a.dual(), b.standard());
  }
  friend HEDDLE_INLINE dual_quaternion result_of(const row_sum& sum) {
    return from(result_of(sum.standard), result_of(sum.dual));
  }

  friend HEDDLE_HD dual_quaternion add(const dual_quaternion& a, const dual_quaternion& b) {
    return add_components(a, b);
  }
  /// p^-1 - eps p^-1 q p^-1.
  friend HEDDLE_HD dual_quaternion inverse(const dual_quaternion& a) {
    const quaternion<S> p = inverse(a.standard());
    quaternion<S> qp = quaternion<S>::zero();
    multiply_add(qp, a.dual(), p);
    quaternion<S> dual = quaternion<S>::zero();
    multiply_add(dual, p, qp);
    return from(p, {{-dual.w(), -dual.x(), -dual.y(), -dual.z()}});
  }
};

}  // namespace heddle
