// Linear elasticity with linear tetrahedra.
#include "assemble_mesh.hpp"
#include "checks.hpp"
#include "heddle/tools/points.hpp"

namespace heddle {

using namespace points;
using namespace problems;

namespace {

using Block = block<double, 3, 3>;

struct Material {
  double lambda, mu;  // Lame's parameters

  Material(double young, double poisson)
      : lambda(young * poisson / ((1 + poisson) * (1 - 2 * poisson))),
        mu(young / (2 * (1 + poisson))) {}
};

/// One element: gradients once, blocks on demand.
class Element {
 public:
  Element(const std::array<Point, 4>& p, const Material& material) : material_(material) {
    const double v6 = volume6(p[0], p[1], p[2], p[3]);
    volume_ = v6 / 6;
    gradient_[1] = (1 / v6) * cross(p[2] - p[0], p[3] - p[0]);
    gradient_[2] = (1 / v6) * cross(p[3] - p[0], p[1] - p[0]);
    gradient_[3] = (1 / v6) * cross(p[1] - p[0], p[2] - p[0]);
    gradient_[0] = Point{0, 0, 0} - (gradient_[1] + gradient_[2] + gradient_[3]);
  }

  /// (b, a) is the transpose of (a, b) bit by bit: both come from the same operations.
  Block operator()(int a, int b) const {
    const bool transposed = a > b;
    const Point& g = gradient_[transposed ? b : a];
    const Point& h = gradient_[transposed ? a : b];
    const double shear = material_.mu * dot(g, h);
    Block result;
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        const double gh = g[i] * h[j], hg = h[i] * g[j];
        const double diagonal = i == j ? shear : 0;
        const double upper = volume_ * (material_.lambda * gh + material_.mu * hg + diagonal);
        const double lower = volume_ * (material_.lambda * hg + material_.mu * gh + diagonal);
        const bool symmetric = a == b || i == j;
        result.component[Block::at(i, j)] = transposed && !symmetric ? lower : upper;
        result.component[Block::at(j, i)] = transposed || symmetric ? upper : lower;
      }
    }
    return result;
  }

 private:
  Material material_;
  double volume_;
  std::array<Point, 4> gradient_;
};

void check_material(const ElasticityOptions& options) {
  check_option("elasticity", "Young's modulus", options.young, 1e-100, 1e100);
  check_option("elasticity", "Poisson's ratio", options.poisson, 0, 0.4999);
}

}  // namespace

std::array<std::array<Block, 4>, 4> tetrahedron_stiffness(const std::array<Point, 4>& corner,
                                                          double young, double poisson) {
  if (!(volume6(corner[0], corner[1], corner[2], corner[3]) > 0)) {
    throw Error(ErrorKind::singular, "a tetrahedron has no positive volume");
  }
  const Element element(corner, Material(young, poisson));
  std::array<std::array<Block, 4>, 4> stiffness;
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) stiffness[a][b] = element(a, b);
  }
  return stiffness;
}

CsrMatrix<Block> elasticity(const TetrahedronMesh& mesh, const ElasticityOptions& options) {
  check_material(options);
  const Material material(options.young, options.poisson);
  const auto vertices = static_cast<Index>(mesh.position.size());
  const auto corners = [&](Offset t) {
    std::array<Point, 4> p;
    for (int a = 0; a < 4; ++a) p[a] = mesh.position[mesh.tetrahedron[t][a]];
    return p;
  };
  check_elements<4>(
      "tetrahedron", vertices, mesh.tetrahedron.span(),
      [&](Index t) {
        const auto p = corners(t);
        return volume6(p[0], p[1], p[2], p[3]) > 0;
      },
      "has no positive volume; order its corners a, b, c, d so that det(b - a, c - a, d - a) > 0");
  return assemble_mesh<Block, 4>(mesh.free_vertices, vertices, mesh.tetrahedron.span(),
                                 [&](Index t) { return Element(corners(t), material); });
}

CsrMatrix<Block> elasticity(Index size, std::uint64_t seed, const ElasticityOptions& options) {
  check_material(options);
  return elasticity(random_solid(size, seed, options.irregularity), options);
}

}  // namespace heddle
