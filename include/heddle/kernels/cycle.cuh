// The steps of a multigrid cycle on a GPU: a product, the field it is subtracted from, and the part
// of a smoother that follows it in the same row. A step has the same bits as the products and
// vector operations that it replaces.
#pragma once

#include "heddle/kernels/cycle_arguments.hpp"
#include "heddle/kernels/product.cuh"
#include "heddle/kernels/rows.cuh"

namespace heddle {
template <class T, int R, int C>
struct block;
}

namespace heddle::device {

/// Forms of steps without a smoother.
struct NoRows {};

/// data = field + data, unless the field is null.
template <class Plan, class Row>
__device__ __forceinline__ void add_field(const void* field, Index rows, Index row, Row& data) {
  if (field == nullptr) return;
  const Row more = load_row<Plan, load_coherent, Row>(
      static_cast<const typename Plan::scalar*>(field), rows, row);
#pragma unroll
  for (int k = 0; k < Row::components; ++k) data.component[k] += more.component[k];
}

/// a b + c, rounded once, as vector operations do it.
__device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

/// The second and the third line of `CycleStep`, at a row. P: a preconditioner by rows.
template <class Plan, class P, class R>
__device__ __forceinline__ void smooth_row(const CycleStep& s, Index row, const R& v) {
  using M = typename Plan::scalar;
  constexpr int K = R::components;
  static_assert(P::vector::components == K, "M^-1 has the rows of the product");
  const auto field = [](const void* data) { return static_cast<const M*>(data); };
  typename P::vector rest;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    rest.component[k] = static_cast<typename P::vector::scalar>(static_cast<M>(v.component[k]));
  }
  const auto smoothed = P::apply(P::load(s.inverses, s.rows, row), rest);
  const M* const numbers = field(s.numbers);
  small_vector<M, K> d;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    d.component[k] = static_cast<M>(smoothed.component[k]) * __ldg(numbers + 1);
  }
  using Row = small_vector<M, K>;
  if (s.own != nullptr) {
    const M a = __ldg(numbers);
    const Row own = load_row<Plan, load_coherent, Row>(field(s.own), s.rows, row);
#pragma unroll
    for (int k = 0; k < K; ++k) d.component[k] = fused(own.component[k], a, d.component[k]);
  }
  if (s.to != nullptr) store_row<Plan>(static_cast<M*>(s.to), s.rows, row, d);
  add_field<Plan>(s.added, s.rows, row, d);
  add_field<Plan>(s.base, s.rows, row, d);
  if (s.sum != nullptr) store_row<Plan>(static_cast<M*>(s.sum), s.rows, row, d);
}

/// The whole step at a row; `sum` is the row's sum of A x.
template <class Plan, class P, class R>
__device__ __forceinline__ void finish_step(const CycleStep& s, Index row, R& sum) {
  using M = typename Plan::scalar;
  constexpr int K = R::components;
  const auto sign = static_cast<typename R::scalar>(s.sign);
#pragma unroll
  for (int k = 0; k < K; ++k) sum.component[k] *= sign;
  add_field<Plan>(s.with, s.rows, row, sum);
  if (s.y != nullptr) store_row<Plan>(static_cast<M*>(s.y), s.rows, row, sum);
  if constexpr (requires { typename P::vector; }) {
    if (s.numbers != nullptr) smooth_row<Plan, P>(s, row, sum);
  }
}

template <class Plan>
using MatrixOf = Matrix<stored_scalar_t<typename Plan::entry>>;

/// The matrix in registers: one in memory would be read again after every store.
template <class Plan>
__device__ __forceinline__ MatrixOf<Plan> matrix_of_step(const CycleStep& s) {
  return reinterpret_cast<const MatrixOf<Plan>&>(s.A);
}

/// The step at a share of the matrix, by whole warps.
template <class Plan, class P>
__device__ __forceinline__ void step_of_share(const CycleStep& s, const MatrixOf<Plan>& A,
                                              const Share& share, CachePolicy policy) {
  using E = typename Plan::entry;
  using R = result_entry_t<E>;
  R sum = zero_vector<R>();
  if (share.row < A.rows) {
    sum = product_of_share<Plan, Plan::load, load_coherent>(
        A, share, trailing_table<E>(A.values, A.slots),
        static_cast<const typename Plan::scalar*>(s.x), s.columns, policy);
    scale_sum<E>(sum, A.values, A.slots);
  }
  add_parts<Plan>(sum, share.threads);
  if (share.row >= A.rows || share.thread != 0) return;
  finish_step<Plan, P>(s, A.target != nullptr ? __ldg(A.target + share.row) : share.row, sum);
}

/// A step without a product, at a row.
template <class Plan, class P>
__device__ __forceinline__ void step_of_row(const CycleStep& s, Offset row) {
  auto sum = zero_vector<result_entry_t<typename Plan::entry>>();
  if (row < s.rows) finish_step<Plan, P>(s, static_cast<Index>(row), sum);
}

/// A step that has a kernel to itself, of blocks of `Plan::block` lanes. The kernel may start while
/// the step before runs, and reads the pattern meanwhile.
template <class Plan, class P>
__device__ __forceinline__ void cycle_step(const CycleStep& s) {
  const Offset lane = Offset(blockIdx.x) * Plan::block + threadIdx.x;
  let_next_kernel_come();
  if (s.x == nullptr) {
    await_kernel_before();
    return step_of_row<Plan, P>(s, lane);
  }
  const auto A = matrix_of_step<Plan>(s);
  const Share share = share_of<Plan>(A, lane);
  await_kernel_before();
  step_of_share<Plan, P>(s, A, share, policy_of_piece(blockIdx.x, s.kept));
}

/// The rows of a block as entries of their own.
template <class E>
struct BlockRows;
template <class T, int R, int C>
struct BlockRows<block<T, R, C>> {
  using type = block<T, 1, C>;
  static constexpr int count = R;
};
template <class Plan>
using BlockRowOf = typename BlockRows<typename Plan::entry>::type;

/// Row i of the block in slot `step + lane`, see `load_entry`.
template <class Plan>
__device__ __forceinline__ BlockRowOf<Plan> load_block_row(const MatrixOf<Plan>& A, int i,
                                                           Offset step, int lane) {
  using S = stored_scalar_t<typename Plan::entry>;
  constexpr int K = Plan::entry::components, P = BlockRowOf<Plan>::components;
  constexpr int W = 16 / int(sizeof(S)), in_pieces = K / W * W, C = Plan::lanes;
  BlockRowOf<Plan> row;
  const int first = i * P;
  if constexpr (Plan::inner == inner_aos) {
    constexpr int align = P % W == 0 ? 16 : int(sizeof(S));
    load_scalars<load_default, P, align>(row.component, A.values + (step + lane) * K + first);
  } else if constexpr (Plan::inner == inner_aosoa16 && P % W == 0) {
#pragma unroll
    for (int q = 0; q < P; q += W) {
      load_scalars<load_default, W, 16>(row.component + q,
                                        A.values + step * K + (first + q) * C + lane * W);
    }
  } else {
#pragma unroll
    for (int k = 0; k < P; ++k) {
      const int at = first + k;
      Offset place = step * K + at * C + lane;
      if constexpr (Plan::inner == inner_soa) place = at * A.slots + step + lane;
      if constexpr (Plan::inner == inner_aosoa16) {
        place = at < in_pieces ? step * K + at / W * W * C + lane * W + at % W
                               : step * K + in_pieces * C + lane * (K % W) + at - in_pieces;
      }
      load_scalars<load_default, 1, int(sizeof(S))>(row.component + k, A.values + place);
    }
  }
  return row;
}

/// This thread's part of row i of the blocks of a row, in the order of `product_of_share`.
template <class Plan>
__device__ __forceinline__ result_entry_t<BlockRowOf<Plan>> product_of_block_row(
    const CycleStep& s, const MatrixOf<Plan>& A, const Share& share, int i) {
  using V = vector_entry_t<typename Plan::entry>;
  constexpr int max_scalars = 24, P = BlockRowOf<Plan>::components;
  constexpr int U = P < max_scalars ? max_scalars / P : 1;
  const auto column_at = [&](Offset slot) -> Index {
    if constexpr (Plan::short_columns) {
      if (share.column_base >= 0) return share.column_base + __ldg(A.short_column + slot);
    }
    return __ldg(A.column + slot);
  };
  auto sum = zero_vector<result_entry_t<BlockRowOf<Plan>>>();
  const int count = share_of_row(share.length, share.thread, share.threads);
  Offset step = share.step;
#pragma unroll 1
  for (int j = 0; j < count; j += U, step += U * Plan::lanes) {
    BlockRowOf<Plan> a[U];
    V x[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (j + u >= count) break;
      const Offset at = step + u * Plan::lanes;
      a[u] = load_block_row<Plan>(A, i, at, share.lane);
      x[u] = load_row<Plan, load_coherent, V>(static_cast<const typename Plan::scalar*>(s.x),
                                              s.columns, column_at(at + share.lane));
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (j + u < count) multiply_add(sum, a[u], x[u]);
    }
  }
  return sum;
}

/// A step over few long rows of blocks: a kernel with a block of threads for each row of the
/// matrix, and a warp for each row of its entries. Has the same bits as `cycle_step`.
template <class Plan, class P>
__device__ __forceinline__ void cycle_step_of_blocks(const CycleStep& s) {
  using R = result_entry_t<typename Plan::entry>;
  using Own = result_entry_t<BlockRowOf<Plan>>;
  constexpr int warp = 32, K = Own::components;
  static_assert(Plan::lanes == warp && Plan::threads == warp, "a warp has a slice of one row");
  __shared__ typename R::scalar of_row[R::components];
  let_next_kernel_come();
  const auto A = matrix_of_step<Plan>(s);
  const int i = threadIdx.x / warp;
  const Share share = share_of<Plan>(A, Offset(blockIdx.x) * warp + threadIdx.x % warp);
  await_kernel_before();
  Own sum = zero_vector<Own>();
  if (share.row < A.rows) sum = product_of_block_row<Plan>(s, A, share, i);
  add_parts<Plan>(sum, share.threads);
  if (share.thread == 0) {
#pragma unroll
    for (int k = 0; k < K; ++k) of_row[i * K + k] = sum.component[k];
  }
  __syncthreads();
  if (share.row >= A.rows || threadIdx.x != 0) return;
  R whole;
#pragma unroll
  for (int k = 0; k < R::components; ++k) whole.component[k] = of_row[k];
  finish_step<Plan, P>(s, A.target != nullptr ? __ldg(A.target + share.row) : share.row, whole);
}

/// Like `cycle_step`, but by all blocks of a kernel that makes several steps, once `meet` returns;
/// the pattern is read before that. A few rows are shared by as many multiprocessors as possible.
template <class Plan, class P, class Meet>
__device__ __forceinline__ void step_of_grid(const CycleStep& s, const Meet& meet) {
  constexpr int warp = 32;
  const Offset stride = Offset(gridDim.x) * threads_of_cycle;
  const Offset first = (Offset(threadIdx.x / warp) * gridDim.x + blockIdx.x) * warp;
  const Offset own = threadIdx.x % warp;
  if (s.x == nullptr) {
    meet();
    for (Offset row = first; row < s.rows; row += stride) step_of_row<Plan, P>(s, row + own);
    return;
  }
  const auto A = matrix_of_step<Plan>(s);
  const Offset lanes = Offset(A.slices) * A.lanes;
  Share share = share_of<Plan>(A, first + own);
  meet();
  for (Offset at = first; at < lanes; at += stride) {
    if (at != first) share = share_of<Plan>(A, at + own);
    step_of_share<Plan, P>(s, A, share, 0);
  }
}

/// Runs steps one after another, in all blocks together: `Forms::run(step, meet)` is `step_of_grid`
/// for the step's form. Blocks meet between steps.
template <class Forms>
__device__ __forceinline__ void cycle(const CycleArguments& a) {
  extern __shared__ double of_steps[];
  constexpr int words = sizeof(CycleStep) / sizeof(double);
  static_assert(sizeof(CycleStep) % sizeof(double) == 0);
  const double* const from = reinterpret_cast<const double*>(a.steps);
  for (int i = threadIdx.x; i < a.count * words; i += threads_of_cycle)
    of_steps[i] = __ldg(from + i);
  unsigned long long round = *a.round;
  __syncthreads();
  CycleStep* const steps = reinterpret_cast<CycleStep*>(of_steps);
  for (int i = threadIdx.x; i < a.count; i += threads_of_cycle) fill_in(steps[i], a.r, a.z);
  __syncthreads();
  for (int i = 0; i < a.count; ++i) {
    Forms::run(steps[i], [&] {
      if (i > 0) barrier(a.flags, ++round);
    });
  }
  // Every block has read `*a.round` before the first barrier.
  if (a.count > 1 && is_leader()) *a.round = round;
}

}  // namespace heddle::device
