#include "edge_integration.hpp"

#include <array>

#include "heddle/tools/points.hpp"
#include "heddle/triplets.hpp"

namespace heddle::spin {

using namespace points;

namespace {

/// Half the cotangent of a triangle's angle at its corner `k`, the weight of the edge opposite.
double weight_opposite(const TriangleMesh& mesh, const std::array<Index, 3>& corner, int k) {
  const Point& at = mesh.position[corner[k]];
  const Point u = mesh.position[corner[(k + 1) % 3]] - at;
  const Point v = mesh.position[corner[(k + 2) % 3]] - at;
  return 0.5 * dot(u, v) / length(cross(u, v));
}

/// The mean of conj(l) e l over l = (1 - t) a + t b, 0 <= t <= 1.
Quaternion turned_edge(const Point& edge, const Quaternion& a, const Quaternion& b) {
  const Quaternion e = imaginary(edge);
  const Quaternion ea = product(e, a), eb = product(e, b);
  Quaternion sum = Quaternion::zero();
  multiply_add(sum, times(1.0 / 3, adjoint(a)), ea);
  multiply_add(sum, times(1.0 / 6, adjoint(a)), eb);
  multiply_add(sum, times(1.0 / 6, adjoint(b)), ea);
  multiply_add(sum, times(1.0 / 3, adjoint(b)), eb);
  return sum;
}

}  // namespace

CsrMatrix<RealOnQuaternions> cotangent_matrix(const TriangleMesh& mesh) {
  std::vector<Triplet<RealOnQuaternions>> triplets;
  triplets.reserve(12 * mesh.triangle.size());
  for (const auto& corner : mesh.triangle) {
    for (int k = 0; k < 3; ++k) {
      const double weight = weight_opposite(mesh, corner, k);
      const Index i = corner[(k + 1) % 3], j = corner[(k + 2) % 3];
      triplets.push_back({i, i, {{weight}}});
      triplets.push_back({j, j, {{weight}}});
      triplets.push_back({i, j, {{-weight}}});
      triplets.push_back({j, i, {{-weight}}});
    }
  }
  const auto vertices = static_cast<Index>(mesh.position.size());
  return assemble<RealOnQuaternions>(vertices, vertices,
                                     std::span<const Triplet<RealOnQuaternions>>(triplets))
      .matrix;
}

Field<RealOnQuaternions> divergence_of_edges(const TriangleMesh& mesh,
                                             const std::vector<Quaternion>& lambda) {
  Field<RealOnQuaternions> divergence(static_cast<Index>(mesh.position.size()));
  const FieldView<double> at = divergence.view();
  for (const auto& corner : mesh.triangle) {
    for (int k = 0; k < 3; ++k) {
      const double weight = weight_opposite(mesh, corner, k);
      const Index i = corner[(k + 1) % 3], j = corner[(k + 2) % 3];
      const Quaternion edge =
          turned_edge(mesh.position[j] - mesh.position[i], lambda[static_cast<std::size_t>(i)],
                      lambda[static_cast<std::size_t>(j)]);
      for (int c = 0; c < 4; ++c) {
        at.at(i, c) -= weight * edge.component[c];
        at.at(j, c) += weight * edge.component[c];
      }
    }
  }
  return divergence;
}

Report integrate_edges(KrylovSolver<double>& solver, const Field<RealOnQuaternions>& divergence,
                       Field<RealOnQuaternions>& x) {
  std::array<Field<RealOnQuaternions>, 4> constants;
  std::vector<FieldView<const double>> null_space;
  for (int c = 0; c < 4; ++c) {
    constants[c] = Field<RealOnQuaternions>(x.size());
    for (Index i = 0; i < x.size(); ++i) constants[c].view().at(i, c) = 1;
    null_space.emplace_back(constants[c].view());
  }
  solver.set_null_space(null_space);
  return solver.solve(divergence, x);
}

}  // namespace heddle::spin
