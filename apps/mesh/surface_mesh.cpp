#include "surface_mesh.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/points.hpp"

namespace heddle::mesh {

using namespace points;

namespace {

using Edge = std::array<Index, 2>;

/// As files count.
std::string number(Index i) { return std::to_string(Offset(i) + 1); }

std::string named(const Edge& edge) {
  return "the edge from vertex " + number(edge[0]) + " to " + number(edge[1]);
}

void check_triangles(const TriangleMesh& mesh) {
  const auto vertices = static_cast<Index>(mesh.position.size());
  std::vector<bool> is_corner(mesh.position.size());
  for (Index t = 0; t < static_cast<Index>(mesh.triangle.size()); ++t) {
    const auto& corner = mesh.triangle[t];
    for (const Index v : corner) {
      if (v < 0 || v >= vertices) {
        throw Error(ErrorKind::out_of_range, "triangle " + number(t) + " refers to vertex " +
                                                 number(v) + "; there are " +
                                                 std::to_string(vertices));
      }
      is_corner[v] = true;
    }
    const auto [a, b, c] = corner;
    const Point u = mesh.position[b] - mesh.position[a], v = mesh.position[c] - mesh.position[a];
    // Corners on a line have the area that rounding gives them.
    constexpr double rounding = 1e-14;
    if (!(length(cross(u, v)) > rounding * std::max(dot(u, u), dot(v, v)))) {
      detail::malformed_file("triangle " + number(t) + " (vertices " + number(a) + ", " +
                             number(b) + ", " + number(c) + ") has no area");
    }
  }
  const auto lonely = std::find(is_corner.begin(), is_corner.end(), false);
  if (lonely != is_corner.end()) {
    detail::malformed_file("vertex " + number(static_cast<Index>(lonely - is_corner.begin())) +
                           " belongs to no triangle");
  }
}

/// Every directed edge once, and the opposite one too.
void check_edges(const TriangleMesh& mesh) {
  std::vector<Edge> edges;
  edges.reserve(3 * mesh.triangle.size());
  for (const auto& corner : mesh.triangle) {
    for (int i = 0; i < 3; ++i) edges.push_back({corner[i], corner[(i + 1) % 3]});
  }
  std::sort(edges.begin(), edges.end());
  const auto twice = std::adjacent_find(edges.begin(), edges.end());
  if (twice != edges.end()) {
    detail::malformed_file(
        named(*twice) +
        " is run through in that direction by two triangles: the surface is not manifold there, "
        "or triangles are not oriented alike");
  }
  for (const Edge& edge : edges) {
    if (!std::binary_search(edges.begin(), edges.end(), Edge{edge[1], edge[0]})) {
      detail::malformed_file(named(edge) +
                             " belongs to one triangle only: the surface is not closed");
    }
  }
}

/// One fan of triangles around each vertex: walking from triangle to triangle across the edges at
/// the vertex meets all of them.
void check_fans(const TriangleMesh& mesh) {
  const std::size_t vertices = mesh.position.size();
  std::vector<Index> degree(vertices), next_of_any(vertices);
  // At each vertex, the corner that follows it, by the corner before: sorted for looking up.
  std::vector<std::array<Index, 3>> steps;  // vertex, from, to
  steps.reserve(3 * mesh.triangle.size());
  for (const auto& corner : mesh.triangle) {
    for (int i = 0; i < 3; ++i) {
      const Index v = corner[i];
      ++degree[v];
      next_of_any[v] = corner[(i + 1) % 3];
      steps.push_back({v, corner[(i + 1) % 3], corner[(i + 2) % 3]});
    }
  }
  std::sort(steps.begin(), steps.end());
  for (Index v = 0; v < static_cast<Index>(vertices); ++v) {
    Index walked = 0;
    Index at = next_of_any[v];
    do {
      const auto step =
          std::lower_bound(steps.begin(), steps.end(), std::array<Index, 3>{v, at, 0});
      at = (*step)[2];
      ++walked;
    } while (at != next_of_any[v]);
    if (walked != degree[v]) {
      detail::malformed_file("at vertex " + number(v) +
                             " two sheets of the surface touch: it is not manifold there");
    }
  }
}

void check_one_part(const TriangleMesh& mesh) {
  std::vector<Index> parent(mesh.position.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& corner : mesh.triangle) {
    parent[root(corner[1])] = root(corner[0]);
    parent[root(corner[2])] = root(corner[0]);
  }
  for (Index v = 0; v < static_cast<Index>(parent.size()); ++v) {
    if (root(v) != root(0)) {
      detail::malformed_file("vertices 1 and " + number(v) +
                             " are in parts of the surface that do not hang together");
    }
  }
}

}  // namespace

void check_closed(const TriangleMesh& mesh) {
  if (mesh.triangle.empty()) detail::malformed_file("there are no triangles");
  check_triangles(mesh);
  check_edges(mesh);
  check_fans(mesh);
  check_one_part(mesh);
}

int genus(const TriangleMesh& mesh) {
  const auto vertices = static_cast<Offset>(mesh.position.size());
  const auto triangles = static_cast<Offset>(mesh.triangle.size());
  return static_cast<int>((2 - (vertices - triangles / 2)) / 2);
}

void write_obj(const std::string& path, const SurfaceMesh& mesh) {
  OutputFile file(path);
  char line[128];
  const auto write = [&](int length) {
    file.write(std::string_view(line, static_cast<std::size_t>(length)));
  };
  for (const Point& p : mesh.triangles.position) {
    write(std::snprintf(line, sizeof line, "v %.10g %.10g %.10g\n", p[0], p[1], p[2]));
  }
  for (const auto& corners : mesh.texture) {
    for (const TextureCoordinate& t : corners) {
      write(std::snprintf(line, sizeof line, "vt %.9g %.9g\n", t[0], t[1]));
    }
  }
  Offset texture = 1;
  for (const auto& corner : mesh.triangles.triangle) {
    const Offset a = corner[0] + 1LL, b = corner[1] + 1LL, c = corner[2] + 1LL;
    if (mesh.texture.empty()) {
      write(std::snprintf(line, sizeof line, "f %lld %lld %lld\n", static_cast<long long>(a),
                          static_cast<long long>(b), static_cast<long long>(c)));
    } else {
      write(std::snprintf(line, sizeof line, "f %lld/%lld %lld/%lld %lld/%lld\n",
                          static_cast<long long>(a), static_cast<long long>(texture),
                          static_cast<long long>(b), static_cast<long long>(texture + 1),
                          static_cast<long long>(c), static_cast<long long>(texture + 2)));
      texture += 3;
    }
  }
  file.commit();
}

}  // namespace heddle::mesh
