#include "vector_operations_cuda.hpp"

#include <algorithm>
#include <cstdint>

#include "base/cuda_call.hpp"
#include "heddle/kernels/reduce.cuh"

namespace heddle::cuda {

namespace {

template <class Chunk, class Operation>
__global__ void __launch_bounds__(threads_of_block)
    over_chunks(Walk walk, Operation operation, DeviceSums to) {
  constexpr int count = Operation::sums;
  double sums[count > 0 ? count : 1] = {};
  visit_chunks<Chunk>(walk, blockIdx.x, static_cast<int>(threadIdx.x), operation, sums);
  if constexpr (count > 0) {
    const device::SumSpace space{to.partials, to.finished};
    device::store_partials<count, threads_of_block>(space, sums, blockIdx.x);
    if (to.results == nullptr) return;
    double total[count];
    if (device::finish_sums<count, threads_of_block>(space, gridDim.x, total) && threadIdx.x == 0) {
      for (int v = 0; v < count; ++v) to.results[v] = total[v];
    }
  }
}

/// Takes the largest bits of magnitudes, which order like the magnitudes, NaN above infinity.
template <class Chunk, class S>
__global__ void __launch_bounds__(threads_of_block)
    largest_of_chunks(Walk walk, const S* x, unsigned long long* result) {
  unsigned long long largest = 0;
  for (int step = 0; step < walk.steps; ++step) {
    const Offset at = walk.chunk(blockIdx.x, step, static_cast<int>(threadIdx.x));
    if (at * Chunk::elements >= walk.elements) continue;
    const auto values = Chunk(walk, 0, at).load(x);
    for (const auto& element : values.at) {
      const auto bits =
          static_cast<unsigned long long>(__double_as_longlong(fabs(double(element.component[0]))));
      largest = bits > largest ? bits : largest;
    }
  }
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned long long other = __shfl_xor_sync(device::all_lanes, largest, distance);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) atomicMax(result, largest);
}

/// Where the pieces of two fields lie; threads take them in the order of y's memory.
struct Strides {
  Offset rows;
  int components;
  Offset entry_of_x, component_of_x;
  Offset entry_of_y, component_of_y;
  bool by_row;  // a row's components follow one another
};

/// T is one scalar, or 16 bytes of them if the entries allow it.
template <class T, class S>
__global__ void __launch_bounds__(threads_of_block)
    permute_scalars(Strides at, const T* x, const Index* position, T* y, const Index* user_row,
                    S scale) {
  const Offset i = Offset(blockIdx.x) * threads_of_block + threadIdx.x;
  if (i >= at.rows * at.components) return;
  const Offset divisor = at.by_row ? at.components : at.rows;
  // 64-bit division is many times slower.
  const bool is_short = (i | divisor) >> 32 == 0;
  const Offset quotient =
      is_short ? static_cast<unsigned>(i) / static_cast<unsigned>(divisor) : i / divisor;
  const Offset rest = i - quotient * divisor;
  const Offset row = at.by_row ? quotient : rest;
  const Offset component = at.by_row ? rest : quotient;
  Offset source = user_row != nullptr ? user_row[row] : row;
  if (position != nullptr) source = position[source];
  T value = x[source * at.entry_of_x + component * at.component_of_x];
  for (auto& scalar : value.at) scalar *= scale;
  y[row * at.entry_of_y + component * at.component_of_y] = value;
}

/// The piece that a thread of `permute_scalars` moves.
template <class S, int count>
struct alignas(count * sizeof(S)) Piece {
  S at[count];
};

bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

template <class Chunk, class Operation>
void launch_over(const Walk& walk, const Operation& operation, const DeviceSums& to,
                 const Stream& stream) {
  const OnGpu here(stream);
  over_chunks<Chunk><<<walk.blocks(), threads_of_block, 0, stream.queue>>>(walk, operation, to);
  check(cudaGetLastError(), "launch of a vector operation");
}

template <class T, class S>
void launch_permute(const Strides& at, const S* x, const Index* position, S* y,
                    const Index* user_row, S scale, const Stream& stream) {
  const Offset blocks = (at.rows * at.components + threads_of_block - 1) / threads_of_block;
  const OnGpu here(stream);
  permute_scalars<T><<<static_cast<unsigned>(blocks), threads_of_block, 0, stream.queue>>>(
      at, reinterpret_cast<const T*>(x), position, reinterpret_cast<T*>(y), user_row, scale);
  check(cudaGetLastError(), "launch of a permutation");
}

}  // namespace

template <Ring R, class Operation, class S>
void run(const Operation& operation, const FieldView<S>& shape, const Stream& stream,
         const DeviceSums& to) {
  using Scalar = std::remove_const_t<S>;
  constexpr bool sums = Operation::sums > 0;
  if (!sums && shape.scalars() == 0) return;
  bool aligned = is_aligned(operation.y);
  if constexpr (requires { operation.x; }) aligned = aligned && is_aligned(operation.x);
  if constexpr (requires { operation.image; }) {
    aligned = aligned && is_aligned(operation.image) && is_aligned(operation.r);
  }
  if constexpr (sums) {
    if (to.results == nullptr) {
      const Walk groups = walk_over_groups<R>(shape);
      return aligned ? launch_over<GroupedChunk<R, Scalar, true>>(groups, operation, to, stream)
                     : launch_over<GroupedChunk<R, Scalar, false>>(groups, operation, to, stream);
    }
  }
  const Walk walk = walk_over<R>(shape, sums ? steps_of_sums : 1);
  if constexpr (R != Ring::real) {
    if (!is_contiguous<R>(shape)) {
      return launch_over<PlanarChunk<R, Scalar>>(walk, operation, to, stream);
    }
  }
  if (aligned) {
    launch_over<ContiguousChunk<R, Scalar, true>>(walk, operation, to, stream);
  } else {
    launch_over<ContiguousChunk<R, Scalar, false>>(walk, operation, to, stream);
  }
}

template <class S>
void copy(const FieldView<const S>& x, const FieldView<S>& y, const Stream& stream) {
  const bool same_layout = x.entry_stride == y.entry_stride &&
                           x.component_stride == y.component_stride && (y.is_aos() || y.is_soa());
  if (!same_layout) return permute<S>(x, nullptr, y, nullptr, S(1), stream);
  run<Ring::real>(Copy<S>{x.data, y.data}, y, stream);
}

template <class S>
void permute(const FieldView<const S>& x, const Index* position, const FieldView<S>& y,
             const Index* user_row, S scale, const Stream& stream) {
  if (y.scalars() == 0) return;
  Strides at{y.size,
             y.components,
             x.entry_stride,
             x.component_stride,
             y.entry_stride,
             y.component_stride,
             y.component_stride <= y.entry_stride};
  constexpr int wide = 16 / static_cast<int>(sizeof(S));
  const bool whole = x.component_stride == 1 && y.component_stride == 1 &&
                     y.components % wide == 0 && x.entry_stride % wide == 0 &&
                     y.entry_stride % wide == 0;
  if (whole && is_aligned(x.data) && is_aligned(y.data)) {
    at.components /= wide;
    at.entry_of_x /= wide;
    at.entry_of_y /= wide;
    launch_permute<Piece<S, wide>>(at, x.data, position, y.data, user_row, scale, stream);
  } else {
    launch_permute<Piece<S, 1>>(at, x.data, position, y.data, user_row, scale, stream);
  }
}

template <class S>
void largest_magnitude(const FieldView<const S>& x, const DeviceSums& to, const Stream& stream) {
  const OnGpu here(stream);
  // With groups of rows, the first group gets the largest of all.
  const bool by_groups = to.results == nullptr;
  const Index numbers = by_groups ? std::max<Index>(1, groups_of(x.size)) : 1;
  check(cudaMemsetAsync(to.partials, 0, static_cast<std::size_t>(numbers) * sizeof(double),
                        stream.queue),
        "cudaMemsetAsync");
  if (x.scalars() > 0) {
    const Walk walk = walk_over<Ring::real>(x, steps_of_sums);
    auto* result = reinterpret_cast<unsigned long long*>(to.partials);
    const auto run = [&]<bool aligned>() {
      largest_of_chunks<ContiguousChunk<Ring::real, S, aligned>>
          <<<walk.blocks(), threads_of_block, 0, stream.queue>>>(walk, x.data, result);
    };
    is_aligned(x.data) ? run.template operator()<true>() : run.template operator()<false>();
    check(cudaGetLastError(), "launch of a vector operation");
  }
  if (by_groups) return;
  check(cudaMemcpyAsync(to.results, to.partials, sizeof(double), cudaMemcpyDefault, stream.queue),
        "cudaMemcpyAsync");
}

#define HEDDLE_INSTANTIATE_RUN(R, S, ...) \
  template void run<R>(const __VA_ARGS__&, const FieldView<S>&, const Stream&, const DeviceSums&);
#define HEDDLE_INSTANTIATE_RING(R, S)                  \
  HEDDLE_INSTANTIATE_RUN(R, S, Axpby<R, S>)            \
  HEDDLE_INSTANTIATE_RUN(R, S, SubtractMultiple<R, S>) \
  HEDDLE_INSTANTIATE_RUN(R, const S, Dot<R, S>)
#define HEDDLE_INSTANTIATE(S)                                                                      \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, Fill<S>)                                                   \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, Randomize<S>)                                              \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, Scale<S>)                                                  \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, CopyIf<S>)                                                 \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, CopyWithNorm<S>)                                           \
  HEDDLE_INSTANTIATE_RUN(Ring::real, S, CopyAndSubtract<S>)                                        \
  template void copy<S>(const FieldView<const S>&, const FieldView<S>&, const Stream&);            \
  template void permute<S>(const FieldView<const S>&, const Index*, const FieldView<S>&,           \
                           const Index*, S, const Stream&);                                        \
  template void largest_magnitude<S>(const FieldView<const S>&, const DeviceSums&, const Stream&); \
  HEDDLE_INSTANTIATE_RING(Ring::real, S)                                                           \
  HEDDLE_INSTANTIATE_RING(Ring::complex, S)                                                        \
  HEDDLE_INSTANTIATE_RING(Ring::quaternion, S)
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)

}  // namespace heddle::cuda
