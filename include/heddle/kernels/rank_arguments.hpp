// Arguments by which kernels of a loop join their sums with those of ranks on other GPUs.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::device {

/// A number in halves, each with its round: 16 bytes that are stored at once arrive as two times 8
/// at worst (as in NCCL's LL protocol). So no fence is needed between a number and its round.
struct alignas(16) PeerPacket {
  unsigned low, round_of_low, high, round_of_high;
};

/// Maximum number of groups of 256 rows that make a node of the tree: a thread of a block has one.
inline constexpr int groups_of_node = 256;
/// Maximum number of nodes of all ranks that every block of a kernel joins for itself, and of
/// levels of their tree.
inline constexpr int max_nodes_of_ranks = 128;
inline constexpr int max_levels_of_ranks = 40;
/// Maximum number of sums of one source, and of sources.
inline constexpr int max_numbers_of_source = 8;
inline constexpr int max_sources = 4;

/// A joining of two nodes: `from` is added to `to`.
struct NodeJoining {
  int to, from;
};

/// Numbers travel from each node of a rank to all ranks, and every block joins those of all nodes
/// in the order of the tree.
struct SumsOfRanks {
  const Index* group_at;       // null: sums are whole before the kernel begins
  const int* groups;           // groups of each node of this rank
  PeerPacket* const* inboxes;  // inboxes of all ranks
  PeerPacket* inbox;           // this rank's own
  const NodeJoining* joinings;
  const int* levels;  // where the joinings of each level begin, and their end
  unsigned* rounds;   // rounds of the kernels of two turns
  const int* given_up;
  int ranks, nodes, own_nodes, first_node, level_count, root;
  int turn;  // the kernel's; the kernel before it has the other

  /// First packet of a source in an inbox. Each turn has its own place, since blocks of one kernel
  /// may read what those of the next no longer need.
  HEDDLE_HD Offset packet(int source) const {
    return (Offset(turn) * max_sources + source) * nodes * max_numbers_of_source;
  }
  /// First packet in this rank's own inbox of the sums over all nodes.
  HEDDLE_HD Offset packet_of_total(int source) const {
    return (Offset(2) * max_sources * nodes + Offset(turn) * max_sources + source) *
           max_numbers_of_source;
  }
};
/// Maximum number of blocks of a kernel that join sums: as many as run at once. Later blocks take
/// the sums that the first has joined.
inline constexpr unsigned max_joining_blocks = 1024;

/// Number of packets in an inbox.
HEDDLE_HD constexpr Offset packets_of_inbox(int nodes) {
  return Offset(2) * max_sources * (nodes + 1) * max_numbers_of_source;
}

}  // namespace heddle::device
