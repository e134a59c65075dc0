// The parts of a node other than its places and payloads, as threads write them.
#pragma once

#include "heddle/kernels/trees/tree_node.hpp"
#include "node_bits.hpp"

namespace heddle::cuda {

/// Writes the count, and zeros where neither places nor payloads lie; `threads` threads take part.
/// The bytes are those of `detail::NodeWriter`.
__device__ inline void put_count_and_padding(unsigned char* to, const NodeShape& shape,
                                             NodeKind kind, int held, int thread, int threads) {
  const auto clear = [&](Offset begin, Offset end) {
    auto* const halves = reinterpret_cast<unsigned short*>(to);
    for (Offset half = begin / 2 + thread; half < end / 2; half += threads) halves[half] = 0;
  };
  if (thread == 0) *reinterpret_cast<unsigned*>(to) = static_cast<unsigned>(held);
  const Offset places = NodeShape::places_byte(kind), payload = shape.payload_byte(kind, held);
  clear(Offset{sizeof(unsigned)}, places);
  if (kind == NodeKind::dense) {
    clear(places + PlaceBits::words_of(shape.positions()) * Offset{sizeof(unsigned)}, payload);
  } else {
    clear(places + Offset{sizeof(LocalPlace)} * held, payload);
    clear(payload + Offset(held) * shape.payload_bytes, shape.bytes(kind, held));
  }
}

/// Clears the bits and payloads of a dense node.
__device__ inline void clear_places(unsigned char* to, const NodeShape& shape, int held, int thread,
                                    int threads) {
  auto* const words = reinterpret_cast<uint4*>(to);
  const Offset end = shape.bytes(NodeKind::dense, held) / Offset{sizeof(uint4)};
  for (Offset word = 1 + thread; word < end; word += threads) words[word] = {0, 0, 0, 0};
}

}  // namespace heddle::cuda
