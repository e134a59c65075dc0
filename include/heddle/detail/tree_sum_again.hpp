// Sums of trees whose places are those of a sum before.
#pragma once

#include <memory>
#include <utility>

#include "heddle/detail/tree_building_cuda.hpp"
#include "heddle/detail/tree_product_cuda.hpp"
#include "heddle/detail/tree_sum.hpp"

namespace heddle::detail {

/// Writes the leaves of A + B where C, a sum in one pool, has them, but into `to`; inner nodes are
/// left alone. `combine` adds, and leaves entries that A alone has as they are. Unless it
/// `is_known` that A and B have the pattern of C together, that is counted first: false, with
/// nothing written, where they have another one. Throws `Error` as `sum_of_trees`.
HEDDLE_EXPORT bool write_sum_again(const ScheduledTree& C, const ScheduledTree& A,
                                   const ScheduledTree& B, bool is_known,
                                   const CombineEntries& combine, Pool& to, const Device& device);

}  // namespace heddle::detail

namespace heddle::cuda {

/// Which leaves of A and B lie behind those of their sum, on one GPU, kept while values change.
class HEDDLE_EXPORT KeptSum {
 public:
  /// Compares the sum with C, a sum in one pool. Throws `Error` (memory, unsupported) as
  /// `sum_of_trees`.
  KeptSum(const TreeOnGpu& C, std::shared_ptr<const TreeOnGpu> A,
          std::shared_ptr<const TreeOnGpu> B);
  /// Whether it has the leaves of C, with as many entries each.
  bool fits() const { return leaves_ != nullptr; }
  /// Writes the sum into the leaves of C, or of a tree like it, and waits for it.
  void write(const TreeOnGpu& C, const EntrySum& sum) const;

 private:
  struct Leaves;
  std::shared_ptr<const TreeOnGpu> A_, B_;
  std::shared_ptr<const Leaves> leaves_;
};

}  // namespace heddle::cuda
