// Sums of trees whose places are those of an earlier sum.
#pragma once

#include <memory>
#include <utility>

#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/detail/trees/tree_sum.hpp"

namespace heddle::detail {

/// Writes the leaves of A + B into `to`, where C, a sum in one pool, has them; inner nodes are left
/// unchanged. `combine` adds, and leaves entries that only A has as they are. Unless it `is_known`
/// that A and B together have the pattern of C, that is counted first: returns false, with nothing
/// written, if they have another one. Throws `Error` like `sum_of_trees`.
HEDDLE_EXPORT bool write_sum_again(const ScheduledTree& C, const ScheduledTree& A,
                                   const ScheduledTree& B, bool is_known,
                                   const CombineEntries& combine, Pool& to, const Device& device);

}  // namespace heddle::detail

namespace heddle::cuda {

/// The leaves of A and B from which those of their sum are made, on one GPU, kept while values
/// change.
class HEDDLE_EXPORT KeptSum {
 public:
  /// Compares the sum with C, a sum in one pool. Throws `Error` (memory, unsupported) like
  /// `sum_of_trees`.
  KeptSum(const TreeOnGpu& C, std::shared_ptr<const TreeOnGpu> A,
          std::shared_ptr<const TreeOnGpu> B);
  /// True if the sum has the leaves of C, with as many entries each.
  bool fits() const { return leaves_ != nullptr; }
  /// Writes the sum into the leaves of C, or of a tree like it, and waits until that is done.
  void write(const TreeOnGpu& C, const EntrySum& sum) const;

 private:
  struct Leaves;
  std::shared_ptr<const TreeOnGpu> A_, B_;
  std::shared_ptr<const Leaves> leaves_;
};

}  // namespace heddle::cuda
