// The leaves of a sum of two trees in a GPU's memory, counted before they are written.
#pragma once

#include <optional>
#include <utility>

#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"
#include "hierarchical/inner_levels_cuda.hpp"
#include "hierarchical/tree_levels_cuda.hpp"
#include "walked_pairs_cuda.hpp"

namespace heddle::cuda {

/// The leaves of both trees that make the leaves of their sum, by numbers; -1 for none.
struct PairsOfLeaves {
  const device::TreeLeaf* a;
  const device::TreeLeaf* b;
  Index* of_a;
  Index* of_b;
  NodeShape shape;
  bool transposes_b;
};

/// Pairs of leaves that single threads do not merge, by who merges them.
struct ListedPairs {
  Index* small;   // a warp, one lane per entry
  Index* medium;  // a warp
  Index* large;   // a block of threads
};

/// The counts that one kernel makes for a sum.
struct CountedSum {
  Offset leaves, entries, bytes;
  int of_kind[node_kinds];
  int small, medium, large;  // in the lists
  int has_single;            // not 0: there are pairs that a thread merges
  CountedInner inner;
};

/// Both leaves of each leaf of A + B, or A + B*, and the number of entries that these hold
/// together. One kernel finds them and the levels above the leaves, and the host waits for it once.
class CountedPairs {
 public:
  /// From the kept schedules. Throws `Error`: memory; unsupported for 2^31 leaves or more.
  CountedPairs(const TreeOnGpu& A, const TreeOnGpu& B, bool transposes_b, const Device& device);
  /// From the leaves that a walk has counted. Throws `Error` (memory).
  CountedPairs(const TreeOnGpu& A, WalkedPairs walked, bool transposes_b, const Device& device);

  const LevelOnGpu& leaves() const { return leaves_; }
  LevelOnGpu take_leaves() { return std::move(leaves_); }
  /// The levels above, if they suit `InnerLevels`.
  std::optional<InnerLevels> take_inner() { return std::move(inner_); }

  /// For callers that only write leaves.
  void forget_places() {
    leaves_.row = leaves_.column = {};
    leaves_.byte = {};
    inner_.reset();
  }

  PairsOfLeaves pairs() const { return pairs_; }
  ListedPairs listed() const { return listed_; }
  const CountedSum& counted() const { return counted_; }
  /// Bytes of memory that were free before the host waited.
  long long available() const { return available_; }

 private:
  struct Room;
  /// Room for up to `most` leaves, made from leaves of these arrays, on `blocks` side by side.
  Room room_for(const heddle::detail::Tree& tree, const device::TreeLeaf* a,
                const device::TreeLeaf* b, bool transposes_b, Offset most, unsigned blocks,
                const Device& device);
  /// Waits for the kernel that counts.
  void take(const TreeOnGpu& A, const Room& room, const Device& device);

  WalkedPairs walked_;  // leaves of the pairs, if they come from a walk
  UnsetArray<Index> of_a_, of_b_, small_, medium_, large_;
  LevelOnGpu leaves_;
  std::optional<InnerLevels> inner_;
  PairsOfLeaves pairs_{};
  ListedPairs listed_{};
  CountedSum counted_{};
  long long available_ = 0;
};

/// Where the leaves of a sum are written: byte[i] after `pool`, which may be null.
struct LeavesOfSum {
  const int* held;
  const Offset* byte;
  unsigned char* pool;
};
/// Writes all bytes of all leaves. `adjoint` is the sum's in the GPU's memory, or null.
void write_pairs(const CountedPairs& pairs, const EntrySum& sum, const int* adjoint,
                 const LeavesOfSum& leaves, const Device& device);

}  // namespace heddle::cuda
