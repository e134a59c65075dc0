// --storage and --node: how a command keeps its matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

struct NodeOption {
  int node = default_node_size;

  void add_to(CLI::App& command);
};

/// A matrix as a tree.
struct StoredTree {
  AnyLinearOperator matrix;
  AnyOperator diagonal;       // in sliced storage; of square matrices, else empty
  HierarchicalMemory memory;  // of the host
};

struct StorageOption {
  std::string storage = "sliced";
  NodeOption node;

  void add_to(CLI::App& command);
  /// Throws `Error` (usage) for a name that is none.
  bool is_hierarchical() const;
  /// As reports name it.
  std::string text() const { return "hisparse,node=" + std::to_string(node.node); }
  /// Throws `Error` (unsupported) for entries of a definition.
  StoredTree tree(const AnyMatrix& matrix, const Device& device) const;
};

}  // namespace heddle::cli
