// Mesh, matrix and device of a run, and their form in reports.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "../mesh/mesh_summary.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/plan_choice.hpp"

namespace heddle::simulation {

struct RunSummary {
  long long vertices = 0;
  long long tetrahedra = 0;
  long long left_out = 0;    // vertices that belong to no element
  long long reoriented = 0;  // tetrahedra that the file orients the other way around
  mesh::Box box;
  std::vector<mesh::GroupSize> groups;
  std::string device;
  Offset entries = 0;
  PlanChoice choice;
  MemoryUse memory;
  long long lists = 0;  // bytes of the assembly's lists, if they are kept

  void take_mesh(const mesh::SolidMesh& mesh);

  /// Adds keys from `vertices` to `groups`, and from `entries` to `lists`.
  void add_mesh_to(nlohmann::ordered_json& json) const;
  void add_matrix_to(nlohmann::ordered_json& json) const;
  /// Prints lines to standard output, from `mesh` to `groups`, and from `device` to `memory`.
  /// `unit` is printed after the coordinates.
  void print_mesh(const std::string& name, const std::string& unit) const;
  void print_matrix() const;
};

/// Prints the line for a file to standard output; none without a path. `more` follows the name.
void print_file(const std::optional<std::string>& path, const std::string& more = "");

}  // namespace heddle::simulation
