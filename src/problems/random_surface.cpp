// Geodesic spheres (Class I), smoothly deformed.
#include <cmath>

#include "checks.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"
#include "mesh_order.hpp"
#include "random.hpp"

namespace heddle {

using namespace points;
using namespace problems;

namespace {

/// 12 corners, 30 edges (from the lower corner), 20 faces (counterclockwise from outside).
struct Icosahedron {
  std::array<Point, 12> corner;
  std::array<std::array<int, 2>, 30> edge;
  std::array<std::array<int, 3>, 20> face;
  std::array<std::array<int, 12>, 12> edge_between;

  Icosahedron() {
    // Three golden rectangles, one in each coordinate plane; edges have length 2.
    const double golden = (1 + std::sqrt(5.0)) / 2;
    int corners = 0, edges = 0, faces = 0;
    for (int axis = 0; axis < 3; ++axis) {
      for (const double a : {-1.0, 1.0}) {
        for (const double b : {-golden, golden}) {
          Point& p = corner[corners++];
          p[axis] = 0;
          p[(axis + 1) % 3] = a;
          p[(axis + 2) % 3] = b;
        }
      }
    }
    const auto adjacent = [&](int i, int j) {
      const Point d = corner[i] - corner[j];
      return dot(d, d) < 5;  // the next distance is 2 golden, squared 10.5
    };
    for (int i = 0; i < 12; ++i) {
      for (int j = i + 1; j < 12; ++j) {
        if (!adjacent(i, j)) continue;
        edge_between[i][j] = edge_between[j][i] = edges;
        edge[edges++] = {i, j};
        for (int k = j + 1; k < 12; ++k) {
          if (!adjacent(i, k) || !adjacent(j, k)) continue;
          const bool outward = dot(corner[i], cross(corner[j], corner[k])) > 0;
          face[faces++] = outward ? std::array{i, j, k} : std::array{i, k, j};
        }
      }
    }
  }
};

/// Vertex numbers: corners, then the inner vertices of edges, then those of faces.
class Subdivision {
 public:
  explicit Subdivision(Index frequency) : f_(frequency) {}

  Index vertices() const { return 10 * f_ * f_ + 2; }
  Index triangles() const { return 20 * f_ * f_; }

  /// Inner vertex `step` = 1 .. f - 1 of an edge, counted from its lower corner.
  Index on_edge(int edge, Index step) const { return 12 + edge * (f_ - 1) + step - 1; }

  /// `j` steps towards the second and `k` towards the third corner of a face.
  Index on_face(int face, Index j, Index k) const {
    const std::array<int, 3>& c = shape_.face[face];
    const Index i = f_ - j - k;
    if (i == f_) return c[0];
    if (j == f_) return c[1];
    if (k == f_) return c[2];
    if (k == 0) return between(c[0], c[1], j);
    if (j == 0) return between(c[0], c[2], k);
    if (i == 0) return between(c[1], c[2], k);
    const Index rows_below = (k - 1) * (f_ - 1) - (k - 1) * k / 2;  // rows of f - 2, f - 3, ...
    return 12 + 30 * (f_ - 1) + face * ((f_ - 1) * (f_ - 2) / 2) + rows_below + j - 1;
  }

  /// A point on the flat faces.
  Point position(int face, Index j, Index k) const {
    const std::array<int, 3>& c = shape_.face[face];
    return double(f_ - j - k) * shape_.corner[c[0]] + double(j) * shape_.corner[c[1]] +
           double(k) * shape_.corner[c[2]];
  }
  Point edge_position(int edge, Index step) const {
    const std::array<int, 2>& c = shape_.edge[edge];
    return double(f_ - step) * shape_.corner[c[0]] + double(step) * shape_.corner[c[1]];
  }
  Point corner_position(int corner) const { return shape_.corner[corner]; }

 private:
  Index between(int from, int to, Index step) const {
    return on_edge(shape_.edge_between[from][to], from < to ? step : f_ - step);
  }

  Index f_;
  Icosahedron shape_;
};

}  // namespace

TriangleMesh random_surface(Index size, std::uint64_t seed) {
  check_size("dirac", size);
  const auto f = static_cast<Index>(
      std::max(1L, std::lround(std::sqrt(std::max(0.0, (double(size) - 2) / 10)))));
  const Subdivision sphere(f);
  check_memory("dirac", sphere.vertices(), 24 + 2 * 12 + 6 * 4 + 24 + 7 * 36);

  const SmoothField bump(seed, Purpose::shape, 0, -1, 1);
  Array<Point> position(sphere.vertices());
  const auto place = [&](Index v, const Point& flat) {
    const Point x = (1 / std::sqrt(dot(flat, flat))) * flat;
    position[v] = (1 + 0.3 * bump(x)) * x;
  };
  for (int c = 0; c < 12; ++c) place(c, sphere.corner_position(c));
  for (int e = 0; e < 30; ++e) {
    for (Index step = 1; step < f; ++step)
      place(sphere.on_edge(e, step), sphere.edge_position(e, step));
  }
  parallel_for(default_threads(), 20 * f, [&](Index line) {
    const int face = line / f;
    const Index k = line % f;
    for (Index j = 1; k > 0 && j + k < f; ++j)
      place(sphere.on_face(face, j, k), sphere.position(face, j, k));
  });

  const Array<Index> rank = hilbert_ranks(position.span());
  TriangleMesh mesh{Array<Point>(position.size()), Array<std::array<Index, 3>>(sphere.triangles())};
  parallel_for(default_threads(), sphere.vertices(),
               [&](Index v) { mesh.position[rank[v]] = position[v]; });
  parallel_for(default_threads(), 20 * f, [&](Index line) {
    const int face = line / f;
    const Index k = line % f;
    // Row k holds f - k upright triangles and f - k - 1 hanging ones between them.
    Offset t = Offset(face) * f * f + Offset(k) * (2 * f - k);
    const auto vertex = [&](Index j, Index up) { return rank[sphere.on_face(face, j, up)]; };
    for (Index j = 0; j + k < f; ++j) {
      mesh.triangle[t++] = {vertex(j, k), vertex(j + 1, k), vertex(j, k + 1)};
      if (j + k + 1 == f) continue;
      mesh.triangle[t++] = {vertex(j + 1, k), vertex(j + 1, k + 1), vertex(j, k + 1)};
    }
  });
  return mesh;
}

}  // namespace heddle
