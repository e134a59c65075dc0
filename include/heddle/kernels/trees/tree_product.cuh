// The product of hierarchical storage as a kernel. A block of threads takes a piece: some leaves of
// one block of y. In sparse leaves a warp takes windows of 32 runs, one per lane; in dense leaves
// it takes rows. The parts that lanes hold of one row of y are added in a fixed order to the warp's
// own sums in shared memory. So no number is added atomically, and the bits depend only on the
// matrix and the kernel.
#pragma once

#include "heddle/kernels/trees/tree_dense.cuh"
#include "heddle/kernels/trees/tree_sparse.cuh"

namespace heddle::device {

template <class Plan>
__device__ __forceinline__ void tree_product(const typename OfTree<Plan>::Arguments& a) {
  using Of = OfTree<Plan>;
  using R = typename Of::R;
  constexpr int d = Of::size, K = R::components;
  constexpr int N = sums_of(Plan::epilogue, Plan::ring);
  __shared__ WarpSums<Plan> of_warp[Plan::warps];
  __shared__ HeldLeaf held[Plan::warps][32];
  // Registers are more expensive than shared memory.
  __shared__ TreePiece piece;
  if (threadIdx.x == 0) piece = a.pieces[blockIdx.x];
  WarpSums<Plan>& own = of_warp[threadIdx.x / 32];
  own.clear();
  __syncthreads();
  if (add_sparse_leaves<Plan>(a, piece, own, held[threadIdx.x / 32])) {
    add_dense_leaves<Plan>(a, piece, own);
  }
  __syncthreads();
  const bool is_alone = piece.pieces == 1;
  const Offset first_row = Offset(piece.block) << Plan::log2_size;
  double dots[N == 0 ? 1 : N] = {};
  const auto finish = [&](int row, R& sum) {
    if (first_row + row >= a.rows) return;
    // The other epilogues know no factor; the matrix may have one.
    if constexpr (Plan::epilogue != store_scaled) {
#pragma unroll
      for (int k = 0; k < K; ++k) sum.component[k] *= a.alpha;
    }
    finish_row<Plan>(a, a.y, a.with, static_cast<Index>(first_row + row), sum, dots);
  };
  for (int row = static_cast<int>(threadIdx.x); row < d; row += Of::threads) {
    R sum;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int at = k * d + row;
      sum.component[k] = of_warp[0].sums[at];
#pragma unroll
      for (int w = 1; w < Plan::warps; ++w) sum.component[k] += of_warp[w].sums[at];
    }
    if (is_alone) {
      finish(row, sum);
    } else {
      store_sum<Plan>(a, piece, piece.number, row, sum);
    }
  }
  const bool is_done = is_alone || join_pieces<Plan>(a, piece, finish);
  if constexpr (N != 0) {
    if (is_done) store_partials<N, Of::threads>(a.sums, dots, static_cast<unsigned>(piece.block));
    double total[N];
    if (finish_sums<N, Of::threads>(a.sums, a.blocks, total) && threadIdx.x == 0) {
      for (int v = 0; v < N; ++v) a.results[v] = total[v];
    }
  }
}

}  // namespace heddle::device
