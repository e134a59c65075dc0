// Irregular tetrahedra without a Delaunay triangulation: in every cell and every face of a grid,
// the most prominent corner decides, so that neighbours agree without asking each other.
#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "grid.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"
#include "mesh_order.hpp"
#include "random.hpp"

namespace heddle {

using namespace points;
using namespace problems;

namespace {

using Tetrahedron = std::array<Index, 4>;

constexpr double min_mean_ratio = 0.25;
constexpr double largest_jitter = 0.25;  // grid spacings, along each axis

/// Cube of the mean ratio 12 (3 V)^(2/3) / (sum of squared edges), with the sign of the volume.
double mean_ratio_cubed(const std::array<Point, 4>& p) {
  const double v6 = volume6(p[0], p[1], p[2], p[3]);
  double squares = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) squares += dot(p[i] - p[j], p[i] - p[j]);
  }
  return 432 * v6 * (v6 < 0 ? -v6 : v6) / (squares * squares * squares);
}

/// Six tetrahedra of the cell whose lowest corner is `low`: its highest vertex joined to the
/// triangles of the three faces that it does not lie on. Each holds a sixth of the cell.
template <class Height>
std::array<Tetrahedron, 6> split_cell(const Grid& grid, Index low, const Height& height) {
  std::array<Index, 8> corner;
  for (int c = 0; c < 8; ++c) {
    corner[c] = low;
    for (int axis = 0; axis < 3; ++axis) {
      if ((c >> axis & 1) != 0) corner[c] += grid.stride(axis);
    }
  }
  std::array<double, 8> h;
  for (int c = 0; c < 8; ++c) h[c] = height(corner[c]);
  const auto higher = [&](int a, int b) {
    return h[a] != h[b] ? h[a] > h[b] : corner[a] > corner[b];
  };
  int top = 0;
  for (int c = 1; c < 8; ++c) top = higher(c, top) ? c : top;

  std::array<Tetrahedron, 6> cell;
  for (int axis = 0; axis < 3; ++axis) {
    const int up = 1 << (axis + 1) % 3, right = 1 << (axis + 2) % 3;
    const bool far_side = (top >> axis & 1) == 0;
    const int base = far_side ? 1 << axis : 0;
    const std::array<int, 4> face = {base, base | up, base | up | right, base | right};
    int m = 0;
    for (int i = 1; i < 4; ++i) m = higher(face[i], face[m]) ? i : m;
    for (int half = 0; half < 2; ++half) {
      Index b = corner[face[(m + 1 + half) % 4]], c = corner[face[(m + 2 + half) % 4]];
      if (!far_side) std::swap(b, c);
      cell[2 * axis + half] = {corner[top], corner[face[m]], b, c};
    }
  }
  return cell;
}

/// Halves the jitter around every tetrahedron that is too flat until none is. `place(v, amplitude)`
/// is where vertex v lies.
template <class Place>
void settle(std::span<const Tetrahedron> tetrahedra, std::span<Point> position,
            const Place& place) {
  std::vector<double> amplitude(position.size(), largest_jitter);
  std::vector<char> halve(position.size());
  const auto vertices = static_cast<Offset>(position.size());
  const auto count = static_cast<Offset>(tetrahedra.size());
  // Below 2^-20 nothing but the undeformed grid's own quality is left.
  for (int round = 0; round <= 20; ++round) {
    parallel_for(default_threads(), vertices, [&](Offset v) {
      if (halve[v] != 0) amplitude[v] /= 2;
      if (round == 0 || halve[v] != 0) position[v] = place(static_cast<Index>(v), amplitude[v]);
      halve[v] = 0;
    });
    std::atomic<bool> some_flat{false};
    parallel_for(default_threads(), count, [&](Offset t) {
      std::array<Point, 4> corner;
      for (int a = 0; a < 4; ++a) corner[a] = position[tetrahedra[t][a]];
      constexpr double least = min_mean_ratio * min_mean_ratio * min_mean_ratio;
      if (mean_ratio_cubed(corner) >= least) return;
      some_flat.store(true, std::memory_order_relaxed);
      for (const Index v : tetrahedra[t]) {
        std::atomic_ref(halve[v]).store(1, std::memory_order_relaxed);
      }
    });
    if (!some_flat.load()) return;
  }
  throw Error(ErrorKind::internal,
              "a random solid has tetrahedra that jitter alone does not repair");
}

}  // namespace

TetrahedronMesh random_solid(Index size, std::uint64_t seed, double irregularity) {
  check_size("elasticity", size);
  check_option("elasticity", "irregularity", irregularity, 0, 1);
  const auto shape = [&](int which) { return uniform(seed, Purpose::shape, which, 0.85, 1.2); };
  Grid grid = make_grid(size, 1, {shape(0), shape(1)});
  grid.sides[0] = std::max(grid.sides[0], 2);
  grid.sides[1] = std::max(grid.sides[1], 2);
  const Index clamped = grid.sides[0] * grid.sides[1];
  grid.sides[2] += 1;
  const Index vertices = grid.size();
  check_memory("elasticity", vertices, 6 * 16 + 24 * 4 + 60 + 15 * 76);

  // A slope in the heights makes cells agree on their highest corner, as in Kuhn's subdivision.
  const auto height = [&](Index v) {
    const GridPoint p = grid.place(v);
    return uniform(seed, Purpose::height, v) + (1 - irregularity) * (p[0] + p[1] + p[2]);
  };
  const GridPoint& sides = grid.sides;
  const Grid cells{{sides[0] - 1, sides[1] - 1, sides[2] - 1}};
  Array<Tetrahedron> tetrahedra(static_cast<std::size_t>(cells.size()) * 6);
  parallel_for(default_threads(), cells.size(), [&](Index c) {
    const auto cell = split_cell(grid, grid.at(cells.place(c)), height);
    std::copy(cell.begin(), cell.end(), tetrahedra.data() + Offset(6) * c);
  });

  const double spacing = 1.0 / (*std::max_element(sides.begin(), sides.end()) - 1);
  const std::array<SmoothField, 3> bend = {SmoothField(seed, Purpose::shape, 1, 0, 1),
                                           SmoothField(seed, Purpose::shape, 2, 0, 1),
                                           SmoothField(seed, Purpose::shape, 3, 0, 1)};
  const auto place = [&](Index v, double amplitude) {
    const GridPoint p = grid.place(v);
    Point x;
    for (int axis = 0; axis < 3; ++axis) {
      const bool inner = p[axis] > 0 && p[axis] + 1 < sides[axis];  // faces stay smooth
      const double jitter =
          inner ? uniform(seed, Purpose::jitter, std::uint64_t(3) * v + axis, -1, 1) : 0;
      x[axis] = spacing * (p[axis] + amplitude * jitter);
    }
    return x + 0.2 * Point{bend[0](x), bend[1](x), bend[2](x)};
  };
  Array<Point> position(vertices);
  settle(tetrahedra.span(), position.span(), place);

  // Free vertices first: the clamped ones are the grid's first layer.
  const Array<Index> rank = hilbert_ranks(position.span().subspan(clamped));
  const auto renumbered = [&](Index v) {
    return v < clamped ? vertices - clamped + v : rank[v - clamped];
  };
  parallel_for(default_threads(), static_cast<Offset>(tetrahedra.size()), [&](Offset t) {
    for (Index& v : tetrahedra[t]) v = renumbered(v);
  });
  TetrahedronMesh mesh{Array<Point>(vertices), std::move(tetrahedra), vertices - clamped};
  parallel_for(default_threads(), vertices,
               [&](Index v) { mesh.position[renumbered(v)] = position[v]; });
  return mesh;
}

}  // namespace heddle
