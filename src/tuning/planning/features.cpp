// Optimised in full.
#include "heddle/tuning/features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "heddle/jacobi.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tuning/pattern_features.hpp"

namespace heddle {

namespace {

/// Position of a column in a row; -1 where it is missing. CsrMatrix rows may be unsorted.
Offset find(const PatternView& pattern, Index row, Index column) {
  for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
    if (pattern.column[i] == column) return i;
  }
  return -1;
}

void look_at_pattern(const PatternView& pattern, const Device& device, Features& f) {
  const PatternFeatures known = pattern_features(pattern, device);
  f.rows = known.rows;
  f.columns = known.columns;
  f.entries = known.entries;
  f.square = f.rows == f.columns;
  if (f.rows == 0) return;
  f.longest_row = known.longest_row;
  f.mean_row = known.mean_row;
  f.deviation_of_rows = known.deviation_of_rows;
  f.mean_distance = known.mean_distance * f.columns;
  struct Extremes {
    Index shortest, empty = 0, bandwidth = 0;
  };
  const auto look_at_row = [&](Index row, Extremes& seen) {
    const Index length = pattern.length(row);
    seen.shortest = std::min(seen.shortest, length);
    seen.empty += length == 0;
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      seen.bandwidth = std::max(seen.bandwidth, std::abs(row - pattern.column[i]));
    }
  };
  const Extremes all = parallel_reduce(device.stream().threads, f.rows, Extremes{f.columns},
                                       look_at_row, [](Extremes& joined, const Extremes& seen) {
                                         joined = {std::min(joined.shortest, seen.shortest),
                                                   joined.empty + seen.empty,
                                                   std::max(joined.bandwidth, seen.bandwidth)};
                                       });
  f.shortest_row = all.shortest;
  f.empty_rows = all.empty;
  f.bandwidth = all.bandwidth;
}

/// Queries about the entries of a matrix, by their position.
template <class E>
struct TypedEntries {
  const CsrMatrix<E>& matrix;

  bool has_adjoint() const { return heddle::has_adjoint<E>; }
  bool has_transpose() const { return has_adjoint() && E::ring == Ring::complex; }
  double magnitude(Offset i) const { return detail::magnitude(load(matrix.entry(i))); }
  bool is_singular(Offset i) const {
    if constexpr (has_inverse<E>) {
      const auto a = load(matrix.entry(i));
      return detail::is_singular(a, inverse(a));
    }
    return false;
  }
  /// |a_i - adjoint(a_j)|, or the same with the transpose; 0 without an adjoint.
  double defect(Offset i, Offset j, bool transposes) const {
    if constexpr (heddle::has_adjoint<E>) {
      const auto a = load(matrix.entry(i));
      auto difference = adjoint(load(matrix.entry(j)));
      for (int k = 0; k < E::components; ++k) {
        if (transposes && k % 2 == 1) {
          difference.component[k] = -difference.component[k];
        }
        difference.component[k] -= a.component[k];
      }
      return detail::magnitude(difference);
    }
    return 0;
  }
};

template <class S>
struct DefinedEntries {
  const DefinedMatrix<S>& matrix;
  using Components = std::array<S, EntryDefinition::max_components>;

  const EntryDefinition& definition() const { return *matrix.definition(); }
  bool has_adjoint() const { return definition().has_adjoint(); }
  bool has_transpose() const { return false; }
  double magnitude(Offset i) const { return norm(matrix.entry(i)); }
  bool is_singular(Offset i) const {
    if (!definition().has_inverse()) return false;
    Components inverse;
    std::vector<S> registers;
    invert(definition(), matrix.entry(i), inverse.data(), registers);
    return detail::is_singular(matrix.entry(i), inverse.data(), definition().size());
  }
  double defect(Offset i, Offset j, bool) const {
    if (!has_adjoint()) return 0;
    Components difference;
    std::vector<S> registers;
    evaluate<S>(definition().adjoint, matrix.entry(j), nullptr, difference.data(), registers);
    for (int k = 0; k < definition().size(); ++k) difference[k] -= matrix.entry(i)[k];
    return norm(difference.data());
  }

 private:
  double norm(const S* component) const {
    return detail::magnitude(component, definition().size());
  }
};

template <class Entries>
void look_at_entries(const PatternView& pattern, const Entries& entries, const Stream& stream,
                     Features& f) {
  f.has_adjoint = entries.has_adjoint();
  f.has_transpose = entries.has_transpose();
  struct Seen {
    Index missing = 0, singular = 0;
    bool symmetric = true;
    double largest = 0, hermitian = 0, transposed = 0;
  };
  const auto look_at_row = [&](Index row, Seen& seen) {
    bool on_diagonal = false;
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      seen.largest = std::max(seen.largest, entries.magnitude(i));
      if (pattern.column[i] == row) {
        on_diagonal = true;
        seen.singular += entries.is_singular(i);
      }
      const Offset mirrored = find(pattern, pattern.column[i], row);
      if (mirrored < 0) {
        seen.symmetric = false;
      } else {
        seen.hermitian = std::max(seen.hermitian, entries.defect(i, mirrored, false));
        seen.transposed = std::max(seen.transposed, entries.defect(i, mirrored, true));
      }
    }
    seen.missing += !on_diagonal;
  };
  const Seen all = parallel_reduce(stream.threads, f.rows, Seen{}, look_at_row,
                                   [](Seen& joined, const Seen& seen) {
                                     joined = {joined.missing + seen.missing,
                                               joined.singular + seen.singular,
                                               joined.symmetric && seen.symmetric,
                                               std::max(joined.largest, seen.largest),
                                               std::max(joined.hermitian, seen.hermitian),
                                               std::max(joined.transposed, seen.transposed)};
                                   });
  f.symmetric_pattern = all.symmetric;
  f.missing_diagonal = all.missing;
  f.singular_diagonal = all.singular;
  f.hermitian_defect = all.largest > 0 ? all.hermitian / all.largest : 0;
  f.symmetric_defect = all.largest > 0 ? all.transposed / all.largest : 0;
}

/// Calls `f` with the queries about the matrix's entries.
template <class F>
void look_at(const AnyMatrix& matrix, const F& f) {
  if (matrix.is_defined()) {
    matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) { f(DefinedEntries<S>{m}); });
  } else {
    matrix.visit([&]<class E>(const CsrMatrix<E>& m) { f(TypedEntries<E>{m}); });
  }
}

}  // namespace

Features features(const AnyMatrix& matrix, const Device& device) {
  Features f;
  look_at_pattern(matrix.pattern(), device, f);
  if (!f.square) return f;
  look_at(matrix, [&](const auto& entries) {
    look_at_entries(matrix.pattern(), entries, device.stream(), f);
  });
  return f;
}

RowsWithoutInverse rows_without_inverse(const AnyMatrix& matrix, const Device& device,
                                        Index first_row) {
  const PatternView pattern = matrix.pattern();
  RowsWithoutInverse found;
  look_at(matrix, [&](const auto& entries) {
    found = parallel_reduce(
        device.stream().threads, pattern.rows, RowsWithoutInverse{0, pattern.rows, pattern.rows},
        [&](Index row, RowsWithoutInverse& seen) {
          const Offset i = find(pattern, row, first_row + row);
          if (i >= 0 && !entries.is_singular(i)) return;
          ++seen.count;
          seen.first = std::min(seen.first, row);
          if (i >= 0 && !std::isfinite(entries.magnitude(i))) {
            seen.not_finite = std::min(seen.not_finite, row);
          }
        },
        [](RowsWithoutInverse& all, const RowsWithoutInverse& other) {
          all.count += other.count;
          all.first = std::min(all.first, other.first);
          all.not_finite = std::min(all.not_finite, other.not_finite);
        });
  });
  return found;
}

std::vector<Index> rows_of_zeros(const AnyMatrix& matrix) {
  const PatternView pattern = matrix.pattern();
  std::vector<Index> rows;
  const auto find = [&]<class S>(S /*of the scalar*/) {
    const auto* const values = reinterpret_cast<const S*>(matrix.values().data());
    const Offset count = matrix.entry_bytes() / static_cast<Offset>(sizeof(S));
    for (Index row = 0; row < pattern.rows; ++row) {
      const S* const begin = values + pattern.offsets[row] * count;
      const S* const end = values + pattern.offsets[Offset(row) + 1] * count;
      if (std::all_of(begin, end, [](S number) { return number == 0; })) rows.push_back(row);
    }
  };
  if (matrix.precision() == Precision::single_precision) {
    find(float{});
  } else {
    find(double{});
  }
  return rows;
}

std::vector<LayoutMemory> layout_memory(const AnyMatrix& matrix, const Device& device) {
  const PatternView pattern = matrix.pattern();
  std::vector<LayoutMemory> layouts;
  for (const char* name : {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K2"}) {
    const Plan plan = parse_plan(name);
    if (pattern.rows != pattern.columns && plan.layout.basis == BasisUse::permuted &&
        plan.layout.sort_window != 1) {
      continue;
    }
    layouts.push_back({name, memory_use(pattern, plan, matrix.entry_bytes(), device), 1});
  }
  // The storage in a library of real numbers: a tile of scalars for each entry, with a column each.
  MemoryUse expanded = layouts.front().use;
  std::visit(
      [&](const auto& entry) {
        const auto& sizes = entry->sizes;
        const long long scalars = static_cast<long long>(pattern.entries()) *
                                  sizes.result_components * sizes.vector_components;
        expanded.values = scalars * sizes.stored_bytes;
        expanded.columns = scalars * static_cast<long long>(sizeof(Index));
        expanded.slices = (static_cast<long long>(pattern.rows) * sizes.result_components + 1) *
                          static_cast<long long>(sizeof(Offset));
      },
      detail::entry_table_of(matrix));
  layouts.push_back({"real CSR", expanded, 1});
  const auto csr = static_cast<double>(layouts.front().use.product());
  for (LayoutMemory& layout : layouts) {
    layout.of_csr = static_cast<double>(layout.use.product()) / csr;
  }
  return layouts;
}

}  // namespace heddle
