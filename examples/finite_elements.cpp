// Finite elements of two kinds, whose matrices are summed directly into the operator that solves:
// -laplace(u) = f on the unit square, u = 0 on its boundary, with squares on the left and triangles
// on the right. A second load uses the same lists.
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

#include "heddle/assembly.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"

using E = heddle::real<double>;
using heddle::Index;

constexpr Index n = 40;  // cells per side, n + 1 nodes
constexpr double h = 1.0 / n, pi = 3.14159265358979323846;

Index node_at(Index i, Index j) { return j * (n + 1) + i; }
bool is_on_rim(Index node) {
  const Index i = node % (n + 1), j = node / (n + 1);
  return i == 0 || j == 0 || i == n || j == n;
}

/// Nodes of each element, one element after the other.
struct Mesh {
  std::vector<Index> node;
  std::vector<heddle::Offset> first{0};

  void add(std::initializer_list<Index> corners) {
    node.insert(node.end(), corners);
    first.push_back(static_cast<heddle::Offset>(node.size()));
  }
  heddle::ElementsView view() const {
    return {.nodes = (n + 1) * (n + 1),
            .elements = static_cast<heddle::Offset>(first.size()) - 1,
            .node = node.data(),
            .first = first.data()};
  }
};

/// Integrals of grad phi_a grad phi_b: for a square with corners in cyclic order, and for a right
/// triangle whose right angle is at its first corner. Neither depends on h.
constexpr double square[4][4] = {
    {4, -1, -2, -1}, {-1, 4, -1, -2}, {-2, -1, 4, -1}, {-1, -2, -1, 4}};
constexpr double triangle[3][3] = {{2, -1, -1}, {-1, 1, 0}, {-1, 0, 1}};

int main() {
  Mesh mesh;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index a = node_at(i, j), b = node_at(i + 1, j), c = node_at(i + 1, j + 1),
                  d = node_at(i, j + 1);
      if (2 * i < n) {
        mesh.add({a, b, c, d});
      } else {
        mesh.add({a, b, d});
        mesh.add({c, d, b});
      }
    }
  }

  // The matrices of the elements, one after the other; a boundary node has a row of the identity.
  std::vector<double> matrices, loads;
  for (std::size_t e = 0; e + 1 < mesh.first.size(); ++e) {
    const auto nodes =
        std::span(mesh.node).subspan(static_cast<std::size_t>(mesh.first[e]),
                                     static_cast<std::size_t>(mesh.first[e + 1] - mesh.first[e]));
    const bool is_square = nodes.size() == 4;
    const double share = is_square ? h * h / 4 : h * h / 6;  // area of a corner
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      for (std::size_t b = 0; b < nodes.size(); ++b) {
        const double k = is_square ? square[a][b] / 6 : triangle[a][b] / 2;
        const bool is_fixed = is_on_rim(nodes[a]) || is_on_rim(nodes[b]);
        matrices.push_back(is_fixed ? (a == b ? 1 : 0) : k);
      }
      const double x = (nodes[a] % (n + 1)) * h, y = (nodes[a] / (n + 1)) * h;
      const double f = 2 * pi * pi * std::sin(pi * x) * std::sin(pi * y);
      loads.push_back(is_on_rim(nodes[a]) ? 0 : f * share);
    }
  }

  heddle::Assembly<E> assembly(mesh.view(), heddle::parse_plan("CSR"));
  assembly.assemble(matrices);
  heddle::Operator<E>& K = assembly.matrix();
  heddle::Field<E> b = K.field(), u = K.field();
  heddle::ConjugateGradient cg(K, heddle::Jacobi(K));
  for (const double load : {1.0, 2.0}) {
    std::vector<double> loaded = loads;
    for (double& value : loaded) value *= load;
    assembly.assemble_vector(loaded, b.view());
    const auto report = cg.solve(b.view(), u.view());
    const double middle = u[node_at(n / 2, n / 2)].component[0];
    std::cout << "load " << load << ": " << report << ", u is " << middle << " in the middle, "
              << load << " by the exact solution\n";
    if (!report.converged() || std::abs(middle - load) > 2e-3 * load) return 1;
  }
}
