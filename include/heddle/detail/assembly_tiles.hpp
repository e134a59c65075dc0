// Sums of an assembly in a GPU's shared memory. A thread for each sum leaves the threads of a warp
// waiting for the diagonal's, which have the most terms, and reads each number of an element by
// itself. Here a block computes or reads all terms of some rows side by side, the numbers of an
// element's corner together, and sums them afterwards, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "heddle/detail/sliced.hpp"
#include "heddle/element_pattern.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"
#ifdef __CUDACC__
#include "heddle/cuda_call.hpp"
#endif

namespace heddle::detail {

template <class T>
HEDDLE_INLINE T sum_of_two(const T& a, const T& b) {
  if constexpr (std::is_arithmetic_v<T>) {
    return a + b;
  } else if constexpr (requires { add(a, b); }) {
    return add(a, b);
  } else {
    return add_components(a, b);
  }
}

/// A tile is a run of stored rows, summed by one block. Its terms are those of its rows' pieces,
/// one after the other: a piece is a corner a of an element e, with the terms (e, a, 0), (e, a, 1)
/// and so on. All elements have `corners` corners.
struct HEDDLE_EXPORT AssemblyTiles {
  static constexpr int threads = 128;  // of a block
  static constexpr unsigned usual_terms = 1024, most_terms = 3072;
  static constexpr std::size_t most_bytes_of_term = 16;

  unsigned count = 0;       // 0: a row is too long, elements differ, or nobody asked for tiles
  unsigned terms = 0;       // the most of a tile
  unsigned corners = 0;     // of an element
  unsigned reciprocal = 0;  // `reciprocal_of` them
  CornerCode code = {};
  const unsigned* first_piece = nullptr;  // count + 1
  const unsigned* first_entry = nullptr;  // count + 1
  const unsigned* piece = nullptr;        // codes of corners
  const std::uint16_t* place = nullptr;   // of each term in the tile, those of an entry together
  const unsigned* slot = nullptr;         // of each entry, increasing within a tile
  const std::uint16_t* end = nullptr;     // behind each entry's last place

  /// A term of the tile whose first piece is that.
  struct Term {
    unsigned first_piece, i;
  };
  /// Its number among those of all tiles.
  HEDDLE_INLINE unsigned number(const Term& term) const {
    return term.first_piece * corners + term.i;
  }
  HEDDLE_INLINE unsigned code_of(const Term& term) const {
    // i / corners without a division: both are at most `most_terms`.
    const auto own = static_cast<unsigned>(std::uint64_t(term.i) * reciprocal >> 31);
    return piece[term.first_piece + own] << code.bits | (term.i - own * corners);
  }
  static constexpr unsigned reciprocal_of(unsigned corners) { return (1U << 31) / corners + 1; }
};

/// Whether a block has room for a tile's terms of that type.
template <class Sum>
inline constexpr bool fits_in_tiles =
    std::is_trivially_copyable_v<Sum> && sizeof(Sum) <= AssemblyTiles::most_bytes_of_term;

/// The lists of `AssemblyTiles` on the host.
struct HEDDLE_EXPORT AssemblyTileLists {
  unsigned terms = 0;
  std::vector<unsigned> first_piece, first_entry, piece, slot;
  std::vector<std::uint16_t> place, end;
};

/// For each corner (e, a), element after element: where its piece begins if the pieces of all
/// stored rows lie one after the other.
HEDDLE_EXPORT std::vector<unsigned> row_places(const ElementPattern& pattern,
                                               const SlicedPattern& matrix);
/// `slots`: of the pattern's entries. Empty where elements differ in their corners, or a row has
/// more than `most_terms`.
HEDDLE_EXPORT AssemblyTileLists assembly_tiles(const ElementPattern& pattern,
                                               const SlicedPattern& matrix,
                                               const std::vector<Offset>& slots,
                                               const std::vector<unsigned>& row_places);

/// Two terms that are read together.
template <class S>
struct alignas(2 * sizeof(S)) TwoTerms {
  S first, second;
};

/// The work of one thread of the block that sums a tile: all `fill`, then all `add`. `Sums` has a
/// `Sum`, `term(tiles, term)` and `store(slot, sum)`; perhaps also `two_terms` of an even i,
/// called where its `in_twos` is true.
template <class Sums>
struct TileSums {
  using Sum = typename Sums::Sum;
  /// Where the terms of an entry are.
  struct Entry {
    unsigned slot, begin, end;
  };
  AssemblyTiles tiles;
  Sums sums;

  HEDDLE_INLINE void fill(unsigned tile, unsigned thread, Sum* shared) const {
    const unsigned first = tiles.first_piece[tile];
    const unsigned terms = (tiles.first_piece[tile + 1] - first) * tiles.corners;
    const std::uint16_t* const place = tiles.place + tiles.number({first, 0});
    if constexpr (requires { sums.two_terms(tiles, {first, 0}); }) {
      if (sums.in_twos) {
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
        for (unsigned i = 2 * thread; i < terms; i += 2 * AssemblyTiles::threads) {
          const TwoTerms<Sum> two = sums.two_terms(tiles, {first, i});
          shared[place[i]] = two.first;
          shared[place[i + 1]] = two.second;
        }
        return;
      }
    }
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (unsigned i = thread; i < terms; i += AssemblyTiles::threads) {
      shared[place[i]] = sums.term(tiles, {first, i});
    }
  }
  HEDDLE_INLINE unsigned entries(unsigned tile) const {
    return tiles.first_entry[tile + 1] - tiles.first_entry[tile];
  }
  HEDDLE_INLINE Entry entry(unsigned tile, unsigned i) const {
    if (i >= entries(tile)) return {};
    const unsigned at = tiles.first_entry[tile] + i;
    return {tiles.slot[at], i == 0 ? 0U : tiles.end[at - 1], tiles.end[at]};
  }
  /// `own`: entry `thread` of the tile, asked for before `fill`, whose loads it need not await.
  HEDDLE_INLINE void add(unsigned tile, unsigned thread, Entry own, const Sum* shared) const {
    for (unsigned i = thread; i < entries(tile); own = entry(tile, i)) {
      Sum sum{};
      for (unsigned at = own.begin; at < own.end; ++at) sum = sum_of_two(sum, shared[at]);
      sums.store(own.slot, sum);
      i += AssemblyTiles::threads;
    }
  }
};

#ifdef __CUDACC__
template <class Sums>
__global__ void __launch_bounds__(AssemblyTiles::threads) run_tile(const TileSums<Sums> work) {
  extern __shared__ double2 shared_terms[];
  auto* const shared = reinterpret_cast<typename Sums::Sum*>(shared_terms);
  const auto own = work.entry(blockIdx.x, threadIdx.x);
  work.fill(blockIdx.x, threadIdx.x, shared);
  __syncthreads();
  work.add(blockIdx.x, threadIdx.x, own, shared);
}

/// Queues one kernel.
template <class Sums>
void queue_tiles(const AssemblyTiles& tiles, const Sums& sums, const Stream& stream) {
  using Sum = typename Sums::Sum;
  static_assert(fits_in_tiles<Sum>);
  const cuda::OnGpu here(stream);
  run_tile<<<tiles.count, AssemblyTiles::threads, tiles.terms * sizeof(Sum), stream.queue>>>(
      TileSums<Sums>{tiles, sums});
  cuda::check(cudaGetLastError(), "the launch of an assembly");
}
#endif

}  // namespace heddle::detail
