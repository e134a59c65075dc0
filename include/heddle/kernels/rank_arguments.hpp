// What kernels of a loop join their sums with those of ranks on other GPUs by.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::device {

/// A number in halves, each with its round: 16 bytes that are stored at once arrive as two times 8
/// at worst (as NCCL's protocol LL has it). So no fence stands between a number and its round.
struct alignas(16) PeerPacket {
  unsigned low, round_of_low, high, round_of_high;
};

/// Groups of 256 rows that make a node of the tree, at most: a thread of a block has one.
inline constexpr int groups_of_node = 256;
/// Nodes of all ranks that every block of a kernel joins for itself, and levels of their tree.
inline constexpr int most_nodes_of_ranks = 128;
inline constexpr int most_levels_of_ranks = 40;
/// Of one source of sums.
inline constexpr int most_numbers_of_source = 8;
inline constexpr int most_sources = 4;

/// Of nodes.
struct NodeJoining {
  int to, from;
};

/// Numbers travel from each node of a rank to all ranks, and every block joins those of all nodes
/// in the order of the tree.
struct SumsOfRanks {
  const Index* group_at;       // null: sums are whole before the kernel begins
  const int* groups;           // of each node of this rank
  PeerPacket* const* inboxes;  // of all ranks
  PeerPacket* inbox;           // of this one
  const NodeJoining* joinings;
  const int* levels;  // where joinings of each begin, and their end
  unsigned* rounds;   // of the kernels of two turns
  const int* given_up;
  int ranks, nodes, own_nodes, first_node, level_count, root;
  int turn;  // of the kernel: that of the one before is the other

  /// In an inbox: a place for each turn, since blocks of one kernel may read what those of the next
  /// no longer need.
  HEDDLE_HD Offset packet(int source) const {
    return (Offset(turn) * most_sources + source) * nodes * most_numbers_of_source;
  }
  /// Of this rank's own: the sums over all nodes.
  HEDDLE_HD Offset packet_of_total(int source) const {
    return (Offset(2) * most_sources * nodes + Offset(turn) * most_sources + source) *
           most_numbers_of_source;
  }
};
/// Blocks of a kernel that join sums, at most: as many as run at once. Later ones take what the
/// first has joined.
inline constexpr unsigned most_joining_blocks = 1024;

/// Packets of an inbox.
HEDDLE_HD constexpr Offset packets_of_inbox(int nodes) {
  return Offset(2) * most_sources * (nodes + 1) * most_numbers_of_source;
}

}  // namespace heddle::device
