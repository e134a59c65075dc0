// The share of one block in products of a basis with two vectors, and in combinations of the basis.
// A warp takes a few vectors to form products, so that registers hold few sums and many loads, and
// a thread takes a chunk of every vector to form a combination.
#pragma once

#include "heddle/kernels/basis_arguments.hpp"
#include "heddle/kernels/step.cuh"

namespace heddle::device {

/// V: scalar type of the stored vectors of the basis; other vectors use S.
template <class M, class S, class V, class Chunk>
class BasisBlock {
 public:
  using Values = typename Chunk::Values;
  using Multiple = Coefficient<M::ring, S>;
  static constexpr int size = ring_size(M::ring);
  static constexpr int warps = threads_of_basis / 32;
  static constexpr int vectors_of_warp = vectors_of_basis_warp(size);

  /// Block number `block` of those that share the rows, for a basis of `count` vectors.
  __device__ BasisBlock(const BasisArguments& a, int block, int count)
      : a_(a), block_(block), count_(count), first_(Offset(block) * a.chunks_of_block) {
    extern __shared__ __align__(32) double shared[];
    numbers_ = shared;
    sums_ = numbers_ + products_of_basis(a.most, size);
    chunks_ = int(min(Offset(a.chunks_of_block), a.chunks - first_));
  }

  __device__ double* numbers() const { return numbers_; }
  /// Room for a number of each vector and one more, once sums are left.
  __device__ double* scratch() const { return sums_; }
  __device__ double* after_numbers() const { return numbers_ + numbers_of_basis(a_.most, size); }
  __device__ int count() const { return count_; }
  __device__ V* vector(int k) const { return static_cast<V*>(a_.basis) + k * a_.stride; }
  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }

  /// Calls `body(chunk)` for the chunks of this thread.
  template <class Body>
  __device__ void for_each_chunk(const Body& body) const {
    for (int i = threadIdx.x; i < chunks_; i += threads_of_basis) body(chunk_at(i));
  }

  /// Same, from the last chunk backwards: data that an earlier kernel read last is in L2.
  template <class Body>
  __device__ void for_each_chunk_backwards(const Body& body) const {
    const int last_round = (chunks_ - 1) / threads_of_basis * threads_of_basis;
    for (int i = last_round + int(threadIdx.x); i >= 0; i -= threads_of_basis) {
      if (i < chunks_) body(chunk_at(i));
    }
  }

  /// values_j += V numbers_j, times `sign`, where `apart` numbers lie side by side. `begin`: the
  /// first vector, 0 for V, `most` for Z.
  template <int apart, int fields>
  __device__ void add_combination(int begin, const Chunk& of_field, S sign,
                                  Values (&values)[fields]) const {
    constexpr int loads = (size == 4 ? 64 : 128) / int(sizeof(Values));
    const Chunk chunk = whole(of_field);
    const int last = begin + count_ - 1;
    for (int first = 0; first < count_; first += loads) {
      Values v[loads];
#pragma unroll
      for (int u = 0; u < loads; ++u) v[u] = chunk.load(vector(min(begin + first + u, last)));
#pragma unroll
      for (int u = 0; u < loads; ++u) {
        if (first + u >= count_) continue;
#pragma unroll
        for (int j = 0; j < fields; ++j) {
          const double* const number = numbers_ + ((first + u) * apart + j) * size;
          Multiple c;
#pragma unroll
          for (int n = 0; n < size; ++n) c.component[n] = sign * S(number[n]);
#pragma unroll
          for (int e = 0; e < Chunk::elements; ++e) add_multiple(values[j].at[e], v[u].at[e], c);
        }
      }
    }
  }

  /// Leaves the sums V* u, V* w of each vector and, after those, |u|^2 and <u, w>.
  __device__ void leave_products() {
    constexpr int numbers = vectors_of_warp * numbers_of_vector;
    const int groups = count_ / vectors_of_warp + 1;
    // Where vectors are few, all warps share the rows.
    const int warps_of_group = groups < warps ? warps / groups : 1;
    for (int item = warp(); item < groups * warps_of_group; item += warps) {
      double sums[numbers] = {};
      const int group = item / warps_of_group, part = item % warps_of_group;
      add_products(group * vectors_of_warp, 32 * part + lane(), 32 * warps_of_group, sums);
      add_over_lanes(sums);
      if (lane() != 0) continue;
#pragma unroll
      for (int n = 0; n < numbers; ++n) sums_[item * numbers + n] = sums[n];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < (count_ + 1) * numbers_of_vector; k += threads_of_basis) {
      const double* const of_warps = sums_ + k / numbers * warps_of_group * numbers + k % numbers;
      double sum = 0;
      for (int part = 0; part < warps_of_group; ++part) sum += of_warps[part * numbers];
      a_.sums[k * a_.of_product + block_ * a_.of_block] = sum;
    }
  }
  /// Adds the sums of all blocks, as the numbers of each block.
  __device__ void add_products_of_blocks() {
    for (int k = warp(); k < (count_ + 1) * numbers_of_vector; k += warps) {
      double sum[1] = {};
      for (int block = lane(); block < a_.summed; block += 32) {
        sum[0] += a_.sums[k * a_.of_product + block * a_.of_block];
      }
      add_over_lanes(sum);
      if (lane() == 0) numbers_[k] = sum[0];
    }
    __syncthreads();
  }

 private:
  static constexpr int numbers_of_vector = 2 * size;

  __device__ Chunk chunk_at(int i) const {
    const Offset at = first_ + i;
    const auto plane = a_.walk.planes == 1 ? 0u : unsigned(at / a_.chunks_of_plane);
    return Chunk(a_.walk, plane, at - plane * a_.chunks_of_plane);
  }
  /// The chunk of a vector of the basis: zeros follow the last element, so that loads need no
  /// check, and many are in flight at once.
  __device__ static Chunk whole(Chunk chunk) {
    if constexpr (requires { chunk.count = 1; }) chunk.count = Chunk::elements;
    return chunk;
  }

  /// Adds the products of vectors from `k` on, of which u is the last, over every `step`th chunk.
  __device__ void add_products(int k, int first, int step, double* sums) const {
    for (int i = first; i < chunks_; i += step) {
      const Chunk chunk = chunk_at(i);
      Values v[vectors_of_warp];
#pragma unroll
      for (int n = 0; n < vectors_of_warp; ++n) {
        v[n] = whole(chunk).load(vector(max(0, min(k + n, count_ - 1))));
      }
      const Values u = chunk.load(static_cast<const S*>(a_.out));
      const Values w = chunk.load(static_cast<const S*>(a_.in));
#pragma unroll
      for (int n = 0; n < vectors_of_warp; ++n) {
        if (k + n >= count_) v[n] = u;
#pragma unroll
        for (int e = 0; e < Chunk::elements; ++e) {
          double* const of_vector = sums + n * numbers_of_vector;
          add_inner_product(v[n].at[e], u.at[e], of_vector);
          add_inner_product(v[n].at[e], w.at[e], of_vector + size);
        }
      }
    }
  }

  const BasisArguments& a_;
  int block_, count_;
  Offset first_;  // first of its chunks
  int chunks_;
  double *numbers_, *sums_;
};

}  // namespace heddle::device
