// Operations on fields; methods have their own fused updates, see methods/. All fields of one call
// agree in rows, components, layout and basis, or `Error` says which do not; only `copy` and
// `permute` also take fields of different strides. Fields that share memory must be the same field.
// `copy` and `permute`, whose fields may differ, refuse partly shared ones, and `permute` also one
// field in two bases. S is float, double or long double.
//
// On the stream of a GPU, S is float or double, fields lie in the GPU's memory (`copy` and
// `permute` also take the host's), and calls that return no number return before they are done.
#pragma once

#include "heddle/detail/reduction.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle {

/// y = alpha x + beta y; y is not read when beta = 0.
template <class S>
HEDDLE_EXPORT void axpby(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                         const Stream& stream);

/// y = x alpha + y beta with coefficients of a ring, which act from the right.
template <class S, Ring R>
HEDDLE_EXPORT void axpby(const Coefficient<R, S>& alpha, const FieldView<const S>& x,
                         const Coefficient<R, S>& beta, const FieldView<S>& y,
                         const Stream& stream);

/// y = value in every component.
template <class S>
HEDDLE_EXPORT void fill(S value, const FieldView<S>& y, const Stream& stream);

/// y = alpha y.
template <class S>
HEDDLE_EXPORT void scale(S alpha, const FieldView<S>& y, const Stream& stream);

/// y = x, row by row, whatever the strides; x and y must share a basis. On a GPU's stream also
/// between host and GPU: the host's side is then free when this returns.
template <class S>
HEDDLE_EXPORT void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream);

/// y = scale * x, where x and y may be in different bases of the same rows: into or out of a basis.
/// On a GPU's stream also between host and GPU, like `copy`.
template <class S>
HEDDLE_EXPORT void permute(const FieldView<const S>& x, const FieldView<S>& y, S scale,
                           const Stream& stream);

/// <x, y> = sum conj(x_i) y_i in the ring.
template <Ring R, class S>
HEDDLE_EXPORT Coefficient<R, sum_t<S>> dot(const FieldView<const S>& x, const FieldView<const S>& y,
                                           Reduction<S>& reduction, const Stream& stream);

/// Re <x, y>, the Euclidean product of all components.
template <class S>
HEDDLE_EXPORT sum_t<S> real_dot(const FieldView<const S>& x, const FieldView<const S>& y,
                                Reduction<S>& reduction, const Stream& stream);

/// The Euclidean norm over all components.
template <class S>
HEDDLE_EXPORT sum_t<S> norm(const FieldView<const S>& x, const Stream& stream);

/// Convenience: real_dot with its own workspace.
template <class S>
HEDDLE_EXPORT sum_t<S> dot(const FieldView<const S>& x, const FieldView<const S>& y,
                           const Stream& stream);

/// The largest |component|; NaN if any component is NaN.
template <class S>
HEDDLE_EXPORT sum_t<S> largest_magnitude(const FieldView<const S>& x, Reduction<S>& reduction,
                                         const Stream& stream);

/// Multiplies each component by a patternless number of either sign, with a magnitude in [1/2,
/// 3/2); the numbers are the same for the same seed.
template <class S>
HEDDLE_EXPORT void randomize(const FieldView<S>& y, unsigned long long seed, const Stream& stream);

// The same on owned fields, on the stream of y's device unless another is given.

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

}  // namespace heddle
