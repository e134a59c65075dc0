// Operations on fields, and the fused updates that the solvers are made of. All fields of one call
// agree in rows, components, layout and basis, or `Error` says which do not; only `copy` and
// `permute` also take fields of different strides. Fields that share memory are one and the same:
// `copy` and `permute`, whose fields may differ, refuse others, and `permute` also one field in two
// bases. S is float, double or long double.
//
// On the stream of a GPU, S is float or double, fields lie in the GPU's memory (`copy` and
// `permute` also take the host's), and what returns no number returns before it is done.
#pragma once

#include <array>

#include "heddle/coefficient.hpp"
#include "heddle/field.hpp"
#include "heddle/reduction.hpp"

namespace heddle {

/// y = alpha x + beta y; y is not read when beta = 0.
template <class S>
void axpby(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
           const Stream& stream);

/// y = x alpha + y beta with coefficients of a ring, which act from the right.
template <class S, Ring R>
void axpby(const Coefficient<R, S>& alpha, const FieldView<const S>& x,
           const Coefficient<R, S>& beta, const FieldView<S>& y, const Stream& stream);

/// y = value in every component.
template <class S>
void fill(S value, const FieldView<S>& y, const Stream& stream);

/// y = alpha y.
template <class S>
void scale(S alpha, const FieldView<S>& y, const Stream& stream);

/// y = x, row by row, whatever the strides; x and y must share a basis. On a GPU's stream also
/// between host and GPU: the host's side is then free when this returns.
template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream);

/// y = scale * x, where x and y may live in different bases of the same rows: into or out of a
/// basis. On a GPU's stream also between host and GPU, as `copy`.
template <class S>
void permute(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream);

/// <x, y> = sum conj(x_i) y_i in the ring.
template <Ring R, class S>
Coefficient<R, sum_t<S>> dot(const FieldView<const S>& x, const FieldView<const S>& y,
                             Reduction<S>& reduction, const Stream& stream);

/// Re <x, y>, the Euclidean product of all components.
template <class S>
sum_t<S> real_dot(const FieldView<const S>& x, const FieldView<const S>& y, Reduction<S>& reduction,
                  const Stream& stream);

/// The Euclidean norm over all components.
template <class S>
sum_t<S> norm(const FieldView<const S>& x, const Stream& stream);

/// Convenience: real_dot with its own workspace.
template <class S>
sum_t<S> dot(const FieldView<const S>& x, const FieldView<const S>& y, const Stream& stream);

/// The largest |component|; NaN if one is.
template <class S>
sum_t<S> largest_magnitude(const FieldView<const S>& x, Reduction<S>& reduction,
                           const Stream& stream);

/// y = 1 or -1 in every component, without pattern and the same at every call.
template <class S>
void fill_signs(const FieldView<S>& y, const Stream& stream);

// The same on owned fields, by the stream of y's device unless another is given.

template <class E>
void axpby(vector_scalar_t<E> alpha, const Field<E>& x, vector_scalar_t<E> beta, Field<E>& y,
           const Stream& stream) {
  axpby<vector_scalar_t<E>>(alpha, x.view(), beta, y.view(), stream);
}
template <class E>
void axpby(vector_scalar_t<E> alpha, const Field<E>& x, vector_scalar_t<E> beta, Field<E>& y) {
  axpby<E>(alpha, x, beta, y, y.stream());
}
template <class E>
sum_t<vector_scalar_t<E>> dot(const Field<E>& x, const Field<E>& y, const Stream& stream) {
  return dot<vector_scalar_t<E>>(x.view(), y.view(), stream);
}
template <class E>
sum_t<vector_scalar_t<E>> dot(const Field<E>& x, const Field<E>& y) {
  return dot<E>(x, y, y.stream());
}
template <class E>
sum_t<vector_scalar_t<E>> norm(const Field<E>& x, const Stream& stream) {
  return norm<vector_scalar_t<E>>(x.view(), stream);
}
template <class E>
sum_t<vector_scalar_t<E>> norm(const Field<E>& x) {
  return norm<E>(x, x.stream());
}

// Conjugate gradient (Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1).

/// r -= alpha q; returns |r|^2.
template <class S>
sum_t<S> update_residual(S alpha, const FieldView<const S>& q, const FieldView<S>& r,
                         Reduction<S>& reduction, const Stream& stream);

/// x += alpha p with the old p, then p = z + beta p.
template <class S>
void update_solution_and_direction(S alpha, const FieldView<S>& x, S beta,
                                   const FieldView<const S>& z, const FieldView<S>& p,
                                   const Stream& stream);

// BiCGStab (van der Vorst 1992), coefficients from the right.

/// p = r + (p - v omega) beta.
template <Ring R, class S>
void update_direction(const FieldView<const S>& r, const FieldView<const S>& v,
                      const Coefficient<R, S>& omega, const Coefficient<R, S>& beta,
                      const FieldView<S>& p, const Stream& stream);

/// r -= v alpha, which makes it s; returns |s|^2.
template <Ring R, class S>
sum_t<S> half_step(const FieldView<const S>& v, const Coefficient<R, S>& alpha,
                   const FieldView<S>& r, Reduction<S>& reduction, const Stream& stream);

/// <t, s> in the ring, and |t|^2.
template <Ring R, class S>
std::pair<Coefficient<R, sum_t<S>>, sum_t<S>> dot_and_norm(const FieldView<const S>& t,
                                                           const FieldView<const S>& s,
                                                           Reduction<S>& reduction,
                                                           const Stream& stream);

/// x += p alpha + s omega;  r = r - t omega with r = s;  returns |r|^2 and <shadow, r>.
template <Ring R, class S>
std::pair<sum_t<S>, Coefficient<R, sum_t<S>>> full_step(
    const FieldView<const S>& p, const Coefficient<R, S>& alpha, const FieldView<const S>& s,
    const Coefficient<R, S>& omega, const FieldView<const S>& t, const FieldView<const S>& shadow,
    const FieldView<S>& x, const FieldView<S>& r, Reduction<S>& reduction, const Stream& stream);

}  // namespace heddle
