#include "mesh_problem.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "heddle/element_pattern.hpp"
#include "heddle/problems.hpp"
#include "heddle/tools/points.hpp"

namespace heddle::bench {

namespace mesh_problem {
namespace {

using namespace points;

ElementMesh make_mesh(Index nodes) {
  const TetrahedronMesh solid = random_solid(nodes);
  ElementMesh mesh;
  mesh.nodes = static_cast<Index>(solid.position.size());
  for (const std::array<Index, 4>& corner : solid.tetrahedron) {
    std::array<Point, 4> p;
    for (std::size_t a = 0; a < 4; ++a) p[a] = solid.position[static_cast<std::size_t>(corner[a])];
    const Point b = p[1] - p[0], c = p[2] - p[0], d = p[3] - p[0];
    const double v6 = dot(b, cross(c, d));
    std::array<Point, 4> g;
    g[1] = (1 / v6) * cross(c, d);
    g[2] = (1 / v6) * cross(d, b);
    g[3] = (1 / v6) * cross(b, c);
    g[0] = Point{0, 0, 0} - (g[1] + g[2] + g[3]);
    mesh.volume.push_back(v6 / 6);
    mesh.node.insert(mesh.node.end(), corner.begin(), corner.end());
    for (const Point& of : g) mesh.gradient.insert(mesh.gradient.end(), of.begin(), of.end());
  }
  return mesh;
}

template <class E>
AnyMatrix summed(const ElementMesh& mesh) {
  const ElementPattern pattern =
      element_pattern({mesh.nodes, mesh.elements(), mesh.node.data(), 4});
  const MeshKernel<E> kernel{mesh.gradient.data(), mesh.volume.data()};
  Array<double> values(pattern.column.size() * E::components);
  for (Offset e = 0; e < mesh.elements(); ++e) {
    const Index* const node = &mesh.node[static_cast<std::size_t>(4 * e)];
    for (int a = 0; a < 4; ++a) {
      const auto row = static_cast<std::size_t>(node[a]);
      for (int b = 0; b < 4; ++b) {
        const auto found =
            std::lower_bound(pattern.column.begin() + pattern.offsets[row],
                             pattern.column.begin() + pattern.offsets[row + 1], node[b]);
        const auto at = static_cast<std::size_t>(found - pattern.column.begin());
        const E entry = kernel.entry(e, a, b);
        for (std::size_t k = 0; k < E::components; ++k) {
          values[at * E::components + k] += entry.component[k];
        }
      }
    }
  }
  return AnyMatrix(
      CsrMatrix<E>(mesh.nodes, mesh.nodes, Array<Offset>(std::span<const Offset>(pattern.offsets)),
                   Array<Index>(std::span<const Index>(pattern.column)), std::move(values)));
}

}  // namespace
}  // namespace mesh_problem

Problem make_mesh_problem(const ProblemName& problem) {
  auto mesh = std::make_shared<ElementMesh>(mesh_problem::make_mesh(problem.rows));
  AnyMatrix matrix = problem.entry == EntryKind::real
                         ? mesh_problem::summed<real<double>>(*mesh)
                         : mesh_problem::summed<block<double, 3, 3>>(*mesh);
  std::vector<double> x = random_x(matrix);
  return {.name = problem.name,
          .matrix = std::move(matrix),
          .hermitian_positive_definite = true,
          .plans = {},
          .x = std::move(x),
          .complex_symmetric = false,
          .mesh = std::move(mesh)};
}

}  // namespace heddle::bench
