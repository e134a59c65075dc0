// The purpose of a plan.
#pragma once

#include <compare>
#include <string_view>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/method_info.hpp"

namespace heddle {

/// The timed work: an iteration of a method of the table, or a product by itself.
struct Objective {
  const MethodInfo* method = &method_table().front();  // null: a product
  int systems = 1;  // solved together; up to 8 share a pass over the matrix

  static constexpr Objective product(int systems = 1) { return {nullptr, systems}; }
  bool is_product() const { return method == nullptr; }
  /// Compares the methods: profiles know one system.
  bool operator==(const Objective& other) const { return method == other.method; }
  auto operator<=>(const Objective& other) const { return method <=> other.method; }
};
/// "product", or the name in the method's row.
HEDDLE_EXPORT std::string_view name(Objective objective);
HEDDLE_EXPORT std::vector<std::string_view> objective_names();
/// Throws `Error` (usage) that lists the existing names.
HEDDLE_EXPORT Objective parse_objective(std::string_view text);

}  // namespace heddle
