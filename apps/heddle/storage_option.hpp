// --storage, --node, --dense and --launch: how a command stores its matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/settings.hpp"
#include "profile_option.hpp"
#include "tuning/trees/stored_tree.hpp"

namespace heddle::cli {

struct NodeOption {
  Settings settings;

  void add_to(CLI::App& command);
  /// Adds the option that says where products run.
  void add_launch_to(CLI::App& command);
  bool is_given() const { return !settings.given().empty(); }
  /// Throws `Error` (usage) for an invalid share of places or an invalid launch.
  NodeLayout nodes() const { return with_settings(StorageSettings(), settings).nodes(); }
  /// Names the option that sets the nodes.
  std::string reason() const { return "by " + settings.given().front().spelling; }
};

struct StorageOption {
  static constexpr const char* dynamic = "hisparse,schedule=tree";
  std::string storage = "sliced";
  NodeOption node;

  void add_to(CLI::App& command);
  /// Throws `Error` (usage) for an unknown name.
  bool is_hierarchical() const;
  /// True if schedule=tree, a `DynamicProduct`, is named.
  bool is_dynamic() const { return storage == dynamic; }
  /// Throws `Error` (usage) for options of a storage that is not used. `plans` are as they were
  /// given; an empty text means that a plan is to be chosen.
  void check_use(const std::vector<std::string>& plans, const ProfileOption& profile) const;
  /// The nodes of --node, --dense and --launch, or those of a profile with the schedule that was
  /// the fastest there unless the storage names it, or the default. Throws `Error` (usage) for a
  /// launch on a CPU.
  NodeChoice choose(const AnyMatrix& matrix, const Device& device, const ProfileOption& profile,
                    TreeUse use) const;
  /// Throws `Error` (unsupported) for schedule=tree and entries of a definition.
  static StoredTree store_as_tree(const AnyMatrix& matrix, const NodeChoice& choice,
                                  const Device& device);
  /// The choice, and its reason, as reports name them.
  static std::string text_of(const NodeChoice& choice);
  static std::string reason_of(const NodeChoice& choice);
};

}  // namespace heddle::cli
