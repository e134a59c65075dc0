// A matrix's properties, the memory each layout of it would take, and the cost of its products.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "code_balance.hpp"
#include "exact_copies.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/tuning/features.hpp"
#include "jagged_storage.hpp"
#include "multigrid_advice.hpp"
#include "scaling.hpp"
#include "solve_advice.hpp"

namespace heddle::detail {

struct DescriptionOptions {
  NodeLayout nodes;  // layout of a tree
  BalanceAssumptions balance;
  bool tries_multigrid = false;  // which takes solves
  std::optional<ScalingQuestion> scaling;
};

/// The tree of hierarchical storage, and bytes per entry as others count them.
struct TreeMemory {
  HierarchicalMemory memory;
  NodeLayout nodes;
  double paper_formula = 0;
  NodeBound bound;
  double entries = 0, rows = 0;
  int entry_bytes = 0;

  double of(long long bytes) const {
    return entries == 0 ? 0 : static_cast<double>(bytes) / entries;
  }
  double coo() const { return entry_bytes + 8; }
  /// With offsets of 4 bytes, as the paper counts.
  double csr() const { return entries == 0 ? 0 : entry_bytes + 4 + 4 * (rows + 1) / entries; }
};

/// Savings of a product by columns of 16 bits, in the layout that GPUs begin with.
struct ShortColumns {
  static constexpr const char* layout = "Sl-32";
  double share = 0;            // fraction of the slots
  double wide = 0, mixed = 0;  // bytes per entry that a product reads of the matrix
};

struct MatrixDescription {
  AnyEntry entry;
  Precision precision = Precision::double_precision;
  Features features;
  std::vector<LayoutMemory> layouts;
  JaggedStorage jagged;
  ShortColumns short_columns;
  std::vector<ExactCopy> copies;
  TreeMemory tree;
  CodeBalance balance;
  std::optional<MultigridAdvice> multigrid;
  SolveAdvice solve;
  std::optional<Scaling> scaling;
};

/// Looks at all entries, and stores some of it in the host's memory. Throws `Error` as
/// `hierarchical_memory` and `predict_scaling`.
MatrixDescription describe(const AnyMatrix& matrix, const DescriptionOptions& options,
                           const Device& device);

/// docs/reference/command-line.md lists the keys, at `heddle info --json`.
nlohmann::ordered_json to_json(const MatrixDescription& description);

}  // namespace heddle::detail
