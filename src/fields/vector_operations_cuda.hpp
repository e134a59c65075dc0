// The operations of vector_operations.hpp as launches on a GPU's stream: no allocation, no waiting,
// no checks, so that solver loops can record them in a graph. All fields lie in the GPU's memory
// and agree in rows, components and strides, AoS or SoA; S is float or double. Coefficients are
// numbers or places on the device, sums are left on the device. Defined in builds with CUDA.
#pragma once

#include "chunks.hpp"
#include "heddle/reduction.hpp"
#include "operand.hpp"

namespace heddle::cuda {

/// Chunks that a thread takes where sums are formed: fewer, longer blocks, of which the last has
/// fewer partial sums to add.
inline constexpr int steps_of_sums = 4;

/// Partial sums, of up to `Reduction::width` numbers each, that an operation over ring R leaves.
template <Ring R, class S>
Offset partials_of(const FieldView<S>& field) {
  return walk_over<R>(field, steps_of_sums).blocks();
}

/// y = x alpha + y beta; y is not read when beta = 0.
template <Ring R, class S>
void axpby(const Operand<Coefficient<R, S>>& alpha, const FieldView<const S>& x,
           const Operand<Coefficient<R, S>>& beta, const FieldView<S>& y, const Stream& stream);

/// y -= x c, with c where `dot` left it on the device.
template <Ring R, class S>
void subtract_multiple(const FieldView<const S>& x, const double* c, const FieldView<S>& y,
                       const Stream& stream);

template <class S>
void fill(const Operand<S>& value, const FieldView<S>& y, const Stream& stream);

template <class S>
void randomize(const FieldView<S>& y, unsigned long long seed, const Stream& stream);

template <class S>
void scale(const Operand<S>& alpha, const FieldView<S>& y, const Stream& stream);

template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream);

/// y = scale x between any strides: row i of y is the row source(i) of x, where source(i) is
/// position[user_row[i]]; null stands for the identity.
template <class S>
void permute(const FieldView<const S>& x, const Index* position, const FieldView<S>& y,
             const Index* user_row, S scale, const Stream& stream);

// Sums: `to.results` holds them when the stream has come so far; `to.partials` has room for
// partials_of<R>(field) times their number.

/// results = <x, y> in the ring.
template <Ring R, class S>
void dot(const FieldView<const S>& x, const FieldView<const S>& y, const DeviceSums& to,
         const Stream& stream);

/// results = the largest |component|, or NaN if one is.
template <class S>
void largest_magnitude(const FieldView<const S>& x, const DeviceSums& to, const Stream& stream);

/// r -= alpha q;  results = |r|^2.
template <class S>
void update_residual(const Operand<S>& alpha, const FieldView<const S>& q, const FieldView<S>& r,
                     const DeviceSums& to, const Stream& stream);

/// x += alpha p with the old p, then p = z + beta p.
template <class S>
void update_solution_and_direction(const Operand<S>& alpha, const FieldView<S>& x,
                                   const Operand<S>& beta, const FieldView<const S>& z,
                                   const FieldView<S>& p, const Stream& stream);

/// p = r + (p - v omega) beta.
template <Ring R, class S>
void update_direction(const FieldView<const S>& r, const FieldView<const S>& v,
                      const Operand<Coefficient<R, S>>& omega,
                      const Operand<Coefficient<R, S>>& beta, const FieldView<S>& p,
                      const Stream& stream);

/// r -= v alpha;  results = |r|^2.
template <Ring R, class S>
void half_step(const FieldView<const S>& v, const Operand<Coefficient<R, S>>& alpha,
               const FieldView<S>& r, const DeviceSums& to, const Stream& stream);

/// results = <t, s> in the ring, then |t|^2.
template <Ring R, class S>
void dot_and_norm(const FieldView<const S>& t, const FieldView<const S>& s, const DeviceSums& to,
                  const Stream& stream);

/// x += p alpha + s omega;  r -= t omega, where r and s may be one field;  results = |r|^2, then
/// <shadow, r> in the ring.
template <Ring R, class S>
void full_step(const FieldView<const S>& p, const Operand<Coefficient<R, S>>& alpha,
               const FieldView<const S>& s, const Operand<Coefficient<R, S>>& omega,
               const FieldView<const S>& t, const FieldView<const S>& shadow, const FieldView<S>& x,
               const FieldView<S>& r, const DeviceSums& to, const Stream& stream);

}  // namespace heddle::cuda
