// Orthogonalizes a vector against a basis V, and forms a solution from V (methods::Orthogonalize
// and FormSolution). The second round of Gram-Schmidt waits for the next vector (Bielich, Langou,
// Thomas, Swirydowicz, Yamazaki and Boman 2022, "Low-synch Gram-Schmidt with delayed
// reorthogonalization"), so that two kernels suffice, each of which reads V once. With a basis of c
// vectors there are u, which one round has made orthogonal to V and which is not normalised, and
// its image w:
//   products   s = V* u, |u|^2, r = V* w, <u, w>
//   append     gamma^2 = |u|^2 - |s|^2, V_c = (u - V s) / gamma, t = <V_c, w>,
//              u = (w - V r - V_c t) / gamma
// That completes column c - 1 of the Hessenberg matrix H, as (h + s, gamma). Column c is ((r, t) -
// H s) / gamma until the next s: with A u = w, A V_c = (w - A V s) / gamma, and A V is V H. The Z
// of a flexible method, A Z = V H, changes likewise: Z_c = (z - Z s) / gamma, z = M^-1 u.
#pragma once

#include "heddle/kernels/basis_block.cuh"
#include "heddle/kernels/step.cuh"

namespace heddle::device {

/// The sums V* u, V* w, |u|^2 and <u, w>.
template <class M, class S, class V, class Chunk>
__device__ __forceinline__ void basis_products(const BasisArguments& a) {
  follow_kernel_before();
  const auto& side = *reinterpret_cast<const Side<M>*>(a.state->side[a.side]);
  if (side.end != loop_runs) return;
  BasisBlock<M, S, V, Chunk>(a, blockIdx.x, static_cast<int>(side.vectors)).leave_products();
}

/// The coefficients that change u and w, besides s and r.
template <Ring R>
struct Turn {
  double gamma, inverse;  // 0 if only rounding is left of u
  Coefficient<R, double> t;
};

/// Valid in every thread. `size_of_column`: |h|^2 of the column whose remainder is u.
template <Ring R, class V>
__device__ __forceinline__ Turn<R> turn_of(const double* numbers, int count,
                                           double size_of_column) {
  using Number = Coefficient<R, double>;
  __shared__ Turn<R> turn;
  if (threadIdx.x < 32) {
    double sums[1 + Number::size] = {};
    const auto* const number = reinterpret_cast<const Number*>(numbers);
    for (int k = threadIdx.x; k < count; k += 32) {
      sums[0] += squared_norm(number[2 * k]);
      add_inner_product(number[2 * k], number[2 * k + 1], sums + 1);
    }
    add_over_lanes(sums);
    if (threadIdx.x == 0) {
      constexpr double rounding = sizeof(V) == 4 ? 0x1p-21 : 0x1p-50;
      // By Pythagoras: s is only rounding compared with u, unless u is rounding itself.
      const double left = number[2 * count].real() - sums[0];
      turn.gamma = left > rounding * rounding * size_of_column ? ::sqrt(left) : left - left;
      turn.inverse = turn.gamma > 0 ? 1 / turn.gamma : 0.0;
      for (int n = 0; n < Number::size; ++n) {
        turn.t.component[n] = (number[2 * count + 1].component[n] - sums[1 + n]) * turn.inverse;
      }
    }
  }
  __syncthreads();
  return turn;
}

/// Copies the numbers that decisions keep, if decisions read them in shared memory.
__device__ __forceinline__ void copy_kept(const BasisArguments& a, double* to, const double* from) {
  for (int k = threadIdx.x; k < a.staged; k += threads_of_basis) to[k] = from[k];
}

/// Calls `decide(basis)` in thread 0 of one block. `staged`: the copied numbers, already waited
/// for.
template <class M, class Decide>
__device__ __forceinline__ void decide_on_basis(const BasisArguments& a, double* staged, int count,
                                                double norm, const Decide& decide) {
  using Number = Coefficient<M::ring, double>;
  if (threadIdx.x == 0) {
    methods::Basis<Number> basis;
    basis.count = count;
    basis.most = a.most;
    basis.column = reinterpret_cast<Number*>(a.column);
    basis.kept = reinterpret_cast<Number*>(a.staged > 0 ? staged : a.kept);
    basis.norm = norm;
    decide(basis);
  }
  __syncthreads();
  copy_kept(a, a.kept, staged);
}

/// Called by the block that decides: writes column count - 1 of H, which is now complete, and the
/// known part of the next one. Returns |h|^2 of the latter in thread 0.
template <class M, class Block>
__device__ __forceinline__ double add_column(const BasisArguments& a, const Block& block,
                                             const Turn<M::ring>& turn) {
  using Number = Coefficient<M::ring, double>;
  const int count = block.count();
  const auto* const number = reinterpret_cast<const Number*>(block.numbers());
  const auto column = [&](int k) {
    return reinterpret_cast<Number*>(a.hessenberg) + static_cast<long long>(k) * (a.most + 1);
  };
  if (count > 0) {
    Number* const last = column(count - 1);
    for (int k = threadIdx.x; k <= count; k += threads_of_basis) {
      Number h = Number::from_real(turn.gamma);
      if (k < count) {
        h = last[k];
        for (int n = 0; n < Number::size; ++n) h.component[n] += number[2 * k].component[n];
        reinterpret_cast<Number*>(a.column)[k] = h;
      }
      last[k] = h;
    }
    __syncthreads();
  }
  if (count == a.most) return 0;
  double* const squares = block.scratch();
  for (int row = block.warp(); row <= count; row += block.warps) {
    double image[Number::size] = {};
    for (int k = max(0, row - 1) + block.lane(); k < count; k += 32) {
      multiply_add_at<M::ring>(image, column(k)[row].component, number[2 * k].component);
    }
    add_over_lanes(image);
    if (block.lane() != 0) continue;
    Number h = turn.t;
    if (row < count) h = number[2 * row + 1];
    for (int n = 0; n < Number::size; ++n) {
      h.component[n] = (h.component[n] - image[n]) * turn.inverse;
    }
    column(count)[row] = h;
    squares[row] = squared_norm(h);
  }
  __syncthreads();
  double sum[1] = {};
  for (int row = block.lane(); row <= count; row += 32) sum[0] += squares[row];
  add_over_lanes(sum);
  return sum[0];
}

/// Forms V_count and the next u from V, u and w. Meanwhile block 0 completes a column of H and
/// takes the decision; there is none before the first column.
template <class M, int i, class S, class V, class Chunk>
__device__ __forceinline__ void basis_append(const BasisArguments& a) {
  using Decision = typename methods::step_at<typename M::Iteration, i>::decision;
  follow_kernel_before();
  __shared__ BlockState<M, S> state;
  const bool decides = blockIdx.x == 0;
  const auto side = *reinterpret_cast<const Side<M>*>(a.state->side[a.side]);
  const bool goes_on = side.end == loop_runs;
  if (!goes_on && !decides) return;
  const int count = static_cast<int>(side.vectors);
  BasisBlock<M, S, V, Chunk> block(a, max(0, static_cast<int>(blockIdx.x) - 1), count);
  if (decides) {
    state.load(a.state, a.side);
    if (threadIdx.x == 0) state.concluded = 0;
    if (goes_on) copy_kept(a, block.after_numbers(), a.kept);
    __syncthreads();
  }
  if (!goes_on) return state.write(a.state, a.side);
  block.add_products_of_blocks();
  const auto turn = turn_of<M::ring, V>(block.numbers(), count, side.size_of_column);
  if (decides) {
    const double size_of_column = add_column<M>(a, block, turn);
    if (threadIdx.x == 0) {
      state.side.vectors = count + 1;
      state.side.size_of_column = size_of_column;
    }
    if (count > 0) {
      decide_on_basis<M>(a, block.after_numbers(), count, turn.gamma,
                         [&](auto& basis) { state.template decide<Decision>(basis); });
    }
    return state.write(a.state, a.side);
  }
  if (count == a.most) return;
  const S inverse = S(turn.inverse);
  Coefficient<M::ring, S> minus_t;
  for (int n = 0; n < block.size; ++n) minus_t.component[n] = -S(turn.t.component[n]);
  block.for_each_chunk_backwards([&](const Chunk& chunk) {
    typename Chunk::Values v[2] = {chunk.load(static_cast<const S*>(a.out)),
                                   chunk.load(static_cast<const S*>(a.in))};
    block.template add_combination<2>(0, chunk, S(-1), v);
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) {
      scale(v[0].at[e], inverse);
      add_multiple(v[1].at[e], v[0].at[e], minus_t);
      scale(v[1].at[e], inverse);
    }
    chunk.store(block.vector(count), v[0]);
    chunk.store(static_cast<S*>(a.out), v[1]);
    if constexpr (methods::is_flexible<M>) {
      typename Chunk::Values z[1] = {chunk.load(static_cast<const S*>(a.z))};
      block.template add_combination<2>(a.most, chunk, S(-1), z);
#pragma unroll
      for (int e = 0; e < Chunk::elements; ++e) scale(z[0].at[e], inverse);
      chunk.store(block.vector(a.most + count), z[0]);
    }
  });
}

/// The start of a run: u = in / |in|, where `in` is its residual.
template <class M, int i, class S, class V, class Chunk>
__device__ __forceinline__ void basis_start(const BasisArguments& a) {
  using Step = methods::step_at<typename M::Start, i>;
  static_assert(Step::in == M::r, "a basis begins with the residual");
  follow_kernel_before();
  if (is_leader() && a.state->limits.patience != 0) {
    a.state->limits.deadline = nanoseconds() + a.state->limits.patience;
  }
  __shared__ BlockState<M, S> state;
  state.load(a.state, a.side);
  __syncthreads();
  const double norm = ::sqrt(state.limits.squared_norm);
  BasisBlock<M, S, V, Chunk> block(a, max(0, static_cast<int>(blockIdx.x) - 1), 0);
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) state.side.vectors = 0;
    if (threadIdx.x == 0) state.side.size_of_column = 0;
    copy_kept(a, block.after_numbers(), a.kept);
    __syncthreads();
    decide_on_basis<M>(a, block.after_numbers(), 0, norm,
                       [&](auto& basis) { state.template decide<typename Step::decision>(basis); });
    return state.write(a.state, a.side);
  }
  const S inverse = S(norm > 0 ? 1 / norm : 0.0);
  block.for_each_chunk([&](const Chunk& chunk) {
    auto u = chunk.load(static_cast<const S*>(a.in));
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) scale(u.at[e], inverse);
    chunk.store(static_cast<S*>(a.out), u);
  });
}

/// Computes the coefficients of the solution, in one block.
template <class M>
__device__ __forceinline__ void basis_solution(const BasisArguments& a) {
  follow_kernel_before();
  extern __shared__ __align__(32) double shared[];
  auto& side = *reinterpret_cast<Side<M>*>(a.state->side[a.side]);
  copy_kept(a, shared, a.kept);
  __syncthreads();
  decide_on_basis<M>(a, shared, 0, 0.0, [&](auto& basis) {
    M::Finish::decision::decide(side.c, basis);
    *a.count = basis.count;
  });
}

/// out = V y, or out += V y if `adds`, with Z in place of V for a flexible method.
template <class M, class S, class V, class Chunk, bool adds>
__device__ __forceinline__ void basis_combination(const BasisArguments& a) {
  follow_kernel_before();
  BasisBlock<M, S, V, Chunk> block(a, blockIdx.x, *a.count);
  for (int k = threadIdx.x; k < block.count() * block.size; k += threads_of_basis) {
    block.numbers()[k] = a.column[k];
  }
  __syncthreads();
  block.for_each_chunk([&](const Chunk& chunk) {
    S* const out = static_cast<S*>(a.out);
    typename Chunk::Values sum[1] = {};
    if (adds) sum[0] = chunk.load(out);
    block.template add_combination<1>(methods::is_flexible<M> ? a.most : 0, chunk, S(1), sum);
    chunk.store(out, sum[0]);
  });
}

}  // namespace heddle::device
