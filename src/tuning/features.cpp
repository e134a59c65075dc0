#include "heddle/features.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heddle/expansion.hpp"
#include "heddle/jacobi.hpp"

namespace heddle {

namespace {

/// Position of a column in a row; -1 where it is not there. CsrMatrix rows may be unsorted.
Offset find(const PatternView& pattern, Index row, Index column) {
  for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
    if (pattern.column[i] == column) return i;
  }
  return -1;
}

void look_at_pattern(const PatternView& pattern, const Stream& stream, Features& f) {
  f.rows = pattern.rows;
  f.columns = pattern.columns;
  f.entries = pattern.entries();
  f.square = f.rows == f.columns;
  if (f.rows == 0) return;
  f.mean_row = static_cast<double>(f.entries) / f.rows;
  Index shortest = f.columns, longest = 0, empty = 0, bandwidth = 0;
  double squares = 0;
  double distance = 0;
#pragma omp parallel for schedule(static) num_threads(stream.threads) reduction(min : shortest) \
    reduction(max : longest, bandwidth) reduction(+ : empty, squares, distance)
  for (Index row = 0; row < f.rows; ++row) {
    const Index length = pattern.length(row);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
    empty += length == 0;
    squares += (length - f.mean_row) * (length - f.mean_row);
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      const Index away = std::abs(row - pattern.column[i]);
      bandwidth = std::max(bandwidth, away);
      distance += away;
    }
  }
  f.shortest_row = shortest;
  f.longest_row = longest;
  f.empty_rows = empty;
  f.bandwidth = bandwidth;
  f.deviation_of_rows = std::sqrt(squares / f.rows);
  f.mean_distance = f.entries > 0 ? distance / static_cast<double>(f.entries) : 0;
}

template <class E>
void look_at_entries(const CsrMatrix<E>& matrix, const Stream& stream, Features& f) {
  const PatternView pattern = matrix.view().pattern();
  f.has_adjoint = has_adjoint<E>;
  Index missing = 0, singular = 0;
  bool symmetric = true;
  double largest = 0, defect = 0;
#pragma omp parallel for schedule(dynamic, 256) num_threads(stream.threads) \
    reduction(+ : missing, singular) reduction(&& : symmetric) reduction(max : largest, defect)
  for (Index row = 0; row < f.rows; ++row) {
    bool on_diagonal = false;
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      const auto a = load(matrix.entry(i));
      largest = std::max(largest, detail::magnitude(a));
      if (pattern.column[i] == row) {
        on_diagonal = true;
        if constexpr (has_inverse<E>) singular += detail::is_singular(a, inverse(a));
      }
      const Offset mirrored = find(pattern, pattern.column[i], row);
      if (mirrored < 0) {
        symmetric = false;
        continue;
      }
      if constexpr (has_adjoint<E>) {
        auto difference = adjoint(load(matrix.entry(mirrored)));
        for (int k = 0; k < E::components; ++k) difference.component[k] -= a.component[k];
        defect = std::max(defect, detail::magnitude(difference));
      }
    }
    missing += !on_diagonal;
  }
  f.symmetric_pattern = symmetric;
  f.missing_diagonal = missing;
  f.singular_diagonal = singular;
  f.hermitian_defect = largest > 0 ? defect / largest : 0;
}

}  // namespace

Features features(const AnyMatrix& matrix, const Device& device) {
  Features f;
  look_at_pattern(matrix.pattern(), device.stream(), f);
  if (f.square) {
    matrix.visit([&](const auto& m) { look_at_entries(m, device.stream(), f); });
  }
  return f;
}

std::vector<LayoutMemory> layout_memory(const AnyMatrix& matrix, const Device& device) {
  const PatternView pattern = matrix.pattern();
  std::vector<LayoutMemory> layouts;
  for (const char* name : {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K2"}) {
    const Plan plan = parse_plan(name);
    if (pattern.rows != pattern.columns && plan.use == BasisUse::permuted &&
        plan.sort_window != 1) {
      continue;
    }
    layouts.push_back({name, memory_use(pattern, plan, matrix.entry_bytes(), device), 1});
  }
  // What a library of real numbers would hold: a tile of scalars for each entry, a column each.
  MemoryUse expanded = layouts.front().use;
  matrix.visit([&]<class E>(const CsrMatrix<E>&) {
    const long long scalars =
        static_cast<long long>(pattern.entries()) * tile_rows<E> * tile_columns<E>;
    expanded.values = scalars * static_cast<long long>(sizeof(stored_scalar_t<E>));
    expanded.columns = scalars * static_cast<long long>(sizeof(Index));
    expanded.slices = (static_cast<long long>(pattern.rows) * tile_rows<E> + 1) *
                      static_cast<long long>(sizeof(Offset));
  });
  layouts.push_back({"real CSR", expanded, 1});
  const auto csr = static_cast<double>(layouts.front().use.product());
  for (LayoutMemory& layout : layouts) {
    layout.of_csr = static_cast<double>(layout.use.product()) / csr;
  }
  return layouts;
}

}  // namespace heddle
