// The squared quaternionic Dirac operator of a surface.
#include <algorithm>
#include <cmath>
#include <string>

#include "assemble_mesh.hpp"
#include "checks.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"
#include "random.hpp"

namespace heddle {

using namespace points;
using namespace problems;

namespace {

using Quaternion = quaternion<double>;

class Element {
 public:
  Element(const std::array<Point, 3>& p, double potential, double shift)
      : edge_{p[2] - p[1], p[0] - p[2], p[1] - p[0]}, potential_(potential) {
    const Point normal = cross(edge_[0], edge_[1]);
    area_ = 0.5 * std::sqrt(dot(normal, normal));
    mass_ = shift * area_ / 3;
  }

  /// (b, a) is the adjoint of (a, b) bit by bit: only one of them is computed.
  Quaternion operator()(int a, int b) const {
    if (a > b) return adjoint((*this)(b, a));
    const Point& e = edge_[a];
    const Point& f = edge_[b];
    const double w = dot(e, f) / (4 * area_) + area_ * potential_ * potential_ / 9;
    if (a == b) return {{w + mass_, 0, 0, 0}};
    const Point v = (-1 / (4 * area_)) * cross(e, f) + (potential_ / 6) * (f - e);
    return {{w, v[0], v[1], v[2]}};
  }

 private:
  std::array<Point, 3> edge_;  // opposite to each corner
  double potential_, area_, mass_;
};

std::array<Point, 3> corners_of(const TriangleMesh& mesh, Index t) {
  std::array<Point, 3> p;
  for (int a = 0; a < 3; ++a) p[a] = mesh.position[mesh.triangle[t][a]];
  return p;
}

void check_dirac_options(const DiracOptions& options) {
  check_option("dirac", "potential", options.potential, 0, 1e6);
  check_option("dirac", "shift", options.shift, 1e-12, 1e12);
}

}  // namespace

CsrMatrix<Quaternion> dirac(const TriangleMesh& mesh, std::span<const double> potential,
                            double shift) {
  if (potential.size() != mesh.triangle.size()) {
    throw Error(ErrorKind::size_mismatch, "dirac: " + std::to_string(potential.size()) +
                                              " potentials for " +
                                              std::to_string(mesh.triangle.size()) + " triangles");
  }
  if (!(shift >= 0 && std::isfinite(shift))) {
    throw Error(ErrorKind::usage, "dirac: the shift is not a finite number of at least 0");
  }
  const auto bad = std::ranges::find_if_not(potential, [](double p) { return std::isfinite(p); });
  if (bad != potential.end()) {
    throw Error(ErrorKind::not_finite, "dirac: the potential of triangle " +
                                           std::to_string(bad - potential.begin()) +
                                           " is not a finite number");
  }
  const auto vertices = static_cast<Index>(mesh.position.size());
  check_elements<3>(
      "triangle", vertices, mesh.triangle.span(),
      [&](Index t) {
        const auto p = corners_of(mesh, t);
        const Point normal = cross(p[2] - p[1], p[0] - p[2]);  // same formula in Element
        return dot(normal, normal) > 0;
      },
      "has no area; remove it");
  return assemble_mesh<Quaternion, 3>(vertices, vertices, mesh.triangle.span(), [&](Index t) {
    return Element(corners_of(mesh, t), potential[static_cast<std::size_t>(t)], shift);
  });
}

CsrMatrix<Quaternion> dirac(const TriangleMesh& mesh, std::uint64_t seed,
                            const DiracOptions& options) {
  check_dirac_options(options);
  const SmoothField variation(seed, Purpose::potential, 0, -1, 1);
  const auto vertices = static_cast<Index>(mesh.position.size());
  Array<double> potential(mesh.triangle.size());
  const auto triangles = static_cast<Offset>(mesh.triangle.size());
  parallel_for(default_threads(), triangles, [&](Offset t) {
    const auto& corner = mesh.triangle[t];
    // Faults of the mesh are reported below.
    const bool inside =
        std::ranges::all_of(corner, [&](Index v) { return v >= 0 && v < vertices; });
    if (!inside) return;
    const auto p = corners_of(mesh, static_cast<Index>(t));
    potential[t] = options.potential * variation((1.0 / 3) * (p[0] + p[1] + p[2]));
  });
  return dirac(mesh, potential.span(), options.shift);
}

CsrMatrix<Quaternion> dirac(Index size, std::uint64_t seed, const DiracOptions& options) {
  check_dirac_options(options);
  return dirac(random_surface(size, seed), seed, options);
}

}  // namespace heddle
