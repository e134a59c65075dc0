#include "rigid_motions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "heddle/error.hpp"
#include "parts.hpp"
#include "passes.hpp"

namespace heddle::elastic {

using namespace points;

namespace {

struct Extent {
  Point centre{};
  double radius = 0;  // 1 where all points are one
};

template <class Vertices>
Extent extent_of(const std::vector<Point>& position, const Vertices& vertices) {
  Extent extent;
  double count = 0;
  for (const Index v : vertices) {
    extent.centre = extent.centre + position[static_cast<std::size_t>(v)];
    ++count;
  }
  extent.centre = (1 / count) * extent.centre;
  for (const Index v : vertices) {
    extent.radius =
        std::max(extent.radius, length(position[static_cast<std::size_t>(v)] - extent.centre));
  }
  if (extent.radius == 0) extent.radius = 1;
  return extent;
}

std::vector<Index> all_vertices(std::size_t count) {
  std::vector<Index> all(count);
  for (std::size_t v = 0; v < count; ++v) all[v] = static_cast<Index>(v);
  return all;
}

/// Component k of the six motions at a point.
std::array<double, 6> motions_at(const Point& x, int k) {
  std::array<double, 6> values{};
  values[static_cast<std::size_t>(k)] = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Point turn{};
    turn[axis] = 1;
    values[3 + axis] = cross(turn, x)[static_cast<std::size_t>(k)];
  }
  return values;
}

/// By Cholesky's method with the largest pivot first, of a matrix without negative eigenvalues.
int rank_of(std::array<std::array<double, 6>, 6> G) {
  constexpr double relative = 1e-10;
  double largest = 0;
  for (std::size_t i = 0; i < 6; ++i) largest = std::max(largest, G[i][i]);
  std::array<bool, 6> done{};
  for (int rank = 0; rank < 6; ++rank) {
    std::size_t pivot = 6;
    for (std::size_t i = 0; i < 6; ++i) {
      if (!done[i] && (pivot == 6 || G[i][i] > G[pivot][pivot])) pivot = i;
    }
    if (!(G[pivot][pivot] > relative * largest)) return rank;
    done[pivot] = true;
    const std::array<double, 6> row = G[pivot];
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        if (!done[i] && !done[j]) G[i][j] -= row[i] * row[j] / row[pivot];
      }
    }
  }
  return 6;
}

/// Without digits that are rounding.
std::string text_of(const Point& p, double rounding) {
  const auto number = [&](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", std::abs(value) <= rounding ? 0 : value);
    return std::string(text);
  };
  return "(" + number(p[0]) + ", " + number(p[1]) + ", " + number(p[2]) + ")";
}

void check_balance(const Model& model) {
  constexpr double rounding = 1e-9;
  const Extent extent = extent_of(model.position, all_vertices(model.position.size()));
  Point force{}, moment{};
  double size = 0;
  for (std::size_t v = 0; v < model.load.size(); ++v) {
    force = force + model.load[v];
    moment = moment + cross(model.position[v] - extent.centre, model.load[v]);
    size += length(model.load[v]);
  }
  const double of_force = rounding * size, of_moment = of_force * extent.radius;
  if (length(force) <= of_force && length(moment) <= of_moment) return;
  detail::malformed_file(
      "nothing is supported and the loads are not in balance: they sum to the force " +
      text_of(force, of_force) + " and the moment " + text_of(moment, of_moment) +
      " about the middle; add supports or balance the loads");
}

/// Of each part.
std::vector<std::vector<Index>> vertices_of(const Parts& parts) {
  std::vector<std::vector<Index>> vertices(static_cast<std::size_t>(parts.count()));
  for (std::size_t v = 0; v < parts.of_vertex.size(); ++v) {
    vertices[static_cast<std::size_t>(parts.of_vertex[v])].push_back(static_cast<Index>(v));
  }
  return vertices;
}

void check_supports(const Model& model, const Parts& parts) {
  const std::vector<std::vector<Index>> vertices = vertices_of(parts);
  for (int part = 0; part < parts.count(); ++part) {
    const int free = free_motions(model, vertices[static_cast<std::size_t>(part)]);
    if (free == 0) continue;
    const std::string which =
        parts.count() == 1
            ? "the solid"
            : "part " + std::to_string(part + 1) + " of the " + std::to_string(parts.count()) +
                  " of the mesh (with vertex " +
                  std::to_string(parts.first_vertex[static_cast<std::size_t>(part)] + 1) + ")";
    detail::malformed_file(which + " can move as a rigid body: its supports leave " +
                           std::to_string(free) + " of 6 motions free");
  }
}

}  // namespace

std::vector<std::vector<double>> rigid_motions(const std::vector<Point>& position) {
  const Extent extent = extent_of(position, all_vertices(position.size()));
  std::vector<std::vector<double>> motions(6, std::vector<double>(3 * position.size()));
  for (std::size_t v = 0; v < position.size(); ++v) {
    const Point x = (1 / extent.radius) * (position[v] - extent.centre);
    for (int k = 0; k < 3; ++k) {
      const std::array<double, 6> values = motions_at(x, k);
      for (std::size_t m = 0; m < 6; ++m) {
        motions[m][3 * v + static_cast<std::size_t>(k)] = values[m];
      }
    }
  }
  return motions;
}

int free_motions(const Model& model, const std::vector<Index>& vertices_of_part) {
  std::vector<Index> held;
  for (const Index v : vertices_of_part) {
    if (model.fixed[static_cast<std::size_t>(v)] != 0) held.push_back(v);
  }
  if (held.empty()) return 6;
  // About what is held: seen from far away, all motions of a small support look alike.
  const Extent extent = extent_of(model.position, held);
  std::array<std::array<double, 6>, 6> G{};
  for (const Index v : held) {
    const Point x =
        (1 / extent.radius) * (model.position[static_cast<std::size_t>(v)] - extent.centre);
    for (int k = 0; k < 3; ++k) {
      if (!is_fixed(model.fixed[static_cast<std::size_t>(v)], k)) continue;
      const std::array<double, 6> row = motions_at(x, k);
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) G[i][j] += row[i] * row[j];
      }
    }
  }
  return 6 - rank_of(G);
}

int free_motions(const Model& model) {
  int free = 0;
  for (const auto& part : vertices_of(find_parts(model.vertices(), model.tetrahedron))) {
    free += free_motions(model, part);
  }
  return free;
}

bool needs_projection(const Model& model, NullSpace wish) {
  const Parts parts = find_parts(model.vertices(), model.tetrahedron);
  const bool is_free =
      std::all_of(model.fixed.begin(), model.fixed.end(), [](auto bits) { return bits == 0; });
  if (wish == NullSpace::rigid && !is_free) {
    detail::malformed_file(
        "analysis.null_space is rigid, but there are supports: leave one of them out");
  }
  if (!is_free || wish == NullSpace::none) {
    check_supports(model, parts);
    return false;
  }
  if (parts.count() > 1) {
    detail::malformed_file("nothing is supported and the mesh has " +
                           std::to_string(parts.count()) +
                           " parts: rigid motions are projected out of one part only");
  }
  check_balance(model);
  return true;
}

}  // namespace heddle::elastic
