// Selections of a mesh by a case's groups and boxes. Each throws `Error` (malformed_file) with the
// path in the case: for a group that the mesh does not have, and for a selection that is empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../mesh/solid_mesh.hpp"
#include "boundary.hpp"
#include "case_object.hpp"

namespace heddle::simulation {

/// A place where something holds: in a group of the mesh, in a box, or everywhere. `path` is its
/// path in the file, for messages.
struct Selection {
  struct Box {
    Point least;
    Point most;
  };
  std::string path;
  std::string group;       // its name, or its number as text; empty if there is none
  bool by_number = false;  // given as a number in the case, which is not a name
  std::optional<Box> box;  // including its sides
  bool is_everywhere() const { return group.empty() && !box; }
};

/// A place that a case gives by the keys `group` or `box`; everywhere if it has neither.
Selection read_selection(const CaseObject& object);
/// The same, but a group or a box is required.
Selection read_place(const CaseObject& object);

class Selector {
 public:
  /// `file` is the case's, for messages. Keeps references.
  Selector(const mesh::SolidMesh& mesh, const Boundary& boundary, std::string file);

  /// A group of tetrahedra; in a box, the tetrahedra whose corners all lie in it.
  std::vector<Offset> tetrahedra(const Selection& where) const;
  /// Increasing vertices of a group of triangles, or else of tetrahedra; in a box, those in it.
  std::vector<Index> vertices(const Selection& where) const;
  /// Triangles of the boundary, oriented: a group of triangles, which must all belong to it, or
  /// those whose vertices all lie in a box.
  std::vector<Triangle> triangles(const Selection& where) const;

 private:
  /// The number of a group of `dimension`, by name or number. If there is none, `find_group`
  /// returns false and `group_number` throws.
  bool find_group(const Selection& where, int dimension, int& number) const;
  int group_number(const Selection& where, int dimension) const;
  std::string names_of(int dimension) const;
  [[noreturn]] void refuse(const Selection& where, const std::string& what) const;

  const mesh::SolidMesh& mesh_;
  const Boundary& boundary_;
  std::string file_;
};

}  // namespace heddle::simulation
