// What a matrix in hierarchical storage takes, to the byte, before it is built.
#pragma once

#include <array>
#include <string>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/tree_node.hpp"

namespace heddle {

/// Nodes of one use by their kinds, and their bytes.
struct HEDDLE_EXPORT NodeCounts {
  std::array<long long, node_kinds> of_kind = {};
  long long bytes = 0;
  long long items = 0;  // entries of leaves, children of inner nodes

  long long nodes() const {
    long long all = 0;
    for (const long long of : of_kind) all += of;
    return all;
  }
  /// One node more, or with -1 one less.
  void count(const NodeShape& shape, Offset held, int more = 1) {
    of_kind[static_cast<std::size_t>(shape.kind_of(held))] += more;
    bytes += more * shape.bytes(held);
    items += more * held;
  }
};

struct HEDDLE_EXPORT HierarchicalMemory {
  NodeCounts leaves, inner;
  /// Of the leaves in the order of their rows, which a product follows; of A*, by columns.
  long long schedule = 0, adjoint_schedule = 0;
  /// On a GPU: where its products keep sums of pieces, on each stream and in graphs.
  long long rooms = 0;
  /// Of a matrix on a GPU, beside all this: what the host keeps, its tree and schedules.
  long long host = 0;

  long long tree() const { return leaves.bytes + inner.bytes; }
  long long product() const { return leaves.bytes + schedule; }
  long long total() const { return tree() + schedule + adjoint_schedule + rooms; }

  /// The paper's formula for the tree (section 3.3), in bytes: (1 + N / L) (entries (2 log2 d + b)
  /// + 32 L) bits for N inner nodes, L leaves and entries of b bits.
  double paper_formula(int node_size, int entry_bytes) const;
};

/// Of a matrix with this pattern in the host's memory and nodes of `node_size` rows and columns.
/// Throws `Error`: usage for a node size that is no power of two from 4 to 256, out_of_range or
/// usage as `check_pattern` does.
HEDDLE_EXPORT HierarchicalMemory hierarchical_memory(const PatternView& pattern, int node_size,
                                                     int entry_bytes,
                                                     const Device& device = Device::cpu());

/// One line: the parts in readable units.
HEDDLE_EXPORT std::string to_string(const HierarchicalMemory& memory);

/// That of the paper; docs/hierarchical.md compares others.
inline constexpr int default_node_size = 128;

}  // namespace heddle
