// A vector made orthogonal to a basis V, and a solution formed of it (methods::Orthogonalize and
// FormSolution). Gram-Schmidt twice takes three kernels: V* w; w -= V h with V* w of what is left,
// while the rows are in L1; and w -= V h once more. Blocks share out the rows, threads of a block
// first the vectors of the basis for each chunk of w, then warps the products of whole vectors.
#pragma once

#include "heddle/kernels/basis_arguments.hpp"
#include "heddle/kernels/step.cuh"

namespace heddle::device {

template <class M, class S, class Chunk>
class BasisBlock {
 public:
  using Values = typename Chunk::Values;
  using Multiple = Coefficient<M::ring, S>;
  using Number = Coefficient<M::ring, double>;
  static constexpr int size = ring_size(M::ring);
  static constexpr int parts = threads_of_basis / chunks_of_tile;
  static constexpr int warps = threads_of_basis / 32;

  /// Block number `block` of those that share the rows, before a basis of `count` vectors.
  __device__ BasisBlock(const BasisArguments& a, int block, int count)
      : a_(a),
        block_(block),
        count_(count),
        first_(a.chunks * block / a.blocks),
        end_(a.chunks * (block + 1) / a.blocks) {
    extern __shared__ __align__(32) double shared[];
    numbers_ = shared;
    sums_ = numbers_ + a.most * size + 1;
    tile_ = reinterpret_cast<Values*>(numbers_ + (numbers_of_basis(a.most, size) + 3) / 4 * 4);
  }

  double* numbers() const { return numbers_; }
  double* behind_numbers() const { return reinterpret_cast<double*>(tile_); }
  int count() const { return count_; }

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
  __device__ void clear_sums() {
    for (int k = threadIdx.x; k <= count_ * size; k += threads_of_basis) sums_[k] = 0;
  }
  __device__ void store_sums() {
    __syncthreads();
    for (int k = threadIdx.x; k <= count_ * size; k += threads_of_basis) {
      a_.partials[k * a_.blocks + block_] = sums_[k];
    }
  }

  /// Calls `body(first)` for every tile of chunks.
  template <class Body>
  __device__ void for_each_tile(const Body& body) {
    for (Offset first = first_; first < end_; first += chunks_of_tile) {
      body(first);
      __syncthreads();
    }
  }

  /// values += V numbers, times `sign`: in the threads of the first part, for its chunk.
  __device__ void add_combination(Offset first, S sign, Values& values) {
    const Offset chunk = first + place();
    if (chunk < end_) {
      const Chunk at = chunk_at(chunk);
#pragma unroll 4
      for (int k = part(); k < count_; k += parts) {
        const Values v = at.load(vector(k));
        const Multiple c = multiple(k, sign);
#pragma unroll
        for (int e = 0; e < Chunk::elements; ++e) add_multiple(values.at[e], v.at[e], c);
      }
    }
    if (part() > 0) tile_[threadIdx.x] = values;
    __syncthreads();
    if (part() > 0) return;
#pragma unroll
    for (int other = 1; other < parts; ++other) {
      const Values more = tile_[other * chunks_of_tile + place()];
#pragma unroll
      for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
        for (int k = 0; k < size; ++k) values.at[e].component[k] += more.at[e].component[k];
      }
    }
  }
  __device__ bool has_chunk(Offset first) const { return part() == 0 && first + place() < end_; }
  __device__ Values load(const void* field, Offset first) const {
    return chunk_at(first + place()).load(static_cast<const S*>(field));
  }
  __device__ void store(void* field, Offset first, const Values& values) const {
    chunk_at(first + place()).store(static_cast<S*>(field), values);
  }
  __device__ S* vector(int k) const { return static_cast<S*>(a_.basis) + k * a_.stride; }

  /// V* w and |w|^2 of a tile, whose threads of the first part have the values of w.
  __device__ void add_products(Offset first, const Values& values) {
    if (part() == 0) tile_[place()] = values;
    __syncthreads();
    const int there =
        static_cast<int>(end_ - first < chunks_of_tile ? end_ - first : Offset(chunks_of_tile));
    for (int k = warp(); k <= count_; k += warps) {
      double sums[size] = {};
#pragma unroll 4
      for (int at = lane(); at < there; at += 32) {
        const Values& w = tile_[at];
        if (k < count_) {
          const Values v = chunk_at(first + at).load(vector(k));
#pragma unroll
          for (int e = 0; e < Chunk::elements; ++e) {
            add_conjugate_product(v.at[e], w.at[e], sums);
          }
        } else {
#pragma unroll
          for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
            for (int n = 0; n < size; ++n) {
              sums[0] += double(w.at[e].component[n]) * double(w.at[e].component[n]);
            }
          }
        }
      }
      add_over_lanes(sums);
      if (lane() == 0) {
#pragma unroll
        for (int n = 0; n < (size > 1 ? size : 1); ++n) {
          if (k < count_ || n == 0) sums_[k * size + n] += sums[n];
        }
      }
    }
  }

 private:
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }
  __device__ static int part() { return threadIdx.x / chunks_of_tile; }
  __device__ static int place() { return threadIdx.x % chunks_of_tile; }

  __device__ Chunk chunk_at(Offset chunk) const {
    const auto plane = a_.walk.planes == 1 ? 0u : unsigned(chunk / a_.chunks_of_plane);
    return Chunk(a_.walk, plane, chunk - plane * a_.chunks_of_plane);
  }
  __device__ Multiple multiple(int k, S sign) const {
    Multiple c;
#pragma unroll
    for (int n = 0; n < size; ++n) c.component[n] = sign * S(numbers_[k * size + n]);
    return c;
  }

  const BasisArguments& a_;
  int block_, count_;
  Offset first_, end_;
  double *numbers_, *sums_;
  Values* tile_;
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
  block.clear_sums();
  block.for_each_tile([&](Offset first) {
    typename Chunk::Values w{};
    if (block.has_chunk(first)) w = block.load(a.in, first);
    block.add_products(first, w);
  });
  block.store_sums();
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
  block.clear_sums();
  block.add_sums(start ? 0 : count * block.size);
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; k < count * block.size; k += threads_of_basis) {
      a.first[k] = block.numbers()[k];
    }
  }
  block.for_each_tile([&](Offset first) {
    typename Chunk::Values w{};
    if (block.has_chunk(first)) w = block.load(a.in, first);
    if (!start) block.add_combination(first, S(-1), w);
    if (!start && block.has_chunk(first)) block.store(a.rest, first, w);
    __syncthreads();
    block.add_products(first, w);
  });
  block.store_sums();
}

/// The norm that is left behind the second multiples, by Pythagoras, in every thread: those are
/// rounding beside the vector, unless nothing but rounding was left of it.
template <class S>
__device__ __forceinline__ double norm_left(const double* second, const double* first,
                                            int numbers) {
  __shared__ double norm;
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
      norm = left > rounding * rounding * sums[1] ? ::sqrt(left) : left - left;
    }
  }
  __syncthreads();
  return norm;
}

/// By thread 0 of one block: `decide(basis)`, over the numbers that decisions keep.
template <class M, class Decide>
__device__ __forceinline__ void decide_on_basis(const BasisArguments& a, double* staged, int count,
                                                double norm, const Decide& decide) {
  using Number = Coefficient<M::ring, double>;
  for (int k = threadIdx.x; k < a.staged; k += blockDim.x) staged[k] = a.kept[k];
  __syncthreads();
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
  for (int k = threadIdx.x; k < a.staged; k += blockDim.x) a.kept[k] = staged[k];
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
  BasisBlock<M, S, Chunk> block(a, static_cast<int>(blockIdx.x) - 1, count);
  double norm = 0;
  if (goes_on) {
    block.add_sums(count * block.size + 1);
    norm = norm_left<S>(block.numbers(), a.first, count * block.size);
  }
  if (blockIdx.x == 0) {
    state.load(a.state, a.side);
    for (int k = threadIdx.x; goes_on && k < count * block.size; k += threads_of_basis) {
      a.column[k] = a.first[k] + block.numbers()[k];
    }
    if (threadIdx.x == 0) state.concluded = 0;
    __syncthreads();
    if (goes_on) {
      decide_on_basis<M>(a, block.behind_numbers(), count, norm,
                         [&](auto& basis) { state.template decide<Decision>(basis); });
    }
    return state.write(a.state, a.side);
  }
  if (count == a.most) return;
  const S factor = norm > 0 ? S(1 / norm) : S(0);
  block.for_each_tile([&](Offset first) {
    typename Chunk::Values w{};
    if (block.has_chunk(first)) w = block.load(start ? a.in : a.rest, first);
    if (!start) block.add_combination(first, S(-1), w);
    if (!block.has_chunk(first)) return;
#pragma unroll
    for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
      for (int n = 0; n < block.size; ++n) w.at[e].component[n] *= factor;
    }
    block.store(block.vector(count), first, w);
    block.store(a.out, first, w);
  });
}

/// The coefficients of the solution, by one block.
template <class M>
__device__ __forceinline__ void basis_solution(const BasisArguments& a) {
  follow_kernel_before();
  extern __shared__ __align__(32) double shared[];
  auto& side = *reinterpret_cast<Side<M>*>(a.state->side[a.side]);
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
  block.for_each_tile([&](Offset first) {
    typename Chunk::Values sum{};
    if (adds && block.has_chunk(first)) sum = block.load(a.out, first);
    block.add_combination(first, S(1), sum);
    if (block.has_chunk(first)) block.store(a.out, first, sum);
  });
}

}  // namespace heddle::device
