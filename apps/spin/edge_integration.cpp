#include "edge_integration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::spin {

using namespace points;

namespace {

/// Half the cotangents of a triangle's angles, each the weight of the opposite edge.
std::array<double, 3> weights_opposite(const TriangleMesh& mesh,
                                       const std::array<Index, 3>& corner) {
  const Point &a = mesh.position[corner[0]], &b = mesh.position[corner[1]],
              &c = mesh.position[corner[2]];
  const Point ab = b - a, bc = c - b, ca = a - c;
  const double by = -0.5 / length(cross(ab, ca));
  return {by * dot(ca, ab), by * dot(ab, bc), by * dot(bc, ca)};
}

/// The mean of conj(l) e l over l = (1 - t) a + t b, 0 <= t <= 1.
Quaternion rotated_edge(const Point& edge, const Quaternion& a, const Quaternion& b) {
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

CsrMatrix<RealOnQuaternions> cotangent_matrix(const TriangleMesh& mesh,
                                              const mesh::VertexCorners& corners) {
  const auto vertices = static_cast<Index>(mesh.position.size());
  struct Term {
    Index column;
    double value;
  };
  // A vertex has two edges in each of its triangles, so its row has at most this many terms.
  const auto first_term = [&](Index v) {
    return 2 * corners.offset(static_cast<std::size_t>(v)) + static_cast<std::size_t>(v);
  };
  std::vector<Term> terms(first_term(vertices));
  Array<Offset> offsets(static_cast<std::size_t>(vertices) + 1);
  parallel_for(default_threads(), vertices, [&](Index v) {
    Term* const row = terms.data() + first_term(v);
    Term* end = row;
    const auto add = [&](Index column, double value) {
      Term* const term = std::find_if(row, end, [&](const Term& t) { return t.column == column; });
      if (term == end) *end++ = {column, 0};
      term->value += value;
    };
    for (const auto [t, k] : corners.at(v)) {
      const auto& corner = mesh.triangle[t];
      const std::array<double, 3> weight = weights_opposite(mesh, corner);
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      add(v, weight[next] + weight[last]);
      add(corner[next], -weight[last]);
      add(corner[last], -weight[next]);
    }
    std::sort(row, end, [](const Term& a, const Term& b) { return a.column < b.column; });
    offsets[v + 1] = end - row;
  });
  for (Index v = 0; v < vertices; ++v) offsets[v + 1] += offsets[v];
  const auto entries = static_cast<std::size_t>(offsets[vertices]);
  Array<Index> column(entries);
  Array<double> values(entries);
  parallel_for(default_threads(), vertices, [&](Index v) {
    const Term* term = terms.data() + first_term(v);
    for (Offset entry = offsets[v]; entry < offsets[v + 1]; ++entry, ++term) {
      column[entry] = term->column;
      values[entry] = term->value;
    }
  });
  return {vertices, vertices, std::move(offsets), std::move(column), std::move(values)};
}

Field<RealOnQuaternions> divergence_of_edges(const TriangleMesh& mesh,
                                             const mesh::VertexCorners& corners,
                                             const std::vector<Quaternion>& lambda) {
  const auto vertices = static_cast<Index>(mesh.position.size());
  Field<RealOnQuaternions> divergence(vertices);
  const auto of = [&](Index v) -> const Quaternion& { return lambda[static_cast<std::size_t>(v)]; };
  parallel_for(default_threads(), vertices, [&](Index v) {
    Quaternion sum = Quaternion::zero();
    for (const auto [t, k] : corners.at(v)) {
      const auto& corner = mesh.triangle[t];
      const Index next = corner[(k + 1) % 3], last = corner[(k + 2) % 3];
      const Quaternion leaves =
          rotated_edge(mesh.position[next] - mesh.position[v], of(v), of(next));
      const Quaternion arrives =
          rotated_edge(mesh.position[v] - mesh.position[last], of(last), of(v));
      const std::array<double, 3> weight = weights_opposite(mesh, corner);
      sum = add(sum, times(-weight[(k + 2) % 3], leaves));
      sum = add(sum, times(weight[(k + 1) % 3], arrives));
    }
    divergence.set(v, {{sum.w(), sum.x(), sum.y(), sum.z()}});
  });
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
