#include "check_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "message_text.hpp"

namespace heddle::simulation {

using namespace points;

namespace {

double volume6_of(const mesh::SolidMesh& mesh, std::size_t t) {
  const auto at = [&](int a) -> const Point& {
    return mesh
        .position[static_cast<std::size_t>(mesh.tetrahedron[t][static_cast<std::size_t>(a)])];
  };
  return volume6(at(0), at(1), at(2), at(3));
}

double longest_edge(const mesh::SolidMesh& mesh, std::size_t t) {
  double longest = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      longest = std::max(longest,
                         length(mesh.position[static_cast<std::size_t>(mesh.tetrahedron[t][a])] -
                                mesh.position[static_cast<std::size_t>(mesh.tetrahedron[t][b])]));
    }
  }
  return longest;
}

/// Names the first, and the number of others.
std::string first_of(std::size_t first, long long count) {
  std::string text = "tetrahedron " + std::to_string(first + 1) + " of the mesh";
  if (count > 1) text += ", with " + std::to_string(count - 1) + " more,";
  return text;
}

void check_volumes(const mesh::SolidMesh& mesh) {
  // The rounding error of the volume is a few units in the last place of the cube of the edge.
  constexpr double rounding = 1e-13;
  const std::size_t none = mesh.tetrahedron.size();
  std::size_t first_flat = none, first_inverted = none;
  long long flat = 0, inverted = 0;
  for (std::size_t t = 0; t < mesh.tetrahedron.size(); ++t) {
    const double v6 = volume6_of(mesh, t);
    const double longest = longest_edge(mesh, t);
    if (v6 > rounding * longest * longest * longest) continue;
    const bool is_inverted = v6 < -rounding * longest * longest * longest;
    std::size_t& first = is_inverted ? first_inverted : first_flat;
    first = std::min(first, t);
    ++(is_inverted ? inverted : flat);
  }
  std::string fault;
  if (inverted > 0) {
    fault = first_of(first_inverted, inverted) + " is inverted: its volume is " +
            shortest(volume6_of(mesh, first_inverted) / 6);
  }
  if (flat > 0) {
    fault += (fault.empty() ? "" : "; ") + first_of(first_flat, flat) +
             " is flat: its corners lie in one plane";
  }
  if (!fault.empty()) throw Error(ErrorKind::singular, fault);
}

/// Tetrahedra of both orientations, once reversed to agree, must lie on opposite sides of the faces
/// that they share: a vertex that has moved through a face inverts tetrahedra too.
void check_folds(const mesh::SolidMesh& mesh) {
  struct Face {
    std::array<Index, 3> corner;
    Index opposite;
    std::size_t of;
  };
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tetrahedron.size());
  for (std::size_t t = 0; t < mesh.tetrahedron.size(); ++t) {
    const auto& c = mesh.tetrahedron[t];
    for (std::size_t a = 0; a < 4; ++a) {
      Face face{{c[(a + 1) % 4], c[(a + 2) % 4], c[(a + 3) % 4]}, c[a], t};
      std::sort(face.corner.begin(), face.corner.end());
      faces.push_back(face);
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    return a.corner != b.corner ? a.corner < b.corner : a.of < b.of;
  });
  const auto side = [&](const Face& face) {
    const auto at = [&](Index v) -> const Point& {
      return mesh.position[static_cast<std::size_t>(v)];
    };
    return volume6(at(face.corner[0]), at(face.corner[1]), at(face.corner[2]), at(face.opposite)) >
           0;
  };
  for (std::size_t i = 1; i < faces.size(); ++i) {
    const Face &a = faces[i - 1], &b = faces[i];
    if (a.corner != b.corner || side(a) != side(b)) continue;
    throw Error(ErrorKind::singular,
                "tetrahedra " + std::to_string(a.of + 1) + " and " + std::to_string(b.of + 1) +
                    " of the mesh overlap: they lie on the same side of the face that they share, "
                    "as if a vertex had moved through a tetrahedron");
  }
}

/// A tetrahedron that occurs twice would be twice as stiff and as heavy.
void check_twins(const mesh::SolidMesh& mesh) {
  std::vector<std::pair<std::array<Index, 4>, std::size_t>> sorted;
  sorted.reserve(mesh.tetrahedron.size());
  for (std::size_t t = 0; t < mesh.tetrahedron.size(); ++t) {
    sorted.emplace_back(mesh.tetrahedron[t], t);
    std::sort(sorted.back().first.begin(), sorted.back().first.end());
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twin =
      std::adjacent_find(sorted.begin(), sorted.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twin == sorted.end()) return;
  throw Error(ErrorKind::malformed_file, "tetrahedra " + std::to_string(twin[0].second + 1) +
                                             " and " + std::to_string(twin[1].second + 1) +
                                             " of the mesh have the same corners");
}

void check_vertices(const mesh::SolidMesh& mesh) {
  std::vector<bool> used(mesh.position.size());
  for (const auto& corners : mesh.tetrahedron) {
    for (const Index v : corners) used[static_cast<std::size_t>(v)] = true;
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused == used.end()) return;
  const auto others = std::count(unused, used.end(), false) - 1;
  throw Error(ErrorKind::malformed_file,
              "vertex " + std::to_string(unused - used.begin() + 1) + " of the mesh" +
                  (others > 0 ? ", with " + std::to_string(others) + " more," : "") +
                  " belongs to no tetrahedron");
}

}  // namespace

void check_and_orient(mesh::SolidMesh& mesh) {
  if (mesh.tetrahedron.empty()) {
    throw Error(ErrorKind::malformed_file, "the mesh has no tetrahedra");
  }
  bool all_negative = true;
  for (std::size_t t = 0; t < mesh.tetrahedron.size() && all_negative; ++t) {
    all_negative = volume6_of(mesh, t) < 0;
  }
  if (all_negative) {
    for (auto& corners : mesh.tetrahedron) std::swap(corners[2], corners[3]);
  }
  check_volumes(mesh);
  check_twins(mesh);
  check_vertices(mesh);
  if (mesh.reoriented > 0 && mesh.reoriented < std::ssize(mesh.tetrahedron)) check_folds(mesh);
}

}  // namespace heddle::simulation
