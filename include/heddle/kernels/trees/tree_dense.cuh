// Dense leaves of a tree in a product on a GPU: a warp takes whole rows of a leaf, and a lane takes
// `run` columns of each.
#pragma once

#include "heddle/kernels/trees/tree_sums.cuh"

namespace heddle::device {

/// Rows [top, bottom) of a dense leaf.
struct DenseRows {
  unsigned long long node;
  Index first_of_x;
  int top;
  int bottom;
};

/// Rows of x of a leaf may lie beyond the matrix, where it has no entries.
template <class Plan>
__device__ __forceinline__ typename OfTree<Plan>::V row_of_x(
    const typename OfTree<Plan>::Arguments& a, Index row) {
  return load_row<Plan, load_default, typename OfTree<Plan>::V>(a.x, 0, min(row, a.columns - 1));
}

/// Adds part `part` of `parts` of these rows.
template <class Plan>
__device__ __forceinline__ void add_dense_rows(const typename OfTree<Plan>::Arguments& a,
                                               const DenseRows& leaf, int part, int parts,
                                               WarpSums<Plan>& own) {
  using Of = OfTree<Plan>;
  using E = typename Plan::entry;
  using R = typename Of::R;
  constexpr int run = Of::run, runs = Of::size / run, bytes = int(sizeof(E));
  // Lanes that share a row, rows at once, and steps at once: loads in flight hide memory latency.
  constexpr int lanes = runs < 32 ? runs : 32, rows = 32 / lanes;
  constexpr int steps = run * bytes <= 16 ? 4 : run * bytes <= 32 ? 2 : 1;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto* const bits =
      reinterpret_cast<const unsigned*>(leaf.node + NodeShape::places_byte(NodeKind::dense));
  const auto* const payloads = reinterpret_cast<const stored_scalar_t<E>*>(
      leaf.node + Of::shape().payload_byte(NodeKind::dense, 0));
  for (int column = lane % lanes * run; column < Of::size; column += 32 * run) {
    R sum[run];
    typename Of::V x[run];
#pragma unroll
    for (int g = 0; g < run; ++g) {
      if constexpr (Of::is_transposed) {
        sum[g] = zero_vector<R>();
      } else {
        x[g] = row_of_x<Plan>(a, leaf.first_of_x + column + g);
      }
    }
    for (int first = leaf.top + part * rows * steps; first < leaf.bottom;
         first += parts * rows * steps) {
      unsigned has[steps];
      E entries[steps][run];
      typename Of::V x_of_row[steps];
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        const int row = first + s * rows + lane / lanes, position = row * Of::size + column;
        has[s] = 0;
        if (row < leaf.bottom) {
          has[s] = __ldg(bits + position / 32) >> (position % 32) & ((1u << run) - 1);
          stored_scalar_t<E> raw[run * E::components];
          load_scalars<load_default, run * E::components, 16>(raw,
                                                              payloads + position * E::components);
          memcpy(entries[s], raw, sizeof raw);
          if constexpr (Of::is_transposed) x_of_row[s] = row_of_x<Plan>(a, leaf.first_of_x + row);
        }
      }
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        R of_row = zero_vector<R>();
#pragma unroll
        for (int g = 0; g < run; ++g) {
          if ((has[s] >> g & 1) == 0) continue;
          const auto entry = detail::as_applied<Plan::form>(load(entries[s][g]));
          if constexpr (Of::is_transposed) {
            multiply_add(sum[g], entry, x_of_row[s]);
          } else {
            multiply_add(of_row, entry, x[g]);
          }
        }
        if constexpr (!Of::is_transposed) {
          add_lanes(of_row, 1, lanes);
          const int row = first + s * rows + lane / lanes;
          if (lane % lanes == 0 && row < leaf.bottom) add_to_row<Plan>(of_row, row, own.sums);
        }
      }
    }
    if constexpr (Of::is_transposed) {
#pragma unroll
      for (int g = 0; g < run; ++g) {
        add_lanes(sum[g], lanes, 32);
        if (lane < lanes) add_to_row<Plan>(sum[g], column + g, own.sums);
      }
    }
    __syncwarp();
  }
}

/// Adds the dense leaves of a piece.
template <class Plan>
__device__ __forceinline__ void add_dense_leaves(const typename OfTree<Plan>::Arguments& a,
                                                 const TreePiece& piece, WarpSums<Plan>& own) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const WarpShare share = share_of_warp<Plan>(piece);
  for (int batch = share.first; batch < piece.leaves; batch += share.step) {
    const TreeLeaf* const leaves = a.leaves + piece.first + batch;
    unsigned long long own_node = static_cast<unsigned long long>(NodeKind::coo4);
    if (batch + lane < piece.leaves) own_node = __ldg(&leaves[lane].node);
    const bool is_dense = TreeLeaf{own_node, 0, 0}.kind() == NodeKind::dense;
    for (unsigned dense = __ballot_sync(all_lanes, is_dense); dense != 0; dense &= dense - 1) {
      const int from = __ffs(dense) - 1;
      const TreeLeaf leaf{__shfl_sync(all_lanes, own_node, from), __ldg(&leaves[from].block), 0};
      const DenseRows rows{leaf.address(), leaf.block << Plan::log2_size,
                           batch + from == 0 ? piece.top : 0,
                           batch + from == piece.leaves - 1 ? piece.bottom : OfTree<Plan>::size};
      add_dense_rows<Plan>(a, rows, share.part, share.parts, own);
    }
  }
}

}  // namespace heddle::device
