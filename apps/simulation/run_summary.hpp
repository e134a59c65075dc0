// Mesh, matrix and device of a run, and how reports tell them.
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
  long long left_out = 0;  // vertices of no element
  long long turned = 0;    // tetrahedra that the file has the other way round
  mesh::Box box;
  std::vector<mesh::GroupSize> groups;
  std::string device;
  Offset entries = 0;
  PlanChoice choice;
  MemoryUse memory;
  long long lists = 0;  // bytes of the assembly's, where they stay

  void take_mesh(const mesh::SolidMesh& mesh);

  /// Keys from `vertices` to `groups`, and from `entries` to `lists`.
  void add_mesh_to(nlohmann::ordered_json& json) const;
  void add_matrix_to(nlohmann::ordered_json& json) const;
  /// On standard output: lines from `mesh` to `groups`, and from `device` to `memory`. `unit`
  /// stands behind the coordinates.
  void print_mesh(const std::string& name, const std::string& unit) const;
  void print_matrix() const;
};

/// The line on standard output of a file; none where there is none. `more` stands behind the name.
void print_file(const std::optional<std::string>& path, const std::string& more = "");

}  // namespace heddle::simulation
