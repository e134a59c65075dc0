// Iterations of a solver over hierarchical storage, under each schedule of its products.
#pragma once

#include <memory>

#include "heddle/runtime/any_matrix.hpp"
#include "heddle/tuning/tree_record.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// The method and the preconditioner are those that a solve chooses by itself. On a GPU its loop is
/// a graph if the schedule is kept, and driven by the host if not.
class TreeIterations {
 public:
  /// The matrix outlives this.
  TreeIterations(const AnyMatrix& matrix, const Device& device)
      : matrix_(matrix), device_(device) {}

  /// The time of one iteration. All that one object prepares do equally many iterations in a solve.
  /// Null for a rectangular matrix, for one on which the method performs no iteration, and where a
  /// tree and a solver do not fit into memory.
  std::unique_ptr<PreparedPlan> prepare(const NodeLayout& nodes, NodeSchedule schedule);

 private:
  const AnyMatrix& matrix_;
  Device device_;
  long long iterations_ = 0;  // of one timed solve; 0: not known yet
};

}  // namespace heddle
