// The operations of vector_operations.hpp as launches on a GPU's stream: no allocation, no waiting,
// no checks, so that solver loops can record them in a graph. All fields lie in the GPU's memory
// and agree in rows, components and strides, AoS or SoA; S is float or double. Coefficients are
// numbers or places on the device, sums are left on the device. Defined in builds with CUDA.
#pragma once

#include "chunks.hpp"
#include "heddle/detail/reduction.hpp"
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

}  // namespace heddle::cuda
