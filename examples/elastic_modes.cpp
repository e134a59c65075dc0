// The lowest modes of an elastic solid held at its foot: K x = M x omega^2.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "heddle/choose_plan.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "heddle/triplets.hpp"

using E = heddle::block<double, 3, 3>;

double volume(const std::array<heddle::Point, 4>& corner) {
  double e[3][3];
  for (int a = 0; a < 3; ++a) {
    for (int k = 0; k < 3; ++k) e[a][k] = corner[a + 1][k] - corner[0][k];
  }
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
          e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6;
}

/// The consistent mass matrix of linear tetrahedra of density 1.
heddle::CsrMatrix<E> mass_of(const heddle::TetrahedronMesh& mesh) {
  std::vector<heddle::Triplet<E>> triplets;
  for (const auto& tetrahedron : mesh.tetrahedron) {
    std::array<heddle::Point, 4> corner;
    for (int a = 0; a < 4; ++a) corner[a] = mesh.position[tetrahedron[a]];
    const double share = volume(corner) / 20;
    for (const heddle::Index row : tetrahedron) {
      for (const heddle::Index column : tetrahedron) {
        if (row >= mesh.free_vertices || column >= mesh.free_vertices) continue;
        const double m = row == column ? 2 * share : share;
        triplets.push_back({row, column, {{m, 0, 0, 0, m, 0, 0, 0, m}}});
      }
    }
  }
  return heddle::assemble<E>(mesh.free_vertices, mesh.free_vertices, triplets).matrix;
}

int main() {
  const heddle::TetrahedronMesh mesh = heddle::random_solid(2000);
  const heddle::CsrMatrix<E> stiffness = heddle::elasticity(mesh), mass = mass_of(mesh);
  const heddle::Plan plan = heddle::choose_plan(stiffness);
  const heddle::Operator<E> K(stiffness, plan), M(mass.view(), plan, K.row_basis());
  heddle::Lobpcg solver(K, M, heddle::Jacobi(K), {.count = 4});

  std::vector<heddle::Field<E>> modes(4);
  std::vector<heddle::FieldView<double>> views;
  for (auto& mode : modes) {
    mode = heddle::Field<E>(mesh.free_vertices);  // zero: replaced by a random vector
    views.push_back(mode);
  }
  const heddle::EigenReport report = solver.solve(views);
  std::printf("%s after %lld iterations\n", heddle::name(report.status).data(), report.iterations);
  for (const double squared : report.eigenvalues) {
    std::printf("angular frequency %.8f\n", std::sqrt(squared));
  }
  return report.converged() ? 0 : 1;
}
