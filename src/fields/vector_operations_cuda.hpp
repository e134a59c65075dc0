// The operations of vector_operations.hpp as launches on a GPU's stream: no allocation, no waiting,
// no checks, so that solver loops can record them in a graph. All fields lie in the GPU's memory
// and agree in rows, components and strides, AoS or SoA; S is float or double. Coefficients are
// numbers or places on the device; sums are left on the device. Defined in builds with CUDA.
#pragma once

#include "chunk_operations.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::cuda {

/// Chunks that a thread takes where sums are formed. Blocks are then fewer and longer, and the last
/// one has fewer partial sums to add.
inline constexpr int steps_of_sums = 4;

/// Partial sums, of up to `Reduction::width` numbers each, that an operation over ring R leaves.
template <Ring R, class S>
Offset partials_of(const FieldView<S>& field) {
  return walk_over<R>(field, steps_of_sums).blocks();
}

/// An operation of chunk_operations.hpp over ring R on fields shaped like `shape`. Sums are left
/// where `to` says: `to.results` holds them once the stream has reached that point; `to.partials`
/// has room for partials_of<R>(shape) times their number. If `to.results` is null, the partial sums
/// of each group of 256 rows are left, for fields of type aos.
template <Ring R, class Operation, class S>
void run(const Operation& operation, const FieldView<S>& shape, const Stream& stream,
         const DeviceSums& to = {});

/// y = x alpha + y beta; y is not read when beta = 0.
template <Ring R, class S>
void axpby(const Operand<Coefficient<R, S>>& alpha, const FieldView<const S>& x,
           const Operand<Coefficient<R, S>>& beta, const FieldView<S>& y, const Stream& stream) {
  run<R>(Axpby<R, S>{alpha, x.data, beta, y.data}, y, stream);
}

/// y -= x c, with c where `dot` left it on the device.
template <Ring R, class S>
void subtract_multiple(const FieldView<const S>& x, const double* c, const FieldView<S>& y,
                       const Stream& stream) {
  run<R>(SubtractMultiple<R, S>{x.data, c, y.data}, y, stream);
}

template <class S>
void fill(const Operand<S>& value, const FieldView<S>& y, const Stream& stream) {
  run<Ring::real>(Fill<S>{value, y.data}, y, stream);
}

template <class S>
void randomize(const FieldView<S>& y, unsigned long long seed, const Stream& stream) {
  run<Ring::real>(Randomize<S>{seed, y.data}, y, stream);
}

template <class S>
void scale(const Operand<S>& alpha, const FieldView<S>& y, const Stream& stream) {
  run<Ring::real>(Scale<S>{alpha, y.data}, y, stream);
}

template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream);

/// y = x if `*flag`, in the device's memory, is not 0 at that time. The fields have one layout.
template <class S>
void copy_if(const int* flag, const FieldView<const S>& x, const FieldView<S>& y,
             const Stream& stream) {
  run<Ring::real>(CopyIf<S>{flag, x.data, y.data}, y, stream);
}

/// y = x and results = |x|^2. The fields have one layout.
template <class S>
void copy_with_norm(const FieldView<const S>& x, const FieldView<S>& y, const DeviceSums& to,
                    const Stream& stream) {
  run<Ring::real>(CopyWithNorm<S>{x.data, y.data}, y, stream, to);
}

/// y = x and r = x - image, results = |x|^2 and |r|^2. The fields have one layout; `to.partials`
/// has room for twice partials_of.
template <class S>
void copy_and_subtract(const FieldView<const S>& x, const FieldView<S>& y,
                       const FieldView<const S>& image, const FieldView<S>& r, const DeviceSums& to,
                       const Stream& stream) {
  run<Ring::real>(CopyAndSubtract<S>{x.data, y.data, image.data, r.data}, y, stream, to);
}

/// y = scale x between any strides: row i of y is the row source(i) of x, where source(i) is
/// position[user_row[i]]; null stands for the identity.
template <class S>
void permute(const FieldView<const S>& x, const Index* position, const FieldView<S>& y,
             const Index* user_row, S scale, const Stream& stream);

/// results = <x, y> in the ring.
template <Ring R, class S>
void dot(const FieldView<const S>& x, const FieldView<const S>& y, const DeviceSums& to,
         const Stream& stream) {
  run<R>(Dot<R, S>{x.data, y.data}, x, stream, to);
}

/// results = the largest |component|, or NaN if any is NaN, with the room for sums at `to`.
template <class S>
void largest_magnitude(const FieldView<const S>& x, const DeviceSums& to, const Stream& stream);

// Operations that are more than a launch.

/// y = scale x by the user's rows, where each of the two lies in the host's or the GPU's memory.
/// The host's field may be reused when this returns.
template <class S>
void transfer(const FieldView<const S>& x, const FieldView<S>& y, S scale, const Stream& stream);

/// `detail::pinned_sums` numbers in pinned memory, for the results of sums. Pinning takes longer
/// than most sums, so memory that is given back is kept for the next caller.
double* take_pinned_sums();
void give_back_pinned_sums(double* sums);

}  // namespace heddle::cuda
