#include "rigid_motions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "heddle/error.hpp"
#include "heddle/multigrid.hpp"
#include "parts.hpp"
#include "passes.hpp"

namespace heddle::elastic {

using namespace points;

namespace {

struct Extent {
  Point centre{};
  double radius = 0;  // 1 if all points coincide
};

Extent extent_of(const std::vector<Point>& position) {
  Extent extent;
  for (const Point& x : position) extent.centre = extent.centre + x;
  extent.centre = (1 / static_cast<double>(position.size())) * extent.centre;
  for (const Point& x : position) {
    extent.radius = std::max(extent.radius, length(x - extent.centre));
  }
  if (extent.radius == 0) extent.radius = 1;
  return extent;
}

/// By Cholesky's method with the largest pivot first, for a matrix without negative eigenvalues.
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

/// Omits digits that are rounding.
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
  const Extent extent = extent_of(model.position);
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
      " about the centre; add supports or balance the loads");
}

/// The vertices of each part.
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

int free_motions(const Model& model, const std::vector<Index>& vertices_of_part) {
  std::vector<Point> held;
  std::vector<unsigned char> fixed;
  for (const Index v : vertices_of_part) {
    const auto at = static_cast<std::size_t>(v);
    if (model.fixed[at] == 0) continue;
    held.push_back(model.position[at]);
    fixed.push_back(model.fixed[at]);
  }
  if (held.empty()) return 6;
  // Motions about the held points: from far away, all motions of a small support look the same.
  const auto motions = rigid_body_modes<double>(held);
  std::array<std::array<double, 6>, 6> G{};
  for (std::size_t v = 0; v < held.size(); ++v) {
    for (int k = 0; k < 3; ++k) {
      if (!is_fixed(fixed[v], k)) continue;
      const std::size_t at = 3 * v + static_cast<std::size_t>(k);
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) G[i][j] += motions[i][at] * motions[j][at];
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
        "analysis.null_space is rigid, but there are supports: leave one of the two out");
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
