#include "heddle/element_pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

namespace element_patterns {
namespace {

/// A mesh that the host can read: a copy if it lies on a GPU.
struct HostElements {
  Index nodes;
  Offset elements;
  int arity;
  std::vector<Offset> first;  // empty if all have `arity` nodes
  std::vector<Index> copied;
  const Index* node;

  int corners(Offset e) const {
    if (first.empty()) return arity;
    const auto at = static_cast<std::size_t>(e);
    return static_cast<int>(first[at + 1] - first[at]);
  }
  const Index* of(Offset e) const {
    return node + (first.empty() ? e * arity : first[static_cast<std::size_t>(e)]);
  }
};

[[noreturn]] void refuse(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

std::string numbered(Offset e) { return "element " + std::to_string(e) + " of the mesh "; }

template <class T>
std::vector<T> on_host(const T* data, Offset count, const Device& device) {
  std::vector<T> values(static_cast<std::size_t>(count));
  heddle::detail::copy_bytes(values.data(), data, values.size() * sizeof(T), device.stream());
  return values;
}

std::vector<Offset> offsets_on_host(const ElementsView& given) {
  if (given.first.wide() != nullptr) {
    return on_host(given.first.wide(), given.elements + 1, given.device);
  }
  const auto narrow = on_host(given.first.narrow(), given.elements + 1, given.device);
  return {narrow.begin(), narrow.end()};
}

HostElements host_elements(const ElementsView& given) {
  if (given.nodes < 1 || given.elements < 1) {
    refuse(ErrorKind::usage, "a mesh of " + std::to_string(given.elements) + " elements and " +
                                 std::to_string(given.nodes) + " nodes has nothing to assemble");
  }
  if (given.node == nullptr || (!given.first && given.arity < 1)) {
    refuse(ErrorKind::usage,
           "a mesh needs the nodes of its elements and the number of nodes of each");
  }
  HostElements mesh{given.nodes, given.elements, given.arity, {}, {}, given.node};
  if (given.first) {
    mesh.first = offsets_on_host(given);
    if (mesh.first[0] != 0) refuse(ErrorKind::usage, "offsets of elements must begin at 0");
    for (Offset e = 0; e < given.elements; ++e) {
      const auto at = static_cast<std::size_t>(e);
      if (mesh.first[at] >= mesh.first[at + 1]) {
        refuse(ErrorKind::usage, numbered(e) + "has no nodes");
      }
    }
  }
  if (given.device.on_gpu()) {
    const Offset count = given.first ? mesh.first.back() : given.elements * given.arity;
    mesh.copied = on_host(given.node, count, given.device);
    mesh.node = mesh.copied.data();
  }
  return mesh;
}

/// The most nodes of an element. Elements of one arity need no offsets.
int count_corners(HostElements& mesh) {
  if (mesh.first.empty()) return mesh.arity;
  Offset most = 0, least = mesh.first[1];
  for (std::size_t e = 0; e + 1 < mesh.first.size(); ++e) {
    most = std::max(most, mesh.first[e + 1] - mesh.first[e]);
    least = std::min(least, mesh.first[e + 1] - mesh.first[e]);
  }
  mesh.arity = static_cast<int>(std::min<Offset>(most, 1 << 30));
  if (most == least) mesh.first.clear();
  return mesh.arity;
}

CornerCode code_for(Offset elements, int max_corners) {
  const int bits = std::bit_width(static_cast<unsigned>(max_corners - 1));
  const Offset limit = bits < 16 ? Offset(1) << (32 - 2 * bits) : 1;
  if (elements < limit) return {bits};
  refuse(ErrorKind::unsupported, "a mesh of " + std::to_string(elements) + " elements of up to " +
                                     std::to_string(max_corners) +
                                     " nodes is too large; the limit of elements is " +
                                     std::to_string(limit - 1));
}

void check_nodes(const HostElements& mesh) {
  const Offset bad =
      parallel_min(default_threads(), mesh.elements, mesh.elements, [&](Offset e, Offset& least) {
        if (e >= least) return;
        const Index* const node = mesh.of(e);
        const bool inside = std::all_of(node, node + mesh.corners(e),
                                        [&](Index v) { return v >= 0 && v < mesh.nodes; });
        if (!inside) least = e;
      });
  if (bad == mesh.elements) return;
  const Index* const node = mesh.of(bad);
  const Index outside = *std::find_if(node, node + mesh.corners(bad),
                                      [&](Index v) { return v < 0 || v >= mesh.nodes; });
  refuse(ErrorKind::out_of_range, numbered(bad) + "names node " + std::to_string(outside) +
                                      ", but there are " + std::to_string(mesh.nodes) +
                                      " nodes, counted from 0");
}

void list_corners(ElementPattern& pattern, const HostElements& mesh) {
  pattern.first_corner.resize(static_cast<std::size_t>(mesh.nodes) + 1);
  const auto for_each = [&](auto&& act) {
    for (Offset e = 0; e < mesh.elements; ++e) {
      for (int a = 0; a < mesh.corners(e); ++a) {
        act(static_cast<std::size_t>(mesh.of(e)[a]),
            static_cast<unsigned>(e) << pattern.code.bits | static_cast<unsigned>(a));
      }
    }
  };
  for_each([&](std::size_t v, unsigned) { ++pattern.first_corner[v + 1]; });
  for (std::size_t v = 0; v + 1 < pattern.first_corner.size(); ++v) {
    pattern.first_corner[v + 1] += pattern.first_corner[v];
  }
  std::vector<unsigned> next(pattern.first_corner.begin(), pattern.first_corner.end() - 1);
  pattern.corner.resize(pattern.first_corner.back());
  for_each([&](std::size_t v, unsigned corner) { pattern.corner[next[v]++] = corner; });
}

/// Column and term in one number, so that sorting a row is sorting numbers.
using Key = std::uint64_t;
Index column_of(Key key) { return static_cast<Index>(key >> 32); }

/// The terms of a row, those of one entry together.
void find_terms(const ElementPattern& pattern, const HostElements& mesh, std::size_t v,
                std::vector<Key>& terms) {
  terms.clear();
  for (unsigned i = pattern.first_corner[v]; i < pattern.first_corner[v + 1]; ++i) {
    const unsigned corner = pattern.corner[i];
    const Offset e = pattern.code.element_of_corner(corner);
    for (int b = 0; b < mesh.corners(e); ++b) {
      terms.push_back(static_cast<Key>(mesh.of(e)[b]) << 32 | corner << pattern.code.bits |
                      static_cast<unsigned>(b));
    }
  }
  std::sort(terms.begin(), terms.end());
}

void list_terms(ElementPattern& pattern, const HostElements& mesh) {
  const auto rows = static_cast<std::size_t>(mesh.nodes);
  pattern.offsets.resize(rows + 1);
  std::vector<unsigned> first_of_row(rows + 1);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    std::vector<Key> terms;
    for_each([&](std::size_t v) {
      find_terms(pattern, mesh, v, terms);
      Offset columns = 0;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        columns += i == 0 || column_of(terms[i]) != column_of(terms[i - 1]);
      }
      pattern.offsets[v + 1] = columns;
      first_of_row[v + 1] = static_cast<unsigned>(terms.size());
    });
  });
  for (std::size_t v = 0; v < rows; ++v) {
    pattern.offsets[v + 1] += pattern.offsets[v];
    first_of_row[v + 1] += first_of_row[v];
  }
  pattern.column.resize(static_cast<std::size_t>(pattern.offsets[rows]));
  pattern.first_term.resize(pattern.column.size() + 1);
  pattern.term.resize(first_of_row[rows]);
  pattern.first_term.back() = first_of_row[rows];
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    std::vector<Key> terms;
    for_each([&](std::size_t v) {
      find_terms(pattern, mesh, v, terms);
      auto entry = static_cast<std::size_t>(pattern.offsets[v]);
      unsigned to = first_of_row[v];
      for (std::size_t i = 0; i < terms.size(); ++i, ++to) {
        pattern.term[to] = static_cast<unsigned>(terms[i]);
        if (i > 0 && column_of(terms[i]) == column_of(terms[i - 1])) continue;
        pattern.column[entry] = column_of(terms[i]);
        pattern.first_term[entry++] = to;
      }
    });
  });
}

}  // namespace
}  // namespace element_patterns

ElementPattern element_pattern(const ElementsView& elements) {
  using namespace element_patterns;
  HostElements mesh = host_elements(elements);
  ElementPattern pattern;
  pattern.elements = mesh.elements;
  pattern.max_corners = count_corners(mesh);
  pattern.code = code_for(mesh.elements, pattern.max_corners);
  check_nodes(mesh);
  list_corners(pattern, mesh);
  list_terms(pattern, mesh);
  pattern.first_node = std::move(mesh.first);
  return pattern;
}

}  // namespace heddle
