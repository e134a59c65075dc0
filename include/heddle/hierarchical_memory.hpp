// The memory of a matrix in hierarchical storage, to the byte, before it is built.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/kernels/trees/tree_node.hpp"

namespace heddle {

/// The paper's size; docs/guide/hierarchical.md compares others.
inline constexpr int default_node_size = 128;

/// How a GPU's threads share the products of a tree; 0 leaves a number to the rule. A CPU ignores
/// it.
struct HEDDLE_EXPORT TreeLaunch {
  int run = 0;    // entries of a leaf that a thread takes at once: 1, 2 or 4, as their bytes allow
  int warps = 0;  // warps of a block of threads: 1, 2, 4 or 8, as shared memory allows
  int piece = 0;  // approximate number of entries for a block of threads: 64 to 65536

  bool operator==(const TreeLaunch&) const = default;
};

/// The free choices of a tree: rows and columns of a node, a power of two from 4 to 256; the
/// percentage of a leaf's places that hold entries from which it is stored densely; and the launch
/// of its products.
struct HEDDLE_EXPORT NodeLayout {
  /// Dense if that takes fewer bytes, or no dense leaf at all.
  static constexpr int by_bytes = 0, never = 101;

  int size = default_node_size;
  int dense = by_bytes;
  TreeLaunch launch;

  constexpr NodeLayout() = default;
  /// A size alone is a layout.
  constexpr NodeLayout(int size_of_nodes, int dense_from = by_bytes,
                       const TreeLaunch& launch_of_products = {})
      : size(size_of_nodes), dense(dense_from), launch(launch_of_products) {}
  bool operator==(const NodeLayout&) const = default;
};

/// The name in reports: node=128, or node=128,dense=50,warps=4.
HEDDLE_EXPORT std::string to_string(const NodeLayout& nodes);
/// bytes, never, or the percentage.
HEDDLE_EXPORT std::string name_of_dense(const NodeLayout& nodes);
/// Inverse of `name_of_dense`. Throws `Error` (usage) for an impossible share of places.
HEDDLE_EXPORT int parse_dense(std::string_view text);
/// run=1,warps=4,piece=512: the numbers that are given; empty if the rule chooses all.
HEDDLE_EXPORT std::string to_string(const TreeLaunch& launch);
/// Throws `Error` (usage) for other keys, and for impossible numbers.
HEDDLE_EXPORT TreeLaunch parse_tree_launch(std::string_view text);

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
  /// Counts one node more, or one less with -1.
  void count(const NodeShape& shape, Offset held, int more = 1) {
    of_kind[static_cast<std::size_t>(shape.kind_of(held))] += more;
    bytes += more * shape.bytes(held);
    items += more * held;
  }
};

struct HEDDLE_EXPORT HierarchicalMemory {
  NodeCounts leaves, inner;
  /// Schedules of the leaves: in the order of their rows, which a product follows; for A*, by
  /// columns.
  long long schedule = 0, adjoint_schedule = 0;
  /// On a GPU: the memory where its products keep sums of pieces, on each stream and in graphs.
  long long workspaces = 0;
  /// Bytes of `tree()` that nodes at several places of one matrix save.
  long long shared = 0;
  /// For a matrix on a GPU, in addition: memory on the host, for its tree and schedules.
  long long host = 0;

  long long tree() const { return leaves.bytes + inner.bytes; }
  long long product() const { return leaves.bytes + schedule; }
  long long total() const { return tree() - shared + schedule + adjoint_schedule + workspaces; }

  /// The paper's formula for the tree (section 3.3), in bytes: (1 + N / L) (entries (2 log2 d + b)
  /// + 32 L) bits for N inner nodes, L leaves and entries of b bits.
  double paper_formula(int node_size, int entry_bytes) const;
};

/// The paper's bound on the number of nodes, N + L (section 3.3, equation 1, and its appendix): the
/// sum over i from 0 to lambda of (d^2i - d^(2i - 2)) (D - i) for D levels of nodes of d rows,
/// where d^(2 lambda) is the least such power that is not below the number of entries. Places that
/// one level shares are as few as possible.
struct HEDDLE_EXPORT NodeBound {
  long long paper = 0;
  /// The same count for as many entries as there are: level i below the root has at most d^2i
  /// nodes, and no more than entries.
  long long of_entries = 0;
};
HEDDLE_EXPORT NodeBound bound_of_nodes(Index rows, Index columns, Offset entries, int node_size);

/// The memory of a matrix with this pattern in the host's memory. Throws `Error`: usage for
/// impossible nodes, out_of_range or usage as `check_pattern` does.
HEDDLE_EXPORT HierarchicalMemory hierarchical_memory(const PatternView& pattern,
                                                     const NodeLayout& nodes, int entry_bytes,
                                                     const Device& device = Device::cpu());

/// One line: the parts in readable units.
HEDDLE_EXPORT std::string to_string(const HierarchicalMemory& memory);

}  // namespace heddle
