// Nodes of hierarchical storage: where their numbers lie in a pool of bytes (Derler et al. 2017,
// section 3.1). Index arithmetic only, which CPU and GPU share.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// How a node keeps its entries. COO: coordinates and payload of each, by rows, so that 1, 2 or 4
/// coordinates can be read at once. Dense: the payload of every position, and a bit that is set
/// where there is an entry.
enum class NodeKind : unsigned { dense, coo1, coo2, coo4 };
inline constexpr int node_kinds = 4;

/// Row and column inside a node.
struct LocalPlace {
  unsigned char row;
  unsigned char column;
};

/// A node as its parent names it: the kind in bits 0 and 1, which alignment leaves free, the byte
/// in its pool in bits 4 to 47, the pool's number in bits 48 to 63.
struct NodeReference {
  static constexpr Offset alignment = 16;
  static constexpr Offset max_bytes = Offset(1) << 48;
  static constexpr int max_pools = 1 << 16;

  unsigned long long bits = 0;

  HEDDLE_INLINE static constexpr NodeReference make(NodeKind kind, int pool, Offset byte) {
    return {static_cast<unsigned long long>(pool) << 48 | static_cast<unsigned long long>(byte) |
            static_cast<unsigned long long>(kind)};
  }
  HEDDLE_INLINE constexpr NodeKind kind() const { return static_cast<NodeKind>(bits & 3); }
  HEDDLE_INLINE constexpr int pool() const { return static_cast<int>(bits >> 48); }
  HEDDLE_INLINE constexpr Offset byte() const {
    return static_cast<Offset>(bits & 0x0000'ffff'ffff'fff0ULL);
  }
};

/// `value` rounded up to a multiple that is a power of two.
HEDDLE_INLINE constexpr Offset rounded_up(Offset value, Offset multiple) {
  return (value + multiple - 1) & -multiple;
}

/// Common properties of the nodes of one level: d = 2^log2_size rows and columns, and the bytes of
/// an entry in a leaf, or of a reference in an inner node.
///
///     COO1, COO2   count, coordinates at byte 4, payload at a multiple of 8
///     COO4         count, coordinates at byte 8, payload at a multiple of 16
///     dense        count, bits at byte 16 row by row, payload at a multiple of 16
///
/// The count takes 4 bytes. Coordinates are padded to a multiple of 1, 2 or 4, nodes to 16 bytes.
struct NodeShape {
  int log2_size = 7;
  int payload_bytes = 8;
  /// Number of entries from which a leaf is dense, at least three; 0: wherever that takes fewer
  /// bytes.
  int dense_from = 0;

  HEDDLE_INLINE constexpr int size() const { return 1 << log2_size; }
  HEDDLE_INLINE constexpr Offset positions() const { return Offset(1) << (2 * log2_size); }
  HEDDLE_INLINE constexpr Index block_of(Index index) const { return index >> log2_size; }
  HEDDLE_INLINE constexpr Offset blocks_of(Offset indices) const {
    return (indices + size() - 1) >> log2_size;
  }
  HEDDLE_INLINE constexpr LocalPlace place_of(Index row, Index column) const {
    return {static_cast<unsigned char>(row & (size() - 1)),
            static_cast<unsigned char>(column & (size() - 1))};
  }
  HEDDLE_INLINE constexpr int position_of(LocalPlace place) const {
    return place.row << log2_size | place.column;
  }
  HEDDLE_INLINE constexpr LocalPlace place_at(int position) const {
    return place_of(position >> log2_size, position);
  }

  /// The byte where coordinates, or bits, begin.
  HEDDLE_INLINE static constexpr Offset places_byte(NodeKind kind) {
    return kind == NodeKind::dense ? 16 : kind == NodeKind::coo4 ? 8 : 4;
  }
  HEDDLE_INLINE constexpr Offset payload_byte(NodeKind kind, Offset count) const {
    const Offset begin = places_byte(kind);
    switch (kind) {
      case NodeKind::dense:
        return rounded_up(begin + positions() / 8, 16);
      case NodeKind::coo1:
        return rounded_up(begin + 2 * count, 8);
      case NodeKind::coo2:
        return rounded_up(begin + 2 * rounded_up(count, 2), 8);
      default:
        return rounded_up(begin + 2 * rounded_up(count, 4), 16);
    }
  }
  HEDDLE_INLINE constexpr Offset bytes(NodeKind kind, Offset count) const {
    const Offset kept = kind == NodeKind::dense ? positions() : count;
    return rounded_up(payload_byte(kind, count) + kept * payload_bytes, NodeReference::alignment);
  }
  /// COO1 and COO2 for one entry and two, as in the paper; dense from `dense_from` entries on, or
  /// where it takes fewer bytes than COO4.
  HEDDLE_INLINE constexpr NodeKind kind_of(Offset count) const {
    if (count <= 2) return count == 2 ? NodeKind::coo2 : NodeKind::coo1;
    const bool is_dense = dense_from > 0
                              ? count >= dense_from
                              : bytes(NodeKind::dense, count) < bytes(NodeKind::coo4, count);
    return is_dense ? NodeKind::dense : NodeKind::coo4;
  }
  HEDDLE_INLINE constexpr Offset bytes(Offset count) const { return bytes(kind_of(count), count); }
};

/// A node in memory.
struct NodeView {
  const unsigned char* data;
  NodeKind kind;
  NodeShape shape;

  HEDDLE_INLINE int count() const {
    return static_cast<int>(*reinterpret_cast<const unsigned*>(data));
  }
  HEDDLE_INLINE Offset bytes() const { return shape.bytes(kind, count()); }
  HEDDLE_INLINE const LocalPlace* places() const {
    return reinterpret_cast<const LocalPlace*>(data + NodeShape::places_byte(kind));
  }
  HEDDLE_INLINE const unsigned char* payloads() const {
    return data + shape.payload_byte(kind, count());
  }
  /// For dense nodes only.
  HEDDLE_INLINE bool has(int position) const {
    return (data[NodeShape::places_byte(kind) + position / 8] >> (position % 8) & 1) != 0;
  }

  /// The index of the payload of the entry at a place, or -1 where there is none.
  HEDDLE_INLINE int find(LocalPlace place) const {
    const int position = shape.position_of(place);
    if (kind == NodeKind::dense) return has(position) ? position : -1;
    int first = 0, last = count();
    while (first < last) {
      const int middle = (first + last) / 2;
      if (shape.position_of(places()[middle]) < position) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first < count() && shape.position_of(places()[first]) == position ? first : -1;
  }

  /// Calls `body(place, index of its payload)` with each entry, by rows.
  template <class Body>
  HEDDLE_INLINE void for_each(const Body& body) const {
    if (kind != NodeKind::dense) {
      const int entries = count();
      for (int i = 0; i < entries; ++i) body(places()[i], i);
      return;
    }
    const auto positions = static_cast<int>(shape.positions());
    for (int position = 0; position < positions; ++position) {
      if (has(position)) body(shape.place_at(position), position);
    }
  }
};

}  // namespace heddle
