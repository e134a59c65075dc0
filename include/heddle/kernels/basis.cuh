// A vector made orthogonal to a basis V, and a solution formed of it (methods::Orthogonalize and
// FormSolution). Gram-Schmidt twice takes three kernels: V* w; w -= V h with V* w of what is left,
// while the rows are in L1; and w -= V h once more. Blocks share out the rows, and a thread takes a
// chunk of every vector, many loads at a time.
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
  /// Vectors whose products a thread sums at a time, as registers hold their numbers.
  static constexpr int vectors_of_pass = 16 / size;
  static constexpr int loads_at_once = size == 4 ? 4 : 8;

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
  /// Those of this one, whose last is |w|^2.
  __device__ void store_sums() const {
    for (int k = threadIdx.x; k <= count_ * size; k += threads_of_basis) {
      a_.partials[k * a_.blocks + block_] = sums_[k];
    }
  }

  /// Calls `body(chunk)` for the chunks of this thread.
  template <class Body>
  __device__ void for_each_chunk(const Body& body) const {
    for (Offset at = first_ + threadIdx.x; at < end_; at += threads_of_basis) {
      const auto plane = a_.walk.planes == 1 ? 0u : unsigned(at / a_.chunks_of_plane);
      body(Chunk(a_.walk, plane, at - plane * a_.chunks_of_plane));
    }
  }

  /// The chunk of a vector of the basis: behind the last element lie zeros, so that no load has to
  /// ask, and many are on their way at once.
  __device__ static Chunk whole(Chunk chunk) {
    if constexpr (requires { chunk.count = 1; }) chunk.count = Chunk::elements;
    return chunk;
  }

  /// values += V numbers, times `sign`.
  __device__ void add_combination(const Chunk& of_field, S sign, Values& values) const {
    const Chunk chunk = whole(of_field);
    for (int first = 0; first < count_; first += loads_at_once) {
      Values v[loads_at_once];
#pragma unroll
      for (int u = 0; u < loads_at_once; ++u) {
        v[u] = chunk.load(vector(min(first + u, count_ - 1)));
      }
#pragma unroll
      for (int u = 0; u < loads_at_once; ++u) {
        if (first + u >= count_) continue;
        const Multiple c = multiple(first + u, sign);
#pragma unroll
        for (int e = 0; e < Chunk::elements; ++e) add_multiple(values.at[e], v[u].at[e], c);
      }
    }
  }

  /// rest = w - V numbers if that `subtracts`, and the sums V* rest and |rest|^2.
  template <bool subtracts>
  __device__ void sum_products() {
    sum_pass<subtracts>(0);
    for (int first = vectors_of_pass; first < count_; first += vectors_of_pass) {
      sum_pass<false>(first);
    }
  }

 private:
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }

  __device__ Multiple multiple(int k, S sign) const {
    Multiple c;
#pragma unroll
    for (int n = 0; n < size; ++n) c.component[n] = sign * S(numbers_[k * size + n]);
    return c;
  }

  /// A pass over the vectors from `first` on, as few at a time as there are.
  template <bool subtracts>
  __device__ void sum_pass(int first) {
    constexpr int half = vectors_of_pass / 2;
    const int vectors = min(vectors_of_pass, count_ - first);
    if (vectors <= half) return sum_vectors<half, subtracts>(first, vectors);
    sum_vectors<vectors_of_pass, subtracts>(first, vectors);
  }

  template <int Vectors, bool subtracts>
  __device__ void sum_vectors(int first, int vectors) {
    double sums[Vectors * size] = {}, norm[1] = {};
    for_each_chunk([&](const Chunk& chunk) {
      Values w = chunk.load(static_cast<const S*>(first == 0 ? a_.in : a_.rest));
      if constexpr (subtracts) {
        add_combination(chunk, S(-1), w);
        chunk.store(static_cast<S*>(a_.rest), w);
      }
      if (vectors > 0) {
#pragma unroll
        for (int u = 0; u < Vectors; ++u) {
          const Values v = whole(chunk).load(vector(first + min(u, vectors - 1)));
#pragma unroll
          for (int e = 0; e < Chunk::elements; ++e) {
            add_conjugate_product(v.at[e], w.at[e], sums + u * size);
          }
        }
      }
      if (first != 0) return;
#pragma unroll
      for (int e = 0; e < Chunk::elements; ++e) {
#pragma unroll
        for (int n = 0; n < size; ++n) {
          norm[0] += double(w.at[e].component[n]) * double(w.at[e].component[n]);
        }
      }
    });
    add_over_block<Vectors * size>(sums, vectors * size, sums_ + first * size);
    if (first != 0) return;
    add_over_warps<1, threads_of_basis>(norm, warps);
    if (threadIdx.x == 0) sums_[count_ * size] = norm[0];
    __syncthreads();
  }

  /// The sums over all threads of the first `count` of N numbers each, to `to`. Eight at a time:
  /// lanes exchange halves of them, so that each ends with one.
  template <int N>
  __device__ static void add_over_block(double (&x)[N], int count, double* to) {
    __shared__ double of_warp[warps][N];
#pragma unroll
    for (int first = 0; first < N; first += 8) {
#pragma unroll
      for (int half = 4; half >= 1; half /= 2) {
        const bool upper = (lane() & (4 * half)) != 0;
#pragma unroll
        for (int i = 0; i < half; ++i) {
          double& low = x[first + i];
          const double high = x[first + i + half];
          const double sent = __shfl_xor_sync(all_lanes, upper ? low : high, 4 * half);
          low = (upper ? high : low) + sent;
        }
      }
      x[first] += __shfl_xor_sync(all_lanes, x[first], 2);
      x[first] += __shfl_xor_sync(all_lanes, x[first], 1);
      if (lane() % 4 == 0) of_warp[warp()][first + lane() / 4] = x[first];
    }
    __syncthreads();
    if (threadIdx.x < count) {
      double sum = 0;
      for (int w = 0; w < warps; ++w) sum += of_warp[w][threadIdx.x];
      to[threadIdx.x] = sum;
    }
    __syncthreads();
  }

  const BasisArguments& a_;
  int block_, count_;
  Offset first_, end_;
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
  block.template sum_products<false>();
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
  block.add_sums(start ? 0 : count * block.size);
  if (blockIdx.x == 0) {
    for (int k = threadIdx.x; k < count * block.size; k += threads_of_basis) {
      a.first[k] = block.numbers()[k];
    }
  }
  block.template sum_products<!start>();
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
