// The sums of an assembly, one source for the threads of a CPU and those of a GPU, whose kernel may
// be compiled at run time.
//
// On a GPU the terms lie in shared memory where it has room. One thread per sum would leave the
// threads of a warp waiting for the diagonal's, which have the most terms, and would read each
// number of an element separately. In tiles, a block computes or reads all terms of some rows side
// by side, the numbers of an element's corner together, and then sums them in the same order.
#pragma once

#include "heddle/entries/entry_place.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Numbers a corner a of element e, or a pair (a, b) of its corners, in 32 bits.
struct HEDDLE_EXPORT CornerCode {
  int bits = 0;  // bits of a corner's number within its element

  HEDDLE_INLINE Offset element_of_corner(unsigned corner) const { return corner >> bits; }
  HEDDLE_INLINE Offset element_of_term(unsigned term) const { return term >> bits >> bits; }
  /// `a` of a corner, and `b` of a term.
  HEDDLE_INLINE int last(unsigned code) const {
    return static_cast<int>(code & ((1U << bits) - 1));
  }
  /// `a` of a term.
  HEDDLE_INLINE int first_of_term(unsigned term) const { return last(term >> bits); }
};

namespace detail {

template <class T>
HEDDLE_INLINE T sum_of_two(const T& a, const T& b) {
  if constexpr (!__is_class(T)) {
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
  static constexpr int threads = 128;  // per block
  static constexpr unsigned usual_terms = 1024, max_terms = 3072;
  static constexpr unsigned max_bytes_of_term = 16;

  unsigned count = 0;       // 0: a row is too long, elements differ, or tiles were not requested
  unsigned terms = 0;       // most terms of a tile
  unsigned corners = 0;     // corners per element
  unsigned reciprocal = 0;  // `reciprocal_of(corners)`
  CornerCode code = {};
  const unsigned* first_piece = nullptr;  // count + 1
  const unsigned* first_entry = nullptr;  // count + 1
  const unsigned* piece = nullptr;        // codes of corners
  const unsigned short* place = nullptr;  // each term's place in the tile, an entry's terms
                                          // together
  const unsigned* slot = nullptr;         // slot of each entry, increasing within a tile
  const unsigned short* end = nullptr;    // one past each entry's last place

  /// Term i of the tile whose first piece is `first_piece`.
  struct Term {
    unsigned first_piece, i;
  };
  /// The term's number among those of all tiles.
  HEDDLE_INLINE unsigned number(const Term& term) const {
    return term.first_piece * corners + term.i;
  }
  HEDDLE_INLINE unsigned code_of(const Term& term) const {
    // i / corners without a division: both are at most `max_terms`.
    const auto own = static_cast<unsigned>(1ULL * term.i * reciprocal >> 31);
    return piece[term.first_piece + own] << code.bits | (term.i - own * corners);
  }
  static constexpr unsigned reciprocal_of(unsigned corners) { return (1U << 31) / corners + 1; }
};

/// True if a block has room for a tile's terms of type `Sum`.
template <class Sum>
inline constexpr bool fits_in_tiles =
    __is_trivially_copyable(Sum) && sizeof(Sum) <= AssemblyTiles::max_bytes_of_term;

/// Two terms that are read together.
template <class S>
struct alignas(2 * sizeof(S)) TwoTerms {
  S first, second;
};

/// The work of one thread of the block that sums a tile: all `fill`, then all `add`. `Sums` has a
/// `Sum`, `term(tiles, term)` and `store(slot, sum)`, and optionally `two_terms` for an even i,
/// called if `in_twos` is true.
template <class Sums>
struct TileSums {
  using Sum = typename Sums::Sum;
  /// The slot of an entry and the range of its terms.
  struct Entry {
    unsigned slot, begin, end;
  };
  AssemblyTiles tiles;
  Sums sums;

  HEDDLE_INLINE void fill(unsigned tile, unsigned thread, Sum* shared) const {
    const unsigned first = tiles.first_piece[tile];
    const unsigned terms = (tiles.first_piece[tile + 1] - first) * tiles.corners;
    const unsigned short* const place = tiles.place + tiles.number({first, 0});
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
  /// `own`: entry `thread` of the tile, requested before `fill` so as not to wait for the loads
  /// there.
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
/// Sums the block's tile.
template <class Sums>
__device__ __forceinline__ void sum_tile(const TileSums<Sums>& work) {
  extern __shared__ double2 shared_terms[];
  auto* const shared = reinterpret_cast<typename Sums::Sum*>(shared_terms);
  const auto own = work.entry(blockIdx.x, threadIdx.x);
  work.fill(blockIdx.x, threadIdx.x, shared);
  __syncthreads();
  work.add(blockIdx.x, threadIdx.x, own, shared);
}
#endif

/// The lists of an assembly, in the device's memory.
struct HEDDLE_EXPORT AssemblyLists {
  CornerCode code;
  const unsigned* first_term;  // slots + 1; a slot of padding has no terms
  const unsigned* term;
  const Index* row;              // row of each slot, in the row basis
  const Index* column;           // column of each slot, in the column basis
  const unsigned* first_corner;  // rows + 1, in the row basis
  const unsigned* corner;
  AssemblyTiles tiles;
};

template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<const T> : ValueOf<T> {};
template <class T>
struct ValueOf<T&> : ValueOf<T> {};
template <class T>
struct ValueOf<T&&> : ValueOf<T> {};

/// True if a kernel finds its entries by their codes, `at(term)`, as element values do.
template <class Kernel>
inline constexpr bool takes_codes = false;

template <class T>
const T& any_object();  // only in types

/// The types that a kernel returns for a pair of corners and for a corner.
template <class Kernel>
struct TermOf {
  using type = typename ValueOf<decltype(any_object<Kernel>().entry(0, 0, 0))>::type;
};
template <class Kernel>
struct CornerTermOf {
  using type = typename ValueOf<decltype(any_object<Kernel>().vector(0, 0))>::type;
};

/// The pass over slots, and over the tiles of a GPU.
template <class E, class Kernel>
struct AssembleEntries {
  using Sum = typename TermOf<Kernel>::type;
  Offset count;
  AssemblyLists lists;
  Kernel kernel;
  stored_scalar_t<E>* values;
  Index C;
  SlotFormula<E::components> place;

  HEDDLE_INLINE Sum term(unsigned code) const {
    if constexpr (takes_codes<Kernel>) {
      return kernel.at(code);
    } else {
      return kernel.entry(lists.code.element_of_term(code), lists.code.first_of_term(code),
                          lists.code.last(code));
    }
  }
  HEDDLE_INLINE Sum term(const AssemblyTiles& tiles, const AssemblyTiles::Term& at) const {
    return term(tiles.code_of(at));
  }
  HEDDLE_INLINE void operator()(Offset slot) const {
    const unsigned first = lists.first_term[slot], end = lists.first_term[slot + 1];
    if (first == end) return;
    Sum sum{};
    for (unsigned at = first; at < end; ++at) sum = sum_of_two(sum, term(lists.term[at]));
    store(slot, sum);
  }
  HEDDLE_INLINE void store(Offset slot, const Sum& sum) const {
    if constexpr (requires { kernel.finish(sum, EntryPlace()); }) {
      write(slot, kernel.finish(sum, EntryPlace{slot, lists.row[slot], lists.column[slot]}));
    } else {
      write(slot, sum);
    }
  }
  /// Same as `EntryWriter`, which run-time compilers do not see.
  HEDDLE_INLINE void write(Offset slot, const E& entry) const {
    const Offset lane = slot % C;
    for (int k = 0; k < E::components; ++k) {
      values[place(slot - lane, static_cast<int>(lane), k)] = entry.component[k];
    }
  }
};

/// The pass over rows.
template <class E, class Kernel>
struct AssembleVectors {
  using V = result_entry_t<E>;
  using Sum = typename CornerTermOf<Kernel>::type;
  Offset count;
  AssemblyLists lists;
  Kernel kernel;
  typename V::scalar* data;
  Offset entry_stride, component_stride;

  HEDDLE_INLINE void operator()(Offset row) const {
    Sum sum{};
    for (unsigned at = lists.first_corner[row]; at < lists.first_corner[row + 1]; ++at) {
      const unsigned corner = lists.corner[at];
      sum = sum_of_two(
          sum, kernel.vector(lists.code.element_of_corner(corner), lists.code.last(corner)));
    }
    if constexpr (requires { kernel.finish(sum, Index()); }) {
      write(row, kernel.finish(sum, static_cast<Index>(row)));
    } else {
      write(row, sum);
    }
  }
  HEDDLE_INLINE void write(Offset row, const V& value) const {
    for (int k = 0; k < V::components; ++k) {
      data[row * entry_stride + k * component_stride] = value.component[k];
    }
  }
};

}  // namespace detail

}  // namespace heddle
