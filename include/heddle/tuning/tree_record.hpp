// What tuning found of hierarchical storage for one matrix: its products under each kind of nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/tuning/pattern_features.hpp"
#include "heddle/tuning/statistics.hpp"

namespace heddle {

/// Which products of a tree a program makes: A x, A* x, or one of each in turn.
enum class TreeUse { product, adjoint_product, both };

/// Products of a tree with such nodes, in seconds.
struct HEDDLE_EXPORT NodeTrial {
  NodeLayout nodes;
  long long bytes = 0;  // of the tree and its schedules
  Statistics product;
  std::optional<Statistics> adjoint_product;  // none for entries without an adjoint

  /// The median of the products of this use, those of A x where entries have no adjoint.
  double seconds(TreeUse use) const;
  bool operator==(const NodeTrial&) const = default;
};

struct HEDDLE_EXPORT TreeRecord {
  std::string matrix;     // its name for people
  std::string entry;      // as `--entry`
  std::string precision;  // single, double
  std::string fingerprint;
  PatternFeatures features;
  std::vector<NodeTrial> sizes;  // of nodes, the smallest first; at least one
  std::string date;              // 2026-11-26

  /// The fastest one, or the default nodes where none is faster by 1%.
  const NodeTrial& best(TreeUse use) const;
  bool operator==(const TreeRecord&) const = default;
};

}  // namespace heddle
