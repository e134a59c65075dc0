// Small meshes of every kind, numbers for the corners of their elements, and the sums of these in
// long double, which assemblies on a CPU and on a GPU are compared with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/assembly.hpp"
#include "support/element_kernels.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test {

struct ElementMesh {
  std::string name;
  Index nodes = 0;
  std::vector<Offset> first{0};
  std::vector<Index> node;

  Offset elements() const { return static_cast<Offset>(first.size()) - 1; }
  int corners(Offset e) const {
    const auto at = static_cast<std::size_t>(e);
    return static_cast<int>(first[at + 1] - first[at]);
  }
  Index corner(Offset e, int a) const {
    return node[static_cast<std::size_t>(first[static_cast<std::size_t>(e)] + a)];
  }
  int max_corners() const {
    int most = 0;
    for (Offset e = 0; e < elements(); ++e) most = std::max(most, corners(e));
    return most;
  }
  ElementsView view() const {
    return {.nodes = nodes,
            .elements = elements(),
            .node = node.data(),
            .first = OffsetsView(first.data())};
  }
};

/// Elements of `least` to `most` corners, some with the same node twice; some nodes may belong to
/// no element.
inline ElementMesh random_elements(const std::string& name, Index nodes, Offset elements, int least,
                                   int most, Generator& generator) {
  ElementMesh mesh;
  mesh.name = name;
  mesh.nodes = nodes;
  for (Offset e = 0; e < elements; ++e) {
    // Nodes near one another, so that elements share entries.
    const int centre = random_between(0, nodes - 1, generator);
    for (int a = random_between(least, most, generator); a > 0; --a) {
      mesh.node.push_back((centre + random_between(0, 2 * most, generator)) % nodes);
    }
    mesh.first.push_back(static_cast<Offset>(mesh.node.size()));
  }
  return mesh;
}

/// `corners` nodes of a ring for each element, and node 0 in all of them.
inline ElementMesh star(Index elements, int corners) {
  ElementMesh mesh;
  mesh.name = "star";
  mesh.nodes = elements + 1;
  for (Index e = 0; e < elements; ++e) {
    mesh.node.push_back(0);
    for (int a = 1; a < corners; ++a) mesh.node.push_back(1 + (e + a) % elements);
    mesh.first.push_back(static_cast<Offset>(mesh.node.size()));
  }
  return mesh;
}

inline std::vector<ElementMesh> element_meshes(Generator& generator) {
  return {random_elements("one point", 1, 1, 1, 1, generator),
          random_elements("points", 20, 40, 1, 1, generator),
          random_elements("triangles", 60, 90, 3, 3, generator),
          random_elements("tetrahedra", 150, 400, 4, 4, generator),
          random_elements("of 1 to 9 corners", 130, 210, 1, 9, generator),
          random_elements("hexahedra", 200, 300, 8, 8, generator),
          star(700, 3)};  // a row of 2100 terms
}

/// The numbers of `NumbersKernel`, as arrays in a given order; places that no assembly reads hold
/// NaN.
template <class S>
std::vector<S> element_entries(const ElementMesh& mesh, int K, ElementOrder order) {
  const int most = mesh.max_corners();
  const auto size = static_cast<std::size_t>(mesh.elements() * most * most * K);
  const bool planes = order == ElementOrder::planes;
  std::vector<S> values(planes ? size : 0, std::numeric_limits<S>::quiet_NaN());
  for (Offset e = 0; e < mesh.elements(); ++e) {
    for (int a = 0; a < mesh.corners(e); ++a) {
      for (int b = 0; b < mesh.corners(e); ++b) {
        for (int k = 0; k < K; ++k) {
          const S number = element_number<S>(e, a, b, k);
          if (planes) {
            const Offset plane = (Offset(a) * most + b) * K + k;
            values[static_cast<std::size_t>(plane * mesh.elements() + e)] = number;
          } else {
            values.push_back(number);
          }
        }
      }
    }
  }
  return values;
}
/// The same for `ElementOrder::by_row`; `places` are `Assembly::row_places`.
template <class S>
std::vector<S> element_entries_by_row(const ElementMesh& mesh, int K,
                                      std::span<const unsigned> places) {
  const auto by_element = element_entries<S>(mesh, K, ElementOrder::by_element);
  std::vector<S> values(by_element.size(), std::numeric_limits<S>::quiet_NaN());
  std::size_t next = 0;
  for (Offset e = 0; e < mesh.elements(); ++e) {
    for (int a = 0; a < mesh.corners(e); ++a) {
      const auto corner = static_cast<std::size_t>(mesh.first[static_cast<std::size_t>(e)] + a);
      const auto count = static_cast<std::size_t>(mesh.corners(e) * K);
      std::copy_n(by_element.begin() + static_cast<std::ptrdiff_t>(next), count,
                  values.begin() + static_cast<std::ptrdiff_t>(places[corner]) * K);
      next += count;
    }
  }
  return values;
}
template <class S>
std::vector<S> element_vectors(const ElementMesh& mesh, int K, ElementOrder order) {
  const auto size = static_cast<std::size_t>(mesh.elements() * mesh.max_corners() * K);
  const bool planes = order == ElementOrder::planes;
  std::vector<S> values(planes ? size : 0, std::numeric_limits<S>::quiet_NaN());
  for (Offset e = 0; e < mesh.elements(); ++e) {
    for (int a = 0; a < mesh.corners(e); ++a) {
      for (int k = 0; k < K; ++k) {
        const S number = element_number<S>(e, a, -1, k);
        if (planes) {
          values[static_cast<std::size_t>((Offset(a) * K + k) * mesh.elements() + e)] = number;
        } else {
          values.push_back(number);
        }
      }
    }
  }
  return values;
}

/// The sum in one place, the sum of its magnitudes, and its number of terms.
struct LongSum {
  long double sum = 0, magnitude = 0;
  int terms = 0;

  void add(long double term) {
    sum += term;
    magnitude += std::abs(term);
    ++terms;
  }
  template <class S>
  void expect(S found) const {
    const auto epsilon = static_cast<long double>(std::numeric_limits<S>::epsilon());
    ASSERT_LE(std::abs(static_cast<long double>(found) - sum), epsilon * terms * magnitude);
  }
};

/// Sums by (row, column, component) and by (row, component), in the user's order.
template <class E>
std::map<std::array<int, 3>, LongSum> summed_entries(const ElementMesh& mesh) {
  std::map<std::array<int, 3>, LongSum> sums;
  for (Offset e = 0; e < mesh.elements(); ++e) {
    for (int a = 0; a < mesh.corners(e); ++a) {
      for (int b = 0; b < mesh.corners(e); ++b) {
        for (int k = 0; k < E::components; ++k) {
          sums[{mesh.corner(e, a), mesh.corner(e, b), k}].add(
              element_number<stored_scalar_t<E>>(e, a, b, k));
        }
      }
    }
  }
  return sums;
}
template <class V>
std::map<std::array<int, 2>, LongSum> summed_vectors(const ElementMesh& mesh) {
  std::map<std::array<int, 2>, LongSum> sums;
  for (Offset e = 0; e < mesh.elements(); ++e) {
    for (int a = 0; a < mesh.corners(e); ++a) {
      for (int k = 0; k < V::components; ++k) {
        sums[{mesh.corner(e, a), k}].add(element_number<typename V::scalar>(e, a, -1, k));
      }
    }
  }
  return sums;
}

/// A zero field with one number for each row of an assembly's matrix.
template <class E>
Array<typename result_entry_t<E>::scalar> row_scalars(const Operator<E>& matrix) {
  return Array<typename result_entry_t<E>::scalar>(
      static_cast<std::size_t>(matrix.rows()) * result_entry_t<E>::components, matrix.device());
}
template <class E, class S>
FieldView<S> row_view(const Operator<E>& matrix, Array<S>& scalars) {
  return {scalars.data(), matrix.rows(), result_entry_t<E>::components, matrix.vector_layout(),
          matrix.row_basis()};
}

}  // namespace heddle::test
