// A vector made orthogonal to a basis V, and a solution formed of it (methods::Orthogonalize and
// FormSolution). Gram-Schmidt twice takes three kernels: V* w; w -= V h with V* w of what is left,
// while the rows are in L1; and w -= V h once more. Blocks share out the rows. A thread takes a
// chunk of every vector to form w - V h, and a warp takes a few vectors to form their products with
// w, so that registers hold few sums and many loads.
#pragma once

#include "heddle/kernels/basis_arguments.hpp"
#include "heddle/kernels/step.cuh"

namespace heddle::device {

template <class M, class S, class Chunk>
class BasisBlock {
 public:
  using Values = typename Chunk::Values;
  using Multiple = Coefficient<M::ring, S>;
  static constexpr int size = ring_size(M::ring);
  static constexpr int warps = threads_of_basis / 32;
  static constexpr int vectors_of_warp = vectors_of_basis_warp(size);

  /// Block number `block` of those that share the rows, before a basis of `count` vectors.
  __device__ BasisBlock(const BasisArguments& a, int block, int count)
      : a_(a), block_(block), count_(count), first_(Offset(block) * a.chunks_of_block) {
    extern __shared__ __align__(32) double shared[];
    numbers_ = shared;
    sums_ = numbers_ + a.most * size + 1;
    chunks_ = int(min(Offset(a.chunks_of_block), a.chunks - first_));
  }

  __device__ double* numbers() const { return numbers_; }
  __device__ double* behind_numbers() const { return numbers_ + numbers_of_basis(a_.most, size); }
  __device__ int count() const { return count_; }
  __device__ S* vector(int k) const { return static_cast<S*>(a_.basis) + k * a_.stride; }

  /// The first `n` sums of the kernel before.
  __device__ void add_sums(int n) {
    for (int k = warp(); k < n; k += warps) {
      double sum[1] = {};
      for (int block = lane(); block < a_.blocks; block += 32) {
        sum[0] += a_.before[k * a_.blocks + block];
      }
      add_over_lanes(sum);
      if (lane() == 0) numbers_[k] = sum[0];
    }
    __syncthreads();
  }

  /// Calls `body(chunk)` for the chunks of this thread.
  template <class Body>
  __device__ void for_each_chunk(const Body& body) const {
    for_each_chunk(0, chunks_, body);
  }

  /// values += V numbers, times `sign`.
  __device__ void add_combination(const Chunk& of_field, S sign, Values& values) const {
    constexpr int loads = 128 / int(sizeof(Values));
    const Chunk chunk = whole(of_field);
    for (int first = 0; first < count_; first += loads) {
      Values v[loads];
#pragma unroll
      for (int u = 0; u < loads; ++u) v[u] = chunk.load(vector(min(first + u, count_ - 1)));
#pragma unroll
      for (int u = 0; u < loads; ++u) {
        if (first + u >= count_) continue;
        const Multiple c = multiple(first + u, sign);
#pragma unroll
        for (int e = 0; e < Chunk::elements; ++e) add_multiple(values.at[e], v[u].at[e], c);
      }
    }
  }

  /// rest = w - V numbers if that `subtracts`, and leaves the sums V* rest and |rest|^2. It goes by
  /// pieces of the rows, whose elements of V are in L1 still when they are read again.
  template <bool subtracts>
  __device__ void leave_rest() {
    constexpr int bytes_of_piece = 192 << 10;
    const int length = max(32, bytes_of_piece / int(sizeof(Values)) / max(1, count_));
    double norm[1] = {};
    for (int first = 0; first < chunks_; first += length) {
      const int end = min(first + length, chunks_);
      for_each_chunk(first, end, [&](const Chunk& chunk) { form_rest<subtracts>(chunk, norm[0]); });
      __syncthreads();
      add_products(static_cast<const S*>(a_.rest), first, end);
    }
    add_over_warps<1, threads_of_basis>(norm, warps);
    if (threadIdx.x == 0) a_.partials[count_ * size * a_.blocks + block_] = norm[0];
    leave_products();
  }

  /// Leaves the sums V* w.
  __device__ void leave_products(const S* w) {
    add_products(w, 0, chunks_);
    leave_products();
  }

 private:
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }
  /// Warps that share out the rows for as many vectors as one takes: all of them where vectors are
  /// few.
  __device__ int sharing() const {
    const int groups = (count_ + vectors_of_warp - 1) / vectors_of_warp;
    return groups > 0 && groups < warps ? warps / groups : 1;
  }

  template <class Body>
  __device__ void for_each_chunk(int first, int end, const Body& body) const {
    for (int i = first + int(threadIdx.x); i < end; i += threads_of_basis) body(chunk_at(i));
  }

  /// Begins the sums V* w, or adds to them, over some of the rows.
  __device__ void add_products(const S* w, int first, int end) {
    constexpr int numbers = vectors_of_warp * size;
    const int warps_of_group = sharing();
    for (int item = warp(); item / warps_of_group * vectors_of_warp < count_; item += warps) {
      double sums[numbers] = {};
      const int group = item / warps_of_group, part = item % warps_of_group;
      add_products_of(group * vectors_of_warp, w, first + 32 * part + lane(), end,
                      32 * warps_of_group, sums);
      add_over_lanes(sums);
      if (lane() != 0) continue;
#pragma unroll
      for (int n = 0; n < numbers; ++n) {
        double& sum = sums_[item * numbers + n];
        sum = first == 0 ? sums[n] : sum + sums[n];
      }
    }
  }
  __device__ void leave_products() const {
    constexpr int numbers = vectors_of_warp * size;
    __syncthreads();
    for (int k = threadIdx.x; k < count_ * size; k += threads_of_basis) {
      const int warps_of_group = sharing();
      const double* const of_warps = sums_ + k / numbers * warps_of_group * numbers + k % numbers;
      double sum = 0;
      for (int part = 0; part < warps_of_group; ++part) sum += of_warps[part * numbers];
      a_.partials[k * a_.blocks + block_] = sum;
    }
  }

  __device__ Chunk chunk_at(int i) const {
    const Offset at = first_ + i;
    const auto plane = a_.walk.planes == 1 ? 0u : unsigned(at / a_.chunks_of_plane);
    return Chunk(a_.walk, plane, at - plane * a_.chunks_of_plane);
  }
  /// The chunk of a vector of the basis: behind the last element lie zeros, so that no load has to
  /// ask, and many are on their way at once.
  __device__ static Chunk whole(Chunk chunk) {
    if constexpr (requires { chunk.count = 1; }) chunk.count = Chunk::elements;
    return chunk;
  }
  __device__ Multiple multiple(int k, S sign) const {
    Multiple c;
#pragma unroll
    for (int n = 0; n < size; ++n) c.component[n] = sign * S(numbers_[k * size + n]);
    return c;
  }

  template <bool subtracts>
  __device__ void form_rest(const Chunk& chunk, double& norm) const {
    Values w = chunk.load(static_cast<const S*>(a_.in));
    if constexpr (subtracts) {
      add_combination(chunk, S(-1), w);
      chunk.store(static_cast<S*>(a_.rest), w);
    }
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
      for (int n = 0; n < size; ++n) {
        norm += double(w.at[e].component[n]) * double(w.at[e].component[n]);
      }
    }
  }

  /// Adds the products with w of vectors from `k` on over every `step`th chunk.
  __device__ void add_products_of(int k, const S* w, int first, int end, int step,
                                  double* sums) const {
    constexpr int loads = 64 / (vectors_of_warp * int(sizeof(Values)));
    for (int i = first; i < end; i += loads * step) {
      Values v[loads][vectors_of_warp], of_w[loads];
#pragma unroll
      for (int u = 0; u < loads; ++u) {
        const Chunk chunk = chunk_at(i + u * step < end ? i + u * step : i);
#pragma unroll
        for (int n = 0; n < vectors_of_warp; ++n) {
          v[u][n] = whole(chunk).load(vector(min(k + n, count_ - 1)));
        }
        of_w[u] = chunk.load(w);
      }
#pragma unroll
      for (int u = 0; u < loads; ++u) {
        if (i + u * step >= end) continue;
#pragma unroll
        for (int n = 0; n < vectors_of_warp; ++n) {
#pragma unroll
          for (int e = 0; e < Chunk::elements; ++e) {
            add_conjugate_product(v[u][n].at[e], of_w[u].at[e], sums + n * size);
          }
        }
      }
    }
  }

  const BasisArguments& a_;
  int block_, count_;
  Offset first_;  // of its chunks
  int chunks_;
  double *numbers_, *sums_;
};

/// What an orthogonalization finds of the run: false if that has ended.
template <class M, bool start>
__device__ __forceinline__ bool read_basis(const BasisArguments& a, int& count) {
  const auto& side = *reinterpret_cast<const Side<M>*>(a.state->side[a.side]);
  count = start ? 0 : static_cast<int>(side.iteration) + 1;
  return side.end == loop_runs;
}

/// The sums V* w.
template <class M, class S, class Chunk>
__device__ __forceinline__ void basis_products(const BasisArguments& a) {
  follow_kernel_before();
  int count;
  if (!read_basis<M, false>(a, count)) return;
  BasisBlock<M, S, Chunk> block(a, blockIdx.x, count);
  block.leave_products(static_cast<const S*>(a.in));
}

/// rest = w - V h, and the sums V* rest and |rest|^2.
template <class M, bool start, class S, class Chunk>
__device__ __forceinline__ void basis_rest(const BasisArguments& a) {
  follow_kernel_before();
  if (start && is_leader() && a.state->limits.patience != 0) {
    a.state->limits.deadline = nanoseconds() + a.state->limits.patience;
  }
  int count;
  if (!read_basis<M, start>(a, count)) return;
  BasisBlock<M, S, Chunk> block(a, blockIdx.x, count);
  block.add_sums(start ? 0 : count * block.size);
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; k < count * block.size; k += threads_of_basis) {
      a.first[k] = block.numbers()[k];
    }
  }
  block.template leave_rest<!start>();
}

struct Norm {
  double value, inverse;  // 0 of 0
};

/// The norm that is left behind the second multiples, by Pythagoras, in every thread: those are
/// rounding beside the vector, unless nothing but rounding was left of it.
template <class S>
__device__ __forceinline__ Norm norm_left(const double* second, const double* first, int numbers) {
  __shared__ Norm norm;
  if (threadIdx.x < 32) {
    double sums[2] = {};
    for (int k = threadIdx.x; k < numbers; k += 32) {
      const double both = first[k] + second[k];
      sums[0] += second[k] * second[k];
      sums[1] += both * both;
    }
    add_over_lanes(sums);
    constexpr double rounding = sizeof(S) == 4 ? 0x1p-21 : 0x1p-50;
    const double left = second[numbers] - sums[0];
    if (threadIdx.x == 0) {
      norm.value = left > rounding * rounding * sums[1] ? ::sqrt(left) : left - left;
      norm.inverse = norm.value > 0 ? 1 / norm.value : 0.0;
    }
  }
  __syncthreads();
  return norm;
}

/// The numbers that decisions keep, where those find them in shared memory.
__device__ __forceinline__ void copy_kept(const BasisArguments& a, double* to, const double* from) {
  for (int k = threadIdx.x; k < a.staged; k += threads_of_basis) to[k] = from[k];
}

/// By thread 0 of one block: `decide(basis)`. `staged`: what was copied, and waited for.
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

/// V_count = out = (rest - V h) / norm; a block of its own takes the decision meanwhile.
template <class M, bool start, int i, class S, class Chunk>
__device__ __forceinline__ void basis_append(const BasisArguments& a) {
  using Decision = typename methods::step_at<listing_of<M, start>, i>::decision;
  follow_kernel_before();
  __shared__ BlockState<M, S> state;
  int count;
  const bool goes_on = read_basis<M, start>(a, count);
  if (!goes_on && blockIdx.x > 0) return;
  BasisBlock<M, S, Chunk> block(a, max(0, static_cast<int>(blockIdx.x) - 1), count);
  if (blockIdx.x == 0) {
    state.load(a.state, a.side);
    if (threadIdx.x == 0) state.concluded = 0;
    if (goes_on) copy_kept(a, block.behind_numbers(), a.kept);
  }
  Norm norm{};
  if (goes_on) {
    block.add_sums(count * block.size + 1);
    norm = norm_left<S>(block.numbers(), a.first, count * block.size);
  }
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; goes_on && k < count * block.size; k += threads_of_basis) {
      a.column[k] = a.first[k] + block.numbers()[k];
    }
    __syncthreads();
    if (goes_on) {
      decide_on_basis<M>(a, block.behind_numbers(), count, norm.value,
                         [&](auto& basis) { state.template decide<Decision>(basis); });
    }
    return state.write(a.state, a.side);
  }
  if (count == a.most) return;
  const S factor = S(norm.inverse);
  block.for_each_chunk([&](const Chunk& chunk) {
    auto w = chunk.load(static_cast<const S*>(start ? a.in : a.rest));
    if (!start) block.add_combination(chunk, S(-1), w);
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
      for (int n = 0; n < block.size; ++n) w.at[e].component[n] *= factor;
    }
    chunk.store(block.vector(count), w);
    chunk.store(static_cast<S*>(a.out), w);
  });
}

/// The coefficients of the solution, by one block.
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

/// out = V y, or out += V y where `adds`.
template <class M, class S, class Chunk, bool adds>
__device__ __forceinline__ void basis_combination(const BasisArguments& a) {
  follow_kernel_before();
  BasisBlock<M, S, Chunk> block(a, blockIdx.x, *a.count);
  for (int k = threadIdx.x; k < block.count() * block.size; k += threads_of_basis) {
    block.numbers()[k] = a.column[k];
  }
  __syncthreads();
  block.for_each_chunk([&](const Chunk& chunk) {
    S* const out = static_cast<S*>(a.out);
    typename Chunk::Values sum{};
    if (adds) sum = chunk.load(out);
    block.add_combination(chunk, S(1), sum);
    chunk.store(out, sum);
  });
}

}  // namespace heddle::device
