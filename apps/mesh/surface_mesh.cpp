#include "surface_mesh.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <numeric>
#include <string_view>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/team.hpp"
#include "vertex_corners.hpp"

namespace heddle::mesh {

using namespace points;

namespace {

using Edge = std::array<Index, 2>;

/// Counted from 1, as in files.
std::string number(Index i) { return std::to_string(Offset(i) + 1); }

std::string named(const Edge& edge) {
  return "the edge from vertex " + number(edge[0]) + " to " + number(edge[1]);
}

void check_triangles(const TriangleMesh& mesh) {
  const auto vertices = static_cast<Index>(mesh.position.size());
  const auto triangles = static_cast<Index>(mesh.triangle.size());
  const auto is_outside = [&](Index v) { return v < 0 || v >= vertices; };
  const auto has_area = [&](const std::array<Index, 3>& corner) {
    const auto [a, b, c] = corner;
    const Point u = mesh.position[b] - mesh.position[a], v = mesh.position[c] - mesh.position[a];
    // Collinear corners have the area that rounding gives them.
    constexpr double rounding = 1e-14;
    return length(cross(u, v)) > rounding * std::max(dot(u, u), dot(v, v));
  };
  const Index bad =
      parallel_min(default_threads(), triangles, triangles, [&](Index t, Index& least) {
        const auto& corner = mesh.triangle[t];
        if (t < least && (std::ranges::any_of(corner, is_outside) || !has_area(corner))) least = t;
      });
  if (bad == triangles) return;
  const auto& corner = mesh.triangle[bad];
  const auto outside = std::ranges::find_if(corner, is_outside);
  if (outside != corner.end()) {
    throw Error(ErrorKind::out_of_range, "triangle " + number(bad) + " refers to vertex " +
                                             number(*outside) + "; there are " +
                                             std::to_string(vertices));
  }
  detail::malformed_file("triangle " + number(bad) + " (vertices " + number(corner[0]) + ", " +
                         number(corner[1]) + ", " + number(corner[2]) + ") has no area");
}

/// The edges from each vertex, with the corner that follows each, sorted.
class Fans {
 public:
  struct Step {
    Index from, to;
    auto operator<=>(const Step&) const = default;
  };

  explicit Fans(const TriangleMesh& mesh) : corners_(mesh), step_(3 * mesh.triangle.size()) {
    parallel_for(default_threads(), vertices(mesh), [&](Index v) {
      const std::span<Step> own = at(v);
      auto to = own.begin();
      for (const auto [t, k] : corners_.at(v)) {
        const auto& corner = mesh.triangle[t];
        *to++ = {corner[(k + 1) % 3], corner[(k + 2) % 3]};
      }
      std::sort(own.begin(), own.end());
    });
  }

  static Index vertices(const TriangleMesh& mesh) {
    return static_cast<Index>(mesh.position.size());
  }
  std::span<Step> at(Index v) {
    const auto place = static_cast<std::size_t>(v);
    const std::size_t begin = corners_.offset(place);
    return std::span(step_).subspan(begin, corners_.offset(place + 1) - begin);
  }
  /// Null if there is no edge from v to `to`.
  const Step* find(Index v, Index to) {
    const std::span<Step> own = at(v);
    const auto found = std::lower_bound(own.begin(), own.end(), Step{to, 0});
    return found != own.end() && found->from == to ? &*found : nullptr;
  }

 private:
  VertexCorners corners_;
  std::vector<Step> step_;
};

void check_corners(const TriangleMesh& mesh, Fans& fans) {
  for (Index v = 0; v < Fans::vertices(mesh); ++v) {
    if (!fans.at(v).empty()) continue;
    detail::malformed_file("vertex " + number(v) + " belongs to no triangle");
  }
}

/// The least vertex for which `is_bad(v)` holds, or the number of vertices.
template <class IsBad>
Index first_bad(Index vertices, const IsBad& is_bad) {
  return parallel_min(default_threads(), vertices, vertices, [&](Index v, Index& least) {
    if (v < least && is_bad(v)) least = v;
  });
}

/// Checks that every directed edge occurs once, and so does the opposite one.
void check_edges(const TriangleMesh& mesh, Fans& fans) {
  const Index vertices = Fans::vertices(mesh);
  const auto twice = [&](Index v) {
    const auto own = fans.at(v);
    return std::adjacent_find(own.begin(), own.end(),
                              [](const auto& a, const auto& b) { return a.from == b.from; });
  };
  const Index manifold = first_bad(vertices, [&](Index v) { return twice(v) != fans.at(v).end(); });
  if (manifold < vertices) {
    detail::malformed_file(named({manifold, twice(manifold)->from}) +
                           " is traversed in that direction by two triangles: the surface is not "
                           "manifold there, or its triangles are not oriented the same way");
  }
  const auto open = [&](Index v) {
    const auto own = fans.at(v);
    return std::ranges::find_if(
        own, [&](const Fans::Step& edge) { return fans.find(edge.from, v) == nullptr; });
  };
  const Index closed = first_bad(vertices, [&](Index v) { return open(v) != fans.at(v).end(); });
  if (closed < vertices) {
    detail::malformed_file(named({closed, open(closed)->from}) +
                           " belongs to one triangle only: the surface is not closed");
  }
}

/// Checks that the triangles around each vertex form one fan: walking from triangle to triangle
/// across the edges at the vertex reaches all of them.
void check_fans(const TriangleMesh& mesh, Fans& fans) {
  const Index vertices = Fans::vertices(mesh);
  const Index bad = first_bad(vertices, [&](Index v) {
    const auto own = fans.at(v);
    std::size_t walked = 0;
    Index at = own.front().from;
    do {
      at = fans.find(v, at)->to;
      ++walked;
    } while (at != own.front().from);
    return walked != own.size();
  });
  if (bad < vertices) {
    detail::malformed_file("at vertex " + number(bad) +
                           " two sheets of the surface touch: it is not manifold there");
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
                             " are in parts of the surface that are not connected");
    }
  }
}

}  // namespace

void check_closed(const TriangleMesh& mesh) {
  if (mesh.triangle.empty()) detail::malformed_file("there are no triangles");
  check_triangles(mesh);
  Fans fans(mesh);
  check_corners(mesh, fans);
  check_edges(mesh, fans);
  check_fans(mesh, fans);
  check_one_part(mesh);
}

int genus(const TriangleMesh& mesh) {
  const auto vertices = static_cast<Offset>(mesh.position.size());
  const auto triangles = static_cast<Offset>(mesh.triangle.size());
  return static_cast<int>((2 - (vertices - triangles / 2)) / 2);
}

namespace {

/// A line of an OBJ file, formatted like printf.
class ObjLine {
 public:
  explicit ObjLine(std::string& text) : text_(text) {}

  void begin(const char* keyword) { text_ += keyword; }
  void real(double value, int digits) {
    text_ += ' ';
    put(value, std::chars_format::general, digits);
  }
  /// Adds a vertex, and its texture coordinate if it has one.
  void corner(Offset vertex, Offset texture) {
    text_ += ' ';
    put(static_cast<long long>(vertex));
    if (texture == 0) return;
    text_ += '/';
    put(static_cast<long long>(texture));
  }
  void end() { text_ += '\n'; }

 private:
  template <class... How>
  void put(How... how) {
    char digits[32];
    const auto [last, error] = std::to_chars(digits, digits + sizeof digits, how...);
    text_.append(digits, last);
  }

  std::string& text_;
};

/// Writes lines 0 to `count`, which threads make in ranges: `format(line, i)` appends one.
template <class Format>
void write_lines(OutputFile& file, std::size_t count, const Format& format) {
  constexpr std::size_t range = 4096;
  std::vector<std::string> texts((count + range - 1) / range);
  parallel_for(default_threads(), texts.size(), 1, [&](std::size_t r) {
    constexpr std::size_t max_of_line = 64;
    texts[r].reserve(range * max_of_line);
    ObjLine line(texts[r]);
    for (std::size_t i = r * range; i < std::min(count, (r + 1) * range); ++i) format(line, i);
  });
  for (const std::string& text : texts) file.write(text);
}

}  // namespace

void write_obj(const std::string& path, const SurfaceMesh& mesh) {
  OutputFile file(path);
  const auto& [position, triangle] = mesh.triangles;
  write_lines(file, position.size(), [&](ObjLine& line, std::size_t v) {
    line.begin("v");
    for (const double x : position[v]) line.real(x, 10);
    line.end();
  });
  write_lines(file, mesh.texture.size(), [&](ObjLine& line, std::size_t t) {
    for (const TextureCoordinate& coordinate : mesh.texture[t]) {
      line.begin("vt");
      for (const double x : coordinate) line.real(x, 9);
      line.end();
    }
  });
  write_lines(file, triangle.size(), [&](ObjLine& line, std::size_t t) {
    line.begin("f");
    for (int k = 0; k < 3; ++k) {
      line.corner(triangle[t][k] + Offset(1),
                  mesh.texture.empty() ? Offset(0) : Offset(3 * t + 1) + k);
    }
    line.end();
  });
  file.commit();
}

}  // namespace heddle::mesh
