// --storage and --node: how a command keeps its matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "profile_option.hpp"

namespace heddle::cli {

struct NodeOption {
  int node = default_node_size;

  void add_to(CLI::App& command);
  bool is_given() const { return option_ != nullptr && option_->count() > 0; }

 private:
  const CLI::Option* option_ = nullptr;
};

/// A matrix as a tree.
struct StoredTree {
  AnyLinearOperator matrix;
  AnyOperator diagonal;  // in sliced storage, where it was asked for; else empty
  /// With the schedules that products have made by now; on a GPU those are there.
  std::function<HierarchicalMemory()> memory;
};

struct StorageOption {
  std::string storage = "sliced";
  NodeOption node;

  void add_to(CLI::App& command);
  /// Throws `Error` (usage) for a name that is none.
  bool is_hierarchical() const;
  /// As reports name it.
  std::string text() const { return "hisparse,node=" + std::to_string(node.node); }
  /// Throws `Error` (usage) for options of the storage that is not taken: `plans` as they were
  /// given, an empty text where one is to be chosen.
  void check_use(const std::vector<std::string>& plans, const ProfileOption& profile) const;
  /// Throws `Error` (unsupported) for entries of a definition.
  StoredTree tree(const AnyMatrix& matrix, const Device& device, bool with_diagonal) const;
};

}  // namespace heddle::cli
