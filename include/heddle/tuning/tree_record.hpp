// The tuning result of hierarchical storage for one matrix: its products under each kind of nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/tuning/pattern_features.hpp"
#include "heddle/tuning/statistics.hpp"

namespace heddle {

/// The products of a tree that a program makes: A x, A* x, one of each in turn, or A x in the loop
/// of a solver, which a GPU runs as a graph where the schedule is kept.
enum class TreeUse { product, adjoint_product, both, solve };

/// A product's schedule: kept with the tree, or made in each product (`DynamicProduct`), which adds
/// in another order in each run.
enum class NodeSchedule { kept, tree };

/// Products of a tree with such nodes, in seconds.
struct HEDDLE_EXPORT NodeTrial {
  NodeLayout nodes;
  long long bytes = 0;  // bytes of the tree, and of its schedules or queues
  Statistics product;
  std::optional<Statistics> adjoint_product;  // none for entries without an adjoint
  NodeSchedule schedule = NodeSchedule::kept;
  std::optional<Statistics> iteration = {};  // of a solver; for the fastest of each schedule

  /// The median of the products of this use, those of A x if entries have no adjoint.
  double seconds(TreeUse use) const;
  bool operator==(const NodeTrial&) const = default;
};

struct HEDDLE_EXPORT TreeRecord {
  std::string matrix;     // name for display
  std::string entry;      // name in `--entry`
  std::string precision;  // single, double
  std::string fingerprint;
  PatternFeatures features;
  std::vector<NodeTrial> sizes;  // sizes of nodes, the smallest first; at least one
  std::string date;              // 2026-11-26

  /// The fastest trial of the schedule, or the default nodes if none is faster by 1%. Without a
  /// schedule, the best by `tree` if it is faster than the best kept one by 1%: for a solve, if its
  /// iterations are. With one that was not measured, the best of the other.
  const NodeTrial& best(TreeUse use,
                        std::optional<NodeSchedule> schedule = NodeSchedule::kept) const;
  bool operator==(const TreeRecord&) const = default;
};

}  // namespace heddle
