// New values on their way into slots: the work of each thread of a block, on a GPU and, in a test,
// on the host.
//
// Blocks take slots in their order, so that they write lines of memory one after the other and
// whole; a part of a sector that is not in the cache would cost a read of the sector from memory.
// They read where the slots' entries lie in the user's array. Neighbouring threads read scalars of
// one entry; where components lie apart, they pass through shared memory, and neighbouring threads
// write one component of neighbouring slots.
#pragma once

#include <algorithm>

#include "heddle/detail/place_values.hpp"

namespace heddle::detail {

inline constexpr unsigned threads_of_tile = 256;
inline constexpr unsigned loads_on_the_way = 4;  // loads of a thread before it needs the first

/// Entries of the host's memory that pass through a buffer at a time. The blocks walk all slots for
/// each piece: more than a few pieces would spend more time on that than on values.
inline Offset entries_of_piece(Offset entries, Offset entry_bytes) {
  constexpr Offset usual_bytes = Offset(64) << 20, max_pieces = 32;
  return std::min(entries,
                  std::max(usual_bytes / entry_bytes, (entries + max_pieces - 1) / max_pieces));
}

/// Division of n by a number, exact while n * number < 2^32.
struct Divisor {
  unsigned long long reciprocal;

  explicit Divisor(unsigned number) : reciprocal((1ULL << 32) / number + 1) {}
  HEDDLE_INLINE unsigned divide(unsigned n) const {
    return static_cast<unsigned>(n * reciprocal >> 32);
  }
};

/// An EntryMap as kernels read it, with numbers of 32 or 64 bits.
template <class N>
struct StoredMap {
  using Number = N;
  const N* number;
  HEDDLE_INLINE N operator[](Offset slot) const { return number[slot]; }
};
/// The map of slots that hold their entries in order.
struct IdentityMap {
  using Number = Offset;
  HEDDLE_INLINE Offset operator[](Offset slot) const { return slot; }
};

template <class Visit>
void visit_map(const EntryMap& map, const Visit& visit) {
  if (map.narrow() != nullptr) return visit(StoredMap<unsigned>{map.narrow()});
  if (map.wide() != nullptr) return visit(StoredMap<Offset>{map.wide()});
  visit(IdentityMap{});
}

/// The entry in a slot, among those whose values are at hand: [first, first + count).
template <class Map>
struct GivenEntries {
  using Number = typename Map::Number;
  static constexpr Number padding = static_cast<Number>(-1);
  static constexpr Offset none = -1;

  Map map;
  Offset first, count;

  /// Counted from `first`; `none` for other entries and padding, which is beyond or below all.
  HEDDLE_INLINE Offset among(Number number) const {
    const Offset i = static_cast<Offset>(number) - first;
    return i >= 0 && i < count ? i : none;
  }
};

/// Components of an entry in units of some scalars, in the order of the user's array.
struct UnitOrder {
  int block_rows, block_columns, units_of_element;  // for blocks by columns; else one row

  HEDDLE_INLINE unsigned given(unsigned k) const {
    if (block_rows == 1) return k;
    return static_cast<unsigned>(
        transposed_component(static_cast<int>(k), block_rows, block_columns, units_of_element));
  }
};

/// Entries whose components stay together (AoS), moved in units of 4, 8 or 16 bytes.
template <class Unit, class Map>
struct PackedTiles {
  using Entries = GivenEntries<Map>;
  Entries entries;
  UnitOrder order;
  Divisor by_units;
  unsigned units;  // units of an entry
  unsigned slots_of_tile;
  Offset slots;
  const Unit* from;
  Unit* to;

  PackedTiles(const Entries& given, const UnitOrder& unit_order, unsigned units_of_entry,
              Offset all_slots, const void* values, void* stored)
      : entries(given),
        order(unit_order),
        by_units(units_of_entry),
        units(units_of_entry),
        slots_of_tile(std::max(1U, threads_of_tile * loads_on_the_way / units_of_entry)),
        slots(all_slots),
        from(static_cast<const Unit*>(values)),
        to(static_cast<Unit*>(stored)) {}
  Offset tiles() const { return (slots + slots_of_tile - 1) / slots_of_tile; }

  HEDDLE_INLINE void place(unsigned tile, unsigned thread) const {
    const Offset begin = Offset(tile) * slots_of_tile;
    const Offset left = slots - begin;
    const unsigned count =
        static_cast<unsigned>(left < slots_of_tile ? left : slots_of_tile) * units;
    for (unsigned next = thread; next < count; next += loads_on_the_way * threads_of_tile) {
      // All loads come before the first use: a thread waits in the order of its instructions.
      typename Entries::Number number[loads_on_the_way];
      for (unsigned u = 0; u < loads_on_the_way; ++u) {
        const unsigned n = next + u * threads_of_tile;
        number[u] = n < count ? entries.map[begin + by_units.divide(n)] : Entries::padding;
      }
      Unit value[loads_on_the_way];
      for (unsigned u = 0; u < loads_on_the_way; ++u) {
        const unsigned n = next + u * threads_of_tile;
        const Offset entry = entries.among(number[u]);
        const unsigned k = n - by_units.divide(n) * units;
        if (entry != Entries::none) value[u] = from[entry * units + order.given(k)];
      }
      for (unsigned u = 0; u < loads_on_the_way; ++u) {
        const unsigned n = next + u * threads_of_tile;
        if (entries.among(number[u]) != Entries::none) to[begin * units + n] = value[u];
      }
    }
  }
};

/// Entries whose components lie apart (SoA, AoSoA): a tile is some slots by some components,
/// transposed in shared memory. Barriers separate its three steps.
template <class Scalar, class Map>
struct TransposedTiles {
  using Entries = GivenEntries<Map>;
  Entries entries;
  UnitOrder order;
  SlotRule rule;
  unsigned width;  // components of a tile: all, except for the largest entries
  unsigned windows;
  unsigned slot_shift, piece_shift;  // slots of a tile and scalars of a piece are powers of two
  static constexpr unsigned max_shift = 10;
  static_assert(1U << max_shift <= threads_of_tile * loads_on_the_way, "see `find`");
  unsigned stride;  // stride of a component in shared memory
  Divisor by_width;
  const Scalar* from;
  Scalar* to;

  /// Shared memory of a tile: entry[slots_of_tile()], value[width * stride].
  struct Shared {
    Offset* entry;
    Scalar* value;
  };

  TransposedTiles(const Entries& given, const UnitOrder& unit_order, const SlotRule& slot_rule,
                  const void* values, void* stored)
      : entries(given),
        order(unit_order),
        rule(slot_rule),
        width(static_cast<unsigned>(slot_rule.components)),
        windows(1),
        slot_shift(max_shift),
        piece_shift(slot_rule.piece == 1   ? 0
                    : slot_rule.piece == 2 ? 1
                                           : 2),
        stride(0),
        by_width(1),
        from(static_cast<const Scalar*>(values)),
        to(static_cast<Scalar*>(stored)) {
    // Reduced so that a multiprocessor holds as many threads as it can, and to few slots if more
    // would leave multiprocessors without a tile.
    constexpr unsigned max_scalars = 18432 / sizeof(Scalar), min_shift = 5;
    constexpr Offset tiles_to_fill = 512;
    while (slot_shift > min_shift &&
           (slots_of_tile() * width > max_scalars || (rule.slots >> slot_shift < tiles_to_fill &&
                                                      slots_of_tile() * width > threads_of_tile))) {
      --slot_shift;
    }
    constexpr unsigned max_width = max_scalars >> min_shift;
    static_assert(max_width % 4 == 0, "windows end where pieces do");
    const unsigned components = width;
    if (width > max_width) width = max_width;
    windows = (components + width - 1) / width;
    // Threads of a warp that write components of the same slot use no bank twice.
    constexpr unsigned banks = 128 / sizeof(Scalar);
    stride = slots_of_tile() + (banks + width - 1) / width;
    by_width = Divisor(width);
  }
  HEDDLE_INLINE unsigned slots_of_tile() const { return 1U << slot_shift; }
  Offset tiles() const { return ((rule.slots + slots_of_tile() - 1) >> slot_shift) * windows; }
  unsigned shared_bytes() const {
    return slots_of_tile() * unsigned{sizeof(Offset)} + width * stride * unsigned{sizeof(Scalar)};
  }
  HEDDLE_INLINE Shared shared(void* memory) const {
    auto* const entry = static_cast<Offset*>(memory);
    return {entry, reinterpret_cast<Scalar*>(entry + slots_of_tile())};
  }

  HEDDLE_INLINE Offset first_slot(unsigned tile) const {
    return Offset(tile / windows) << slot_shift;
  }
  HEDDLE_INLINE unsigned first_component(unsigned tile) const { return tile % windows * width; }
  /// Components of this tile: fewer in the last window.
  HEDDLE_INLINE unsigned components(unsigned tile) const {
    const unsigned left = static_cast<unsigned>(rule.components) - first_component(tile);
    return left < width ? left : width;
  }

  HEDDLE_INLINE void find(unsigned tile, unsigned thread, const Shared& shared) const {
    const Offset first = first_slot(tile);
    typename Entries::Number number[loads_on_the_way];
    for (unsigned u = 0; u < loads_on_the_way; ++u) {
      const unsigned slot = thread + u * threads_of_tile;
      const bool there = slot < slots_of_tile() && first + slot < rule.slots;
      number[u] = there ? entries.map[first + slot] : Entries::padding;
    }
    for (unsigned u = 0; u < loads_on_the_way; ++u) {
      const unsigned slot = thread + u * threads_of_tile;
      if (slot < slots_of_tile()) shared.entry[slot] = entries.among(number[u]);
    }
  }

  HEDDLE_INLINE void gather(unsigned tile, unsigned thread, const Shared& shared) const {
    const unsigned count = width << slot_shift;
    const unsigned first = first_component(tile), held = components(tile);
    for (unsigned next = thread; next < count; next += loads_on_the_way * threads_of_tile) {
      constexpr unsigned nowhere = ~0U;
      unsigned place[loads_on_the_way];
      Scalar value[loads_on_the_way];
      for (unsigned u = 0; u < loads_on_the_way; ++u) {
        place[u] = nowhere;
        const unsigned n = next + u * threads_of_tile;
        const unsigned slot = by_width.divide(n);
        const unsigned k = n - slot * width;
        if (n >= count || k >= held) continue;
        const Offset entry = shared.entry[slot];
        if (entry == Entries::none) continue;
        value[u] = from[entry * rule.components + order.given(first + k)];
        place[u] = k * stride + slot;
      }
      for (unsigned u = 0; u < loads_on_the_way; ++u) {
        if (place[u] != nowhere) shared.value[place[u]] = value[u];
      }
    }
  }

  HEDDLE_INLINE void store(unsigned tile, unsigned thread, const Shared& shared) const {
    const Offset begin = first_slot(tile);
    const unsigned first = first_component(tile), held = components(tile);
    const unsigned piece = 1U << piece_shift, pieces = held >> piece_shift;
    // A thread has one scalar of a slot's piece, and takes it in all pieces or shares them.
    const unsigned lane_shift = slot_shift + piece_shift, lanes = 1U << lane_shift;
    const unsigned sharing = lanes < threads_of_tile ? threads_of_tile >> lane_shift : 1;
    const Offset next_piece = rule.planes ? rule.slots : Offset(rule.C) << piece_shift;
    for (unsigned n = thread; n < lanes * sharing; n += threads_of_tile) {
      const unsigned slot = (n & (lanes - 1)) >> piece_shift, i = n & (piece - 1);
      if (shared.entry[slot] == Entries::none) continue;
      unsigned q = n >> lane_shift;
      const Scalar* value = shared.value + (q * piece + i) * stride + slot;
      Scalar* there =
          to + place_of(begin + slot, piece) + i + ((first >> piece_shift) + q) * next_piece;
      for (; q < pieces; q += sharing) {
        *there = *value;
        there += sharing * next_piece;
        value += sharing * piece * stride;
      }
    }
    const unsigned rest = held & (piece - 1);  // scalars of the last piece, if that is smaller
    const Offset before = Offset(first + held - rest) * rule.C;
    for (unsigned n = thread; n < rest << slot_shift; n += threads_of_tile) {
      const unsigned slot = n / rest, i = n - slot * rest;
      if (shared.entry[slot] == Entries::none) continue;
      to[place_of(begin + slot, rest) + before + i] =
          shared.value[(held - rest + i) * stride + slot];
    }
  }

 private:
  /// The place of a slot's part of its step's first piece if pieces had `together` scalars.
  HEDDLE_INLINE Offset place_of(Offset slot, unsigned together) const {
    if (rule.planes) return slot;
    const Offset C = rule.C;
    const Offset lane = (C & (C - 1)) == 0 ? slot & (C - 1) : slot % C;
    return (slot - lane) * rule.components + lane * together;
  }
};

}  // namespace heddle::detail
