#include "field_block_cuda.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/cuda_call.hpp"
#include "heddle/kernels/reduce.cuh"

namespace heddle::cuda {

namespace {

constexpr unsigned warps_of_block = threads_of_block / 32;

template <class S>
struct Block {
  S* field[max_fields];
  int count;
};

/// T: S or const S.
template <class T, class S>
Block<T> block_of(std::span<const FieldView<S>> fields) {
  Block<T> block{};
  for (const FieldView<S>& field : fields) block.field[block.count++] = field.data;
  return block;
}

/// Products that a warp sums: I fields of U and J of V, so that registers hold the sums and each
/// loaded element is multiplied by several others.
template <Ring R>
struct Tile {
  static constexpr int I = R == Ring::quaternion ? 2 : 4;
  static constexpr int J = R == Ring::real ? 4 : 2;
};

/// The places where a call leaves <u_i, v_j>. The grid has a warp in y for each tile of products,
/// and a block in x for each part of the elements.
struct Sums {
  double* partials;  // one for each part and component of a number
  unsigned parts;
  bool hermitian;
  bool diagonal;              // only <u_k, v_k>, whose number is k
  Offset of_part = 1;         // stride from one part to the next
  Offset of_number = 0;       // stride of components; `parts` unless parts are groups of rows
  Offset chunks_of_part = 0;  // adjacent chunks of each such group; 0: parts take turns
};

template <Ring R, int I, int J, class Chunk, class S>
__global__ void __launch_bounds__(threads_of_block)
    sum_products(const __grid_constant__ Walk walk, const __grid_constant__ Block<const S> u,
                 const __grid_constant__ Block<const S> v, Sums to) {
  constexpr int size = ring_size(R);
  const int tile = static_cast<int>(blockIdx.y * warps_of_block + threadIdx.x / 32);
  const int tiles_of_u = (u.count + I - 1) / I;
  const int i0 = to.diagonal ? tile * I : tile % tiles_of_u * I;
  const int j0 = to.diagonal ? i0 : tile / tiles_of_u * J;
  if (i0 >= u.count || j0 >= v.count || (to.hermitian && i0 > j0 + J - 1)) return;
  double sums[I * J * size] = {};
  const Offset chunks = (walk.elements + Chunk::elements - 1) / Chunk::elements;
  for (unsigned plane = 0; plane < walk.planes; ++plane) {
    const bool in_groups = to.chunks_of_part > 0;
    const Offset first = Offset(blockIdx.x) * (in_groups ? to.chunks_of_part : 32);
    const Offset end = in_groups ? min(chunks, first + to.chunks_of_part) : chunks;
    const Offset step = in_groups ? 32 : Offset(to.parts) * 32;
    for (Offset at = first + threadIdx.x % 32; at < end; at += step) {
      const Chunk chunk(walk, plane, at);
      typename Chunk::Values left[I], right[J];
#pragma unroll
      for (int i = 0; i < I; ++i) left[i] = chunk.load(u.field[i0 + i < u.count ? i0 + i : i0]);
#pragma unroll
      for (int j = 0; j < J; ++j) right[j] = chunk.load(v.field[j0 + j < v.count ? j0 + j : j0]);
#pragma unroll
      for (int e = 0; e < Chunk::elements; ++e) {
        if (e >= chunk.count) continue;
#pragma unroll
        for (int j = 0; j < J; ++j) {
#pragma unroll
          for (int i = 0; i < I; ++i) {
            add_inner_product(left[i].at[e], right[j].at[e], sums + (j * I + i) * size);
          }
        }
      }
    }
  }
  device::add_over_lanes(sums);
  if (threadIdx.x % 32 != 0) return;
#pragma unroll
  for (int j = 0; j < J; ++j) {
#pragma unroll
    for (int i = 0; i < I; ++i) {
      if (i0 + i >= u.count || j0 + j >= v.count) continue;
      const int number = to.diagonal ? i0 : (j0 + j) * u.count + i0 + i;
#pragma unroll
      for (int c = 0; c < size; ++c) {
        to.partials[Offset(number * size + c) * to.of_number + Offset(blockIdx.x) * to.of_part] =
            sums[(j * I + i) * size + c];
      }
    }
  }
}

/// One warp for each number.
__global__ void __launch_bounds__(threads_of_block)
    add_parts(const double* partials, unsigned parts, Offset numbers, double* results) {
  const Offset number = Offset(blockIdx.x) * warps_of_block + threadIdx.x / 32;
  if (number >= numbers) return;
  double sum[1] = {};
  for (unsigned part = threadIdx.x % 32; part < parts; part += 32) {
    sum[0] += partials[number * parts + part];
  }
  device::add_over_lanes(sum);
  if (threadIdx.x % 32 == 0) results[number] = sum[0];
}

/// One thread for each chunk of J fields of `to`.
template <Ring R, int J, class Chunk, class S>
__global__ void __launch_bounds__(threads_of_block)
    combine_chunks(const __grid_constant__ Walk walk, const __grid_constant__ Block<const S> from,
                   const S* c, const __grid_constant__ Block<S> to, bool adds) {
  constexpr int size = ring_size(R);
  const unsigned plane = blockIdx.x / walk.blocks_of_plane;
  const Offset at = walk.chunk(blockIdx.x % walk.blocks_of_plane, 0, static_cast<int>(threadIdx.x));
  if (at * Chunk::elements >= walk.elements) return;
  const Chunk chunk(walk, plane, at);
  const int j0 = static_cast<int>(blockIdx.y) * J;
  typename Chunk::Values sum[J] = {};
  if (adds) {
#pragma unroll
    for (int j = 0; j < J; ++j) {
      if (j0 + j < to.count) sum[j] = chunk.load(to.field[j0 + j]);
    }
  }
#pragma unroll 2
  for (int i = 0; i < from.count; ++i) {
    const auto values = chunk.load(from.field[i]);
#pragma unroll
    for (int j = 0; j < J; ++j) {
      const S* const factor = c + (Offset(j0 + j < to.count ? j0 + j : j0) * from.count + i) * size;
      Coefficient<R, S> number;
#pragma unroll
      for (int k = 0; k < size; ++k) number.component[k] = __ldg(factor + k);
#pragma unroll
      for (int e = 0; e < Chunk::elements; ++e) add_multiple(sum[j].at[e], values.at[e], number);
    }
  }
#pragma unroll
  for (int j = 0; j < J; ++j) {
    if (j0 + j < to.count) chunk.store(to.field[j0 + j], sum[j]);
  }
}

template <class S>
bool are_aligned(std::span<const FieldView<S>> fields) {
  return std::all_of(fields.begin(), fields.end(), [](const FieldView<S>& field) {
    return reinterpret_cast<std::uintptr_t>(field.data) % 16 == 0;
  });
}

/// Calls `body.operator()<Chunk>()` with the type by which threads take the elements of such
/// fields.
template <Ring R, class S, class Body>
void with_chunk(const FieldView<S>& shape, bool aligned, const Body& body) {
  if constexpr (R != Ring::real) {
    if (!is_contiguous<R>(shape)) return body.template operator()<PlanarChunk<R, S>>();
  }
  aligned ? body.template operator()<ContiguousChunk<R, S, true>>()
          : body.template operator()<ContiguousChunk<R, S, false>>();
}

unsigned divided_up(Offset count, unsigned by) {
  return static_cast<unsigned>((count + by - 1) / by);
}

// Enough parts to fill every current GPU. Large Gram matrices fill it by their tiles, and have
// fewer.
constexpr Offset max_parts = 128, min_parts = 16;
constexpr Offset usual_partials = Offset(1) << 20;

/// Depends only on numbers and elements, so that bits do not depend on the GPU.
unsigned parts_of(Offset numbers, Offset elements) {
  constexpr Offset elements_of_part = 256;
  const Offset most = std::clamp(usual_partials / numbers, min_parts, max_parts);
  return static_cast<unsigned>(std::clamp<Offset>(elements / elements_of_part, 1, most));
}

template <Ring R, int I, int J, class S>
void launch_products(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v,
                     const Walk& walk, const Sums& sums, const Stream& stream) {
  const auto rows = static_cast<Offset>(u.size()), columns = static_cast<Offset>(v.size());
  const Offset tiles = sums.diagonal ? rows : Offset(divided_up(rows, I)) * divided_up(columns, J);
  const dim3 grid(sums.parts, divided_up(tiles, warps_of_block));
  const auto launch = [&]<class Chunk>() {
    sum_products<R, I, J, Chunk, S><<<grid, threads_of_block, 0, stream.queue>>>(
        walk, block_of<const S>(u), block_of<const S>(v), sums);
  };
  with_chunk<R>(u.front(), are_aligned(u) && are_aligned(v), launch);
  check(cudaGetLastError(), "launch of a Gram matrix");
}

/// Count of numbers in `sums`: the whole matrix, Hermitian or not, or the diagonal alone.
template <Ring R, class S>
Offset numbers_of(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v,
                  const Sums& sums) {
  const auto rows = static_cast<Offset>(u.size()), columns = static_cast<Offset>(v.size());
  return (sums.diagonal ? rows : rows * columns) * ring_size(R);
}

template <Ring R, int I, int J, class S>
void launch_sums(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v, Sums sums,
                 double* results, const Stream& stream) {
  const Offset numbers = numbers_of<R>(u, v, sums);
  const Walk walk = walk_over<R>(u.front(), 1);
  sums.parts = parts_of(numbers, walk.elements * walk.planes);
  sums.of_number = sums.parts;
  const OnGpu here(stream);
  launch_products<R, I, J>(u, v, walk, sums, stream);
  add_parts<<<divided_up(numbers, warps_of_block), threads_of_block, 0, stream.queue>>>(
      sums.partials, sums.parts, numbers, results);
  check(cudaGetLastError(), "launch of the sums of a Gram matrix");
}

/// A part is a group of 256 rows, whose elements are whole chunks.
template <Ring R, int I, int J, class S>
void launch_sums_of_groups(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v,
                           Sums sums, const Stream& stream) {
  const FieldView<S>& shape = u.front();
  if (!shape.is_aos()) throw Error(ErrorKind::usage, "ranks on GPUs share fields of type aos");
  if (shape.size == 0) return;
  constexpr int elements = ChunkValues<R, S>::elements;
  static_assert(rows_of_group % elements == 0);
  sums.parts = static_cast<unsigned>(groups_of(shape.size));
  sums.of_part = numbers_of<R>(u, v, sums);
  sums.of_number = 1;
  sums.chunks_of_part = Offset(rows_of_group) * (shape.components / ring_size(R)) / elements;
  const OnGpu here(stream);
  launch_products<R, I, J>(u, v, walk_over<R>(shape, 1), sums, stream);
}

}  // namespace

Offset partials_of_block(Offset numbers) {
  return std::min(max_parts * numbers, std::max(usual_partials, min_parts * numbers));
}

template <Ring R, class S>
void gram(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v, bool hermitian,
          double* partials, double* results, const Stream& stream) {
  launch_sums<R, Tile<R>::I, Tile<R>::J>(u, v, {partials, 0, hermitian, false}, results, stream);
}

template <Ring R, class S>
void gram_of_groups(std::span<const FieldView<S>> u, std::span<const FieldView<S>> v,
                    bool hermitian, double* partials, const Stream& stream) {
  launch_sums_of_groups<R, Tile<R>::I, Tile<R>::J>(u, v, {partials, 0, hermitian, false}, stream);
}

template <class S>
void squared_norms_of_groups(std::span<const FieldView<S>> u, double* partials,
                             const Stream& stream) {
  launch_sums_of_groups<Ring::real, 1, 1>(u, u, {partials, 0, false, true}, stream);
}

template <class S>
void squared_norms(std::span<const FieldView<S>> u, double* partials, double* results,
                   const Stream& stream) {
  launch_sums<Ring::real, 1, 1>(u, u, {partials, 0, false, true}, results, stream);
}

template <Ring R, class S>
void combine(std::span<const FieldView<S>> from, const S* c, std::span<const FieldView<S>> to,
             bool adds, const Stream& stream) {
  constexpr int J = 4;
  const FieldView<S>& shape = to.front();
  if (shape.scalars() == 0) return;
  const Walk walk = walk_over<R>(shape, 1);
  const dim3 grid(walk.blocks(), divided_up(static_cast<Offset>(to.size()), J));
  const OnGpu here(stream);
  const auto launch = [&]<class Chunk>() {
    combine_chunks<R, J, Chunk, S><<<grid, threads_of_block, 0, stream.queue>>>(
        walk, block_of<const S>(from), c, block_of<S>(to), adds);
  };
  with_chunk<R>(shape, are_aligned(from) && are_aligned(to), launch);
  check(cudaGetLastError(), "launch of a combination of fields");
}

#define HEDDLE_INSTANTIATE_RING(R, S)                                                              \
  template void gram<R, S>(std::span<const FieldView<S>>, std::span<const FieldView<S>>, bool,     \
                           double*, double*, const Stream&);                                       \
  template void gram_of_groups<R, S>(std::span<const FieldView<S>>, std::span<const FieldView<S>>, \
                                     bool, double*, const Stream&);                                \
  template void combine<R, S>(std::span<const FieldView<S>>, const S*,                             \
                              std::span<const FieldView<S>>, bool, const Stream&);
#define HEDDLE_INSTANTIATE(S)                                                                      \
  template void squared_norms<S>(std::span<const FieldView<S>>, double*, double*, const Stream&);  \
  template void squared_norms_of_groups<S>(std::span<const FieldView<S>>, double*, const Stream&); \
  HEDDLE_INSTANTIATE_RING(Ring::real, S)                                                           \
  HEDDLE_INSTANTIATE_RING(Ring::complex, S)                                                        \
  HEDDLE_INSTANTIATE_RING(Ring::quaternion, S)
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)

}  // namespace heddle::cuda
