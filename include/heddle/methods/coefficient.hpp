// The numbers of a Krylov recurrence: real, complex or quaternion, acting from the right on fields.
#pragma once

#include "heddle/entries/complex.hpp"
#include "heddle/entries/quaternion.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// A coefficient of ring R over S; real coefficients have one component.
template <Ring R, class S>
struct HEDDLE_EXPORT Coefficient {
  static constexpr int size = ring_size(R);
  S component[size];

  HEDDLE_HD static Coefficient from_real(S value) {
    Coefficient c{};
    c.component[0] = value;
    return c;
  }
  HEDDLE_HD S real() const { return component[0]; }
};

namespace detail {

template <Ring R, class S>
struct ring_number_of {
  using type = quaternion<S>;
};
template <class S>
struct ring_number_of<Ring::complex, S> {
  using type = complex<S>;
};
template <Ring R, class S>
using ring_number = typename ring_number_of<R, S>::type;

template <class N, class C>
HEDDLE_HD N as_number(const C& c) {
  N n;
  for (int k = 0; k < C::size; ++k) n.component[k] = c.component[k];
  return n;
}

}  // namespace detail

/// r += a * b in this order, over the `size` scalars at each pointer.
template <Ring R, class S>
HEDDLE_INLINE void multiply_add_at(S* r, const S* a, const S* b) {
  if constexpr (R == Ring::real) {
    r[0] += a[0] * b[0];
  } else {
    using N = detail::ring_number<R, S>;
    N sum, left, right;
    for (int k = 0; k < N::components; ++k) {
      sum.component[k] = r[k];
      left.component[k] = a[k];
      right.component[k] = b[k];
    }
    multiply_add(sum, left, right);
    for (int k = 0; k < N::components; ++k) r[k] = sum.component[k];
  }
}

template <Ring R, class S>
HEDDLE_HD Coefficient<R, S> operator*(const Coefficient<R, S>& a, const Coefficient<R, S>& b) {
  Coefficient<R, S> product{};
  multiply_add_at<R>(product.component, a.component, b.component);
  return product;
}

template <Ring R, class S>
HEDDLE_HD Coefficient<R, S> operator-(const Coefficient<R, S>& a) {
  Coefficient<R, S> negated = a;
  for (S& c : negated.component) c = -c;
  return negated;
}

template <Ring R, class S>
HEDDLE_HD Coefficient<R, S> conj(const Coefficient<R, S>& a) {
  Coefficient<R, S> conjugate = a;
  for (int k = 1; k < Coefficient<R, S>::size; ++k) conjugate.component[k] = -a.component[k];
  return conjugate;
}

template <Ring R, class S>
HEDDLE_HD S squared_norm(const Coefficient<R, S>& a) {
  S sum = 0;
  for (S c : a.component) sum += c * c;
  return sum;
}

/// sums[0..size) += conj(a) b, or a b, in the scalar of the sums.
template <bool conjugates = true, Ring R, class S, class T>
HEDDLE_INLINE void add_inner_product(const Coefficient<R, S>& a, const Coefficient<R, S>& b,
                                     T* sums) {
  Coefficient<R, T> left, right;
  for (int c = 0; c < left.size; ++c) {
    left.component[c] = c == 0 || !conjugates ? T(a.component[c]) : -T(a.component[c]);
    right.component[c] = b.component[c];
  }
  multiply_add_at<R>(sums, left.component, right.component);
}

/// y += x c: coefficients act from the right.
template <Ring R, class S>
HEDDLE_INLINE void add_multiple(Coefficient<R, S>& y, const Coefficient<R, S>& x,
                                const Coefficient<R, S>& c) {
  multiply_add_at<R>(y.component, x.component, c.component);
}

template <Ring R, class S>
HEDDLE_INLINE void scale(Coefficient<R, S>& a, S factor) {
  for (S& component : a.component) component *= factor;
}

/// Avoids its square, which leaves the range of S long before the coefficient does.
template <Ring R, class S>
HEDDLE_HD bool is_usable(const Coefficient<R, S>& c) {
  S sum = 0;
  for (const S component : c.component) sum += component < 0 ? -component : component;
  return sum - sum == 0 && sum > 0;
}

/// Zero has no inverse: the components of the result are then not finite.
template <Ring R, class S>
HEDDLE_HD Coefficient<R, S> inverse(const Coefficient<R, S>& a) {
  if constexpr (R == Ring::real) {
    return {{S(1) / a.component[0]}};
  } else {
    const auto inverted = inverse(detail::as_number<detail::ring_number<R, S>>(a));
    Coefficient<R, S> result;
    for (int k = 0; k < Coefficient<R, S>::size; ++k) result.component[k] = inverted.component[k];
    return result;
  }
}

}  // namespace heddle
