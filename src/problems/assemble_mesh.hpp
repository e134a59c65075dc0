// Element matrices summed into rows, each by the one thread that owns it and in the order of the
// elements: no triplets, no atomics on values, the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "grid.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::problems {

/// Throws ErrorKind::out_of_range or ErrorKind::singular with the first element that has a corner
/// outside the mesh or is not `good(e)`.
template <std::size_t K, class Good>
void check_elements(const std::string& kind, Index vertices,
                    std::span<const std::array<Index, K>> elements, const Good& good,
                    const std::string& complaint) {
  const auto count = static_cast<Offset>(elements.size());
  const auto inside = [&](Offset e) {
    return std::all_of(elements[e].begin(), elements[e].end(),
                       [&](Index v) { return v >= 0 && v < vertices; });
  };
  const Offset bad = parallel_min(default_threads(), count, count, [&](Offset e, Offset& least) {
    if (e < least && !(inside(e) && good(static_cast<Index>(e)))) least = e;
  });
  if (bad == count) return;
  const std::string which = kind + " " + std::to_string(bad) + " of the mesh ";
  if (inside(bad)) throw Error(ErrorKind::singular, which + complaint);
  throw Error(ErrorKind::out_of_range, which + "has a corner outside 0 .. " +
                                           std::to_string(vertices - 1) + ", its vertices");
}

/// The elements that touch a vertex: `element[offset[v] .. offset[v + 1])`, ascending.
struct Incidence {
  Array<Offset> offset;
  Array<Index> element;
};

template <std::size_t K>
Incidence make_incidence(Index vertices, std::span<const std::array<Index, K>> elements) {
  const auto count = static_cast<Offset>(elements.size());
  Array<Index> degree(vertices);
  parallel_for(default_threads(), count, [&](Offset e) {
    for (const Index v : elements[e]) {
      std::atomic_ref(degree[v]).fetch_add(1, std::memory_order_relaxed);
    }
  });
  Incidence incidence{make_offsets(vertices, [&](Index v) { return degree[v]; }),
                      Array<Index>(elements.size() * K)};
  parallel_for(default_threads(), count, [&](Offset e) {
    for (const Index v : elements[e]) {
      const Index left = std::atomic_ref(degree[v]).fetch_sub(1, std::memory_order_relaxed) - 1;
      incidence.element[incidence.offset[v] + left] = static_cast<Index>(e);
    }
  });
  parallel_for(default_threads(), vertices, [&](Index v) {
    std::sort(incidence.element.data() + incidence.offset[v],
              incidence.element.data() + incidence.offset[v + 1]);
  });
  return incidence;
}

/// A row under construction. It is short, so that looking through it beats sorting its terms.
template <class E>
struct RowSum {
  struct Term {
    Index column;
    std::size_t at;
  };
  std::vector<Index> columns;
  std::vector<E> entries;
  std::vector<Term> order;

  std::size_t find_or_append(Index column) {
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end()) {
      columns.push_back(column);
      return columns.size() - 1;
    }
    return static_cast<std::size_t>(found - columns.begin());
  }
  void add_to(Index column, const E& entry) {
    const std::size_t at = find_or_append(column);
    if (at == entries.size()) {
      entries.push_back(entry);
    } else {
      entries[at] = add(entries[at], entry);
    }
  }
  void write_sorted(Index* column, typename E::stored_scalar* values) {
    order.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) order.push_back({columns[i], i});
    std::sort(order.begin(), order.end(),
              [](const Term& a, const Term& b) { return a.column < b.column; });
    for (const Term& term : order) {
      *column++ = term.column;
      values = std::copy_n(entries[term.at].component, E::components, values);
    }
  }
  void clear() {
    columns.clear();
    entries.clear();
  }
};

/// The matrix of vertices 0 .. rows - 1. `local(e)` returns element e's matrix as a function of two
/// corner numbers (a, b); the caller keeps (b, a) its exact adjoint where the sum is to be
/// Hermitian.
template <class E, std::size_t K, class Local>
CsrMatrix<E> assemble_mesh(Index rows, Index vertices,
                           std::span<const std::array<Index, K>> elements, const Local& local) {
  const Incidence incidence = make_incidence(vertices, elements);
  const auto around = [&](Index v) {
    return incidence.element.span().subspan(incidence.offset[v],
                                            incidence.offset[v + 1] - incidence.offset[v]);
  };
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    RowSum<E> sum;
    for_each([&](Index row) {
      sum.clear();
      for (const Index e : around(row)) {
        for (const Index v : elements[e]) {
          if (v < rows) sum.find_or_append(v);
        }
      }
      offsets[row + 1] = static_cast<Offset>(sum.columns.size());
    });
  });
  for (Index row = 0; row < rows; ++row) offsets[row + 1] += offsets[row];

  const auto entries = static_cast<std::size_t>(offsets[rows]);
  Array<Index> column(entries);
  Array<typename E::stored_scalar> values(entries * E::components);
  parallel_shares(default_threads(), rows, 0, [&](auto&& for_each) {
    RowSum<E> sum;
    for_each([&](Index row) {
      sum.clear();
      for (const Index e : around(row)) {
        const std::array<Index, K>& corner = elements[e];
        const auto matrix = local(e);
        const auto a = std::find(corner.begin(), corner.end(), row) - corner.begin();
        for (std::size_t b = 0; b < K; ++b) {
          if (corner[b] >= rows) continue;
          sum.add_to(corner[b], matrix(static_cast<int>(a), static_cast<int>(b)));
        }
      }
      sum.write_sorted(column.data() + offsets[row], values.data() + offsets[row] * E::components);
    });
  });
  return {rows, rows, std::move(offsets), std::move(column), std::move(values)};
}

}  // namespace heddle::problems
