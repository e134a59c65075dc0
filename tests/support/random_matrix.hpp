// Random matrices and vectors of compound entries, and their product in long double, the reference
// of the tests. Everything follows from a seed, which `Seed` prints where a test fails.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/entries.hpp"
#include "heddle/field.hpp"

namespace heddle::test {

using Generator = std::mt19937_64;

/// A generator whose seed is named in every failure within its scope.
class Seed {
 public:
  explicit Seed(std::uint64_t seed, const char* file = __builtin_FILE(),
                int line = __builtin_LINE())
      : generator(seed), trace_(file, line, "seed " + std::to_string(seed)) {}

  Generator generator;

 private:
  testing::ScopedTrace trace_;
};

/// A random whole number from `least` to `most`.
inline int random_between(int least, int most, Generator& generator) {
  return std::uniform_int_distribution<int>(least, most)(generator);
}

/// Components uniform in [-1, 1], for an entry, a vector entry or a coefficient.
template <class T>
T random_components(Generator& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  T t;
  for (auto& component : t.component) {
    component = static_cast<std::remove_reference_t<decltype(component)>>(uniform(generator));
  }
  return t;
}

/// The properties requested of a random pattern. Rows have 0 to 2 `per_row` entries.
struct PatternRequest {
  const char* name = "random";
  Index rows = 0;
  Index columns = 0;
  Index per_row = 4;
  bool empty_rows = false;  // a third of the rows have no entry
  bool dense_row = false;   // one row names every column
  bool diagonal = false;    // every row names its own column
  bool sorted = true;       // columns grow within a row
};

/// The odd shapes that every layout has to survive.
inline std::vector<PatternRequest> odd_patterns() {
  return {
      {.name = "0x0", .rows = 0, .columns = 0},
      {.name = "1x1", .rows = 1, .columns = 1, .diagonal = true},
      {.name = "one empty row", .rows = 1, .columns = 1, .per_row = 0},
      {.name = "no entry", .rows = 37, .columns = 37, .per_row = 0},
      {.name = "empty rows", .rows = 91, .columns = 91, .empty_rows = true},
      {.name = "one dense row", .rows = 83, .columns = 83, .per_row = 2, .dense_row = true},
      {.name = "unsorted", .rows = 70, .columns = 70, .per_row = 6, .sorted = false},
      {.name = "diagonal", .rows = 130, .columns = 130, .per_row = 0, .diagonal = true},
      {.name = "several groups", .rows = 601, .columns = 601, .empty_rows = true, .sorted = false},
  };
}
/// The same, not square.
inline std::vector<PatternRequest> odd_rectangular_patterns() {
  return {
      {.name = "no row", .rows = 0, .columns = 5},
      {.name = "no column", .rows = 5, .columns = 0},
      {.name = "one column", .rows = 75, .columns = 1, .per_row = 1},
      {.name = "one row", .rows = 1, .columns = 90, .dense_row = true},
      {.name = "wide", .rows = 45, .columns = 130, .empty_rows = true, .sorted = false},
      {.name = "tall", .rows = 330, .columns = 21, .empty_rows = true, .dense_row = true},
  };
}

/// Owned offsets and columns.
struct Pattern {
  Index rows = 0;
  Index columns = 0;
  std::vector<Offset> offsets{0};
  std::vector<Index> column;

  PatternView view() const { return {rows, columns, OffsetsView(offsets.data()), column.data()}; }
  Offset entries() const { return offsets.back(); }
  Index length(Index row) const {
    return static_cast<Index>(offsets[static_cast<std::size_t>(row) + 1] -
                              offsets[static_cast<std::size_t>(row)]);
  }
};

inline Pattern random_pattern(const PatternRequest& request, Generator& generator) {
  Pattern pattern{request.rows, request.columns, {0}, {}};
  const Index dense =
      request.dense_row && request.rows > 0 ? random_between(0, request.rows - 1, generator) : -1;
  std::vector<Index> shuffled(static_cast<std::size_t>(request.columns));
  std::iota(shuffled.begin(), shuffled.end(), 0);
  for (Index row = 0; row < request.rows; ++row) {
    Index length = std::min(request.columns, random_between(0, 2 * request.per_row, generator));
    if (request.empty_rows && random_between(0, 2, generator) == 0) length = 0;
    if (row == dense) length = request.columns;
    // The first `length` of a partial Fisher-Yates shuffle: distinct columns in random order.
    for (Index i = 0; i < length; ++i) {
      std::swap(
          shuffled[static_cast<std::size_t>(i)],
          shuffled[static_cast<std::size_t>(random_between(i, request.columns - 1, generator))]);
    }
    std::vector<Index> chosen(shuffled.begin(), shuffled.begin() + length);
    if (request.diagonal && row < request.columns &&
        std::find(chosen.begin(), chosen.end(), row) == chosen.end()) {
      chosen.insert(chosen.begin() + random_between(0, length, generator), row);
    }
    if (request.sorted) std::sort(chosen.begin(), chosen.end());
    pattern.column.insert(pattern.column.end(), chosen.begin(), chosen.end());
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return pattern;
}

/// A matrix of this pattern with the given entries.
template <class E>
CsrMatrix<E> matrix_of(const Pattern& pattern, const std::vector<E>& entries) {
  using S = stored_scalar_t<E>;
  Array<S> values(entries.size() * E::components);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::copy_n(entries[i].component, E::components, values.data() + i * E::components);
  }
  return CsrMatrix<E>(pattern.rows, pattern.columns,
                      Array<Offset>(std::span<const Offset>(pattern.offsets)),
                      Array<Index>(std::span<const Index>(pattern.column)), std::move(values));
}

/// Entries uniform in [-1, 1] a component.
template <class E>
CsrMatrix<E> random_matrix_of(const Pattern& pattern, Generator& generator) {
  std::vector<E> entries(static_cast<std::size_t>(pattern.entries()));
  for (E& entry : entries) entry = random_components<E>(generator);
  return matrix_of(pattern, entries);
}
template <class E>
CsrMatrix<E> random_matrix(const PatternRequest& request, Generator& generator) {
  return random_matrix_of<E>(random_pattern(request, generator), generator);
}

/// The entry that changes nothing, for square entries.
template <class E>
E one_entry() {
  E one{};
  if constexpr (requires { E::block_rows; }) {
    for (int i = 0; i < E::block_rows; ++i) one.component[E::at(i, i)] = 1;
  } else {
    one.component[0] = 1;
  }
  return one;
}

/// The largest row sum of |components|: no product with a built-in entry is longer than that times
/// |x| in the maximum norm.
template <class E>
double largest_stretch(const E& entry) {
  double sum = 0;
  for (const auto component : entry.component) sum += std::abs(static_cast<double>(component));
  return sum;
}

/// A square matrix that its diagonal makes regular: `margin` times the bound of the whole row is
/// added to it.
template <class E>
CsrMatrix<E> random_dominant_matrix(PatternRequest request, Generator& generator,
                                    double margin = 1.5) {
  request.diagonal = true;
  const Pattern pattern = random_pattern(request, generator);
  CsrMatrix<E> matrix = random_matrix_of<E>(pattern, generator);
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Offset begin = matrix.offsets()[static_cast<std::size_t>(row)];
    const Offset end = matrix.offsets()[static_cast<std::size_t>(row) + 1];
    double sum = 0;
    for (Offset i = begin; i < end; ++i) sum += largest_stretch(matrix.entry(i));
    const E one = one_entry<E>();
    for (Offset i = begin; i < end; ++i) {
      if (matrix.column()[static_cast<std::size_t>(i)] != row) continue;
      for (int k = 0; k < E::components; ++k) {
        auto& value = matrix.values()[static_cast<std::size_t>(i) * E::components + k];
        value += static_cast<stored_scalar_t<E>>(margin * sum) * one.component[k];
      }
    }
  }
  return matrix;
}

/// A Hermitian positive definite matrix: a_ji = adjoint(a_ij), diagonal as in
/// `random_dominant_matrix`. Rows have about `per_row` entries; columns are sorted.
template <class E>
  requires has_adjoint<E>
CsrMatrix<E> random_positive_definite_matrix(Index rows, Index per_row, Generator& generator,
                                             double margin = 1.5) {
  using S = stored_scalar_t<E>;
  std::vector<std::vector<std::pair<Index, E>>> row(static_cast<std::size_t>(rows));
  const Pattern half =
      random_pattern({.rows = rows, .columns = rows, .per_row = per_row / 2}, generator);
  std::vector<double> sum(row.size(), 1.0);
  for (Index i = 0; i < rows; ++i) {
    for (Offset at = half.offsets[static_cast<std::size_t>(i)];
         at < half.offsets[static_cast<std::size_t>(i) + 1]; ++at) {
      const Index j = half.column[static_cast<std::size_t>(at)];
      if (j >= i) continue;
      const E entry = random_components<E>(generator);
      row[static_cast<std::size_t>(i)].emplace_back(j, entry);
      row[static_cast<std::size_t>(j)].emplace_back(i, adjoint(entry));
      sum[static_cast<std::size_t>(i)] += largest_stretch(entry);
      sum[static_cast<std::size_t>(j)] += largest_stretch(entry);
    }
  }
  Pattern pattern{rows, rows, {0}, {}};
  std::vector<E> entries;
  for (Index i = 0; i < rows; ++i) {
    auto& here = row[static_cast<std::size_t>(i)];
    E diagonal = one_entry<E>();
    for (auto& c : diagonal.component)
      c *= static_cast<S>(margin * sum[static_cast<std::size_t>(i)]);
    here.emplace_back(i, diagonal);
    std::sort(here.begin(), here.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, entry] : here) {
      pattern.column.push_back(column);
      entries.push_back(entry);
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return matrix_of(pattern, entries);
}

/// A field of components uniform in [-1, 1].
template <class E>
Field<E> random_field(Index rows, Generator& generator, VectorLayout layout = VectorLayout::aos,
                      std::shared_ptr<const Basis> basis = nullptr,
                      const Device& device = Device::cpu()) {
  Field<E> field(rows, device, layout, std::move(basis));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (auto& value : field.scalars()) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(uniform(generator));
  }
  return field;
}

/// A x in long double, in the user's order, with the terms of a bound on the rounding of any way to
/// compute it: the same sum over absolute values, and its number of terms. Row i's component k is
/// at i * rows_of_tile + k.
struct Reference {
  std::vector<long double> value;
  std::vector<long double> magnitude;
  std::vector<int> terms;

  /// A bound on |computed - value| for rounding to `unit_roundoff` (half an epsilon) after each
  /// operation, in any order, fused or not: Higham 2002, section 3.1. `more` operations follow the
  /// sum.
  long double bound(std::size_t i, long double unit_roundoff, int more = 0) const {
    return (terms[i] + 1 + more) * unit_roundoff * magnitude[i];
  }
};

template <class S>
inline constexpr long double unit_roundoff = std::numeric_limits<S>::epsilon() / 2;

/// The image of each unit vector under an entry: its real representation, in long double. Rows are
/// stored one after another.
template <class E>
std::vector<long double> dense_tile(const E& entry) {
  using Long = typename arithmetic_t<E>::template with_scalar<long double>;
  using V = vector_entry_t<Long>;
  using R = result_entry_t<Long>;
  const auto loaded = load(entry);
  Long a;
  for (int k = 0; k < Long::components; ++k) a.component[k] = loaded.component[k];
  std::vector<long double> tile(static_cast<std::size_t>(R::components * V::components));
  for (int j = 0; j < V::components; ++j) {
    V unit = zero_vector<V>();
    unit.component[j] = 1;
    R image = zero_vector<R>();
    multiply_add(image, a, unit);
    for (int i = 0; i < R::components; ++i) {
      tile[static_cast<std::size_t>(i * V::components + j)] = image.component[i];
    }
  }
  return tile;
}

/// `x` holds the components of each of the matrix's columns, row by row, in the user's order.
template <class E, class S>
Reference reference_product(const CsrMatrix<E>& matrix, const std::vector<S>& x) {
  constexpr int R = result_entry_t<E>::components;
  constexpr int C = vector_entry_t<E>::components;
  const auto size = static_cast<std::size_t>(matrix.rows()) * R;
  Reference product{std::vector<long double>(size), std::vector<long double>(size),
                    std::vector<int>(size)};
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const std::vector<long double> tile = dense_tile(matrix.entry(i));
      const auto column = static_cast<std::size_t>(matrix.column()[static_cast<std::size_t>(i)]);
      for (int r = 0; r < R; ++r) {
        const auto at = static_cast<std::size_t>(row) * R + static_cast<std::size_t>(r);
        for (int c = 0; c < C; ++c) {
          const long double a = tile[static_cast<std::size_t>(r * C + c)];
          if (a == 0) continue;  // no term, or one that adds nothing
          const long double term = a * x[column * C + static_cast<std::size_t>(c)];
          product.value[at] += term;
          product.magnitude[at] += std::abs(term);
          ++product.terms[at];
        }
      }
    }
  }
  return product;
}

/// The components of a field in the user's order, row by row.
template <class S>
std::vector<std::remove_const_t<S>> in_users_order(const FieldView<S>& field) {
  std::vector<std::remove_const_t<S>> values;
  for (Index row = 0; row < field.size; ++row) {
    const Index position = field.basis ? field.basis->position(row) : row;
    for (int k = 0; k < field.components; ++k) values.push_back(field.at(position, k));
  }
  return values;
}
/// The inverse: into a field of any basis and layout.
template <class S, class U>
void from_users_order(const std::vector<U>& values, const FieldView<S>& field) {
  std::size_t i = 0;
  for (Index row = 0; row < field.size; ++row) {
    const Index position = field.basis ? field.basis->position(row) : row;
    for (int k = 0; k < field.components; ++k) field.at(position, k) = static_cast<S>(values[i++]);
  }
}

}  // namespace heddle::test
