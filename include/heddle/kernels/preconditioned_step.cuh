// An update of a method and the preconditioner after it, which acts row by row, as one kernel.
#pragma once

#include "heddle/kernels/rows.cuh"
#include "heddle/kernels/step.cuh"

namespace heddle::device {

/// A row's contributions to the sums of a step over v_in and v_out = M^-1 v_in.
template <class Next, class V>
struct SumsOfRow {
  const V& in;
  const V& out;
  double* sums;

  template <class... Sum>
  __device__ __forceinline__ void add(methods::Sums<Sum...>) const {
    double* into = sums;
    (add_one<Sum>(*into++), ...);
  }
  template <class Sum>
  __device__ __forceinline__ void add_one(double& into) const {
    static_assert((Sum::left == Next::in || Sum::left == Next::out) &&
                      (Sum::right == Next::in || Sum::right == Next::out),
                  "sums next to a preconditioner are over its input and output");
    const V& left = Sum::left == Next::in ? in : out;
    const V& right = Sum::right == Next::in ? in : out;
#pragma unroll
    for (int k = 0; k < V::components; ++k) {
      into += double(left.component[k]) * double(right.component[k]);
    }
  }
};

/// Step i, an update, and step i + 1, for a block of rows.
template <class P, class M, class L, int i>
struct StepOfRows {
  using Step = methods::step_at<L, i>;
  using Next = methods::step_at<L, i + 1>;
  using Rows = RowsOfBlock<P>;
  using V = typename Rows::V;
  using T = typename Rows::T;
  static constexpr unsigned loads = methods::facts_of<L>.loads(i) | 1u << Next::in;
  static constexpr int first = own_numbers_of<M, L, i>, count = first + own_numbers_of<M, L, i + 1>;

  const PreconditionedStepArguments& a;
  T* tile;

  __device__ __forceinline__ T* field(int k) const { return static_cast<T*>(a.step.vector[k]); }
  __device__ __forceinline__ void run(unsigned block, const typename P::Own& own,
                                      const methods::Coefficients<M, T>& c) const {
    const Rows rows{tile, a.rows, block};
    V v[M::vectors];
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr ((loads >> k & 1u) != 0) v[k] = rows.load(field(k));
    });
#pragma unroll
    for (int n = 0; n < Rows::K; ++n) {
      Coefficient<Ring::real, T> e[M::vectors];
      methods::each<0, M::vectors>([&]<int k>() {
        if constexpr ((loads >> k & 1u) != 0) e[k].component[0] = v[k].component[n];
      });
      Step::body::at(e, c);
      methods::each<0, M::vectors>([&]<int k>() {
        if constexpr ((Step::writes >> k & 1u) != 0) v[k].component[n] = e[k].component[0];
      });
    }
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr ((Step::writes >> k & 1u) != 0) rows.store(field(k), v[k]);
    });
    const V in = rows.row_of(v[Next::in]);
    const V out = P::apply(own, in);
    double sums[count > 0 ? count : 1] = {};
    if (row_of_thread(block) < a.rows) {
      SumsOfRow<Next, V>{in, out, sums}.add(typename Step::sums{});
      SumsOfRow<Next, V>{in, out, sums + first}.add(typename Next::sums{});
    }
    rows.store(field(Next::out), rows.scalars_of(out));
    if constexpr (count > 0) {
      store_partials<count, threads_of_rows>({a.step.partials, nullptr}, sums, block);
    }
  }
};

/// Step i, an update, and step i + 1. On ranks the grid may have fewer blocks than the rows need:
/// each then takes several blocks of rows.
template <class P, class M, bool start, int i>
__device__ __forceinline__ void update_and_precondition(const PreconditionedStepArguments& a) {
  using L = listing_of<M, start>;
  using Rows = RowsOfBlock<P>;
  using T = typename Rows::T;
  static_assert(M::ring == Ring::real);
  __shared__ T tile[Rows::tile_size];
  const StepOfRows<P, M, L, i> step{a, tile};
  // Loaded while the kernel before still runs.
  const auto own = own_of_thread<P>(a.data, a.rows, blockIdx.x);
  follow_kernel_before();
  const methods::Coefficients<M, T>* c;
  if (!begin_step<M, start, i, true, threads_of_rows>(a.step, c)) return;
  step.run(blockIdx.x, own, *c);
  if constexpr (M::has_ranks) {
    const unsigned blocks = blocks_of_rows(a.rows);
    for (unsigned block = blockIdx.x + gridDim.x; block < blocks; block += gridDim.x) {
      __syncthreads();  // the tile is read
      step.run(block, own_of_thread<P>(a.data, a.rows, block), *c);
    }
  }
}

}  // namespace heddle::device
