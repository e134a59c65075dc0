// Helpers shared by the tests of hierarchical storage: entries, patterns, and matrices as maps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/hierarchical_matrix.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test {

using TreeEntries =
    testing::Types<real<double>, real<float>, complex<double>, complex<float>, quaternion<double>,
                   quaternion<float>, dual_quaternion<double>, dual_quaternion<float>,
                   block<double, 2, 2>, block<float, 2, 2>, block<double, 3, 3>, block<float, 3, 3>,
                   block<complex<double>, 3, 3>>;

/// Entries by place.
template <class E>
using EntryMapOf = std::map<std::pair<Index, Index>, E>;

template <class E>
EntryMapOf<E> map_of(const CsrMatrix<E>& matrix) {
  EntryMapOf<E> map;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      map[{row, matrix.column()[static_cast<std::size_t>(i)]}] = matrix.entry(i);
    }
  }
  return map;
}

template <class E>
CsrMatrix<E> matrix_of(Index rows, Index columns, const EntryMapOf<E>& map) {
  Pattern pattern{rows, columns, std::vector<Offset>(static_cast<std::size_t>(rows) + 1), {}};
  std::vector<E> entries;
  for (const auto& [place, entry] : map) {
    ++pattern.offsets[static_cast<std::size_t>(place.first) + 1];
    pattern.column.push_back(place.second);
    entries.push_back(entry);
  }
  for (std::size_t row = 1; row < pattern.offsets.size(); ++row) {
    pattern.offsets[row] += pattern.offsets[row - 1];
  }
  return matrix_of(pattern, entries);
}

/// Edits at distinct places, also applied to `map`; most of them near one another. `Batch`:
/// `EditBatch`, or another with the same functions.
template <template <class> class Batch, class E>
Batch<E> random_edits(Index rows, Index columns, int count, EntryMapOf<E>& map,
                      Generator& generator) {
  Batch<E> edits;
  std::set<std::pair<Index, Index>> named;
  const Index row_at = random_between(0, rows - 1, generator);
  for (int i = 0; i < count; ++i) {
    const bool is_near = random_between(0, 2, generator) > 0;
    std::pair<Index, Index> place{is_near
                                      ? std::min(rows - 1, row_at + random_between(0, 9, generator))
                                      : random_between(0, rows - 1, generator),
                                  random_between(0, columns - 1, generator)};
    const int action = random_between(0, 2, generator);
    if (action == 2 && !map.empty()) {
      // An existing entry.
      auto at = map.lower_bound(place);
      if (at == map.end()) at = map.begin();
      place = at->first;
    }
    if (!named.insert(place).second) continue;
    const auto at = map.find(place);
    const E value = random_components<E>(generator);
    if (action == 0) {
      edits.set(place.first, place.second, value);
      map[place] = value;
    } else if (action == 1) {
      edits.add(place.first, place.second, value);
      map[place] = at == map.end() ? value : add(at->second, value);
    } else if (at != map.end()) {
      edits.remove(place.first, place.second);
      map.erase(at);
    }
  }
  return edits;
}

/// The adjoints of the entries at the transposed places; the entries themselves if not
/// `conjugates`.
template <class E>
CsrMatrix<E> plain_adjoint(const CsrMatrix<E>& matrix, bool conjugates = true) {
  EntryMapOf<E> map;
  for (const auto& [place, entry] : map_of(matrix)) {
    map[{place.second, place.first}] = conjugates ? adjoint(entry) : entry;
  }
  return matrix_of(matrix.columns(), matrix.rows(), map);
}

/// All entries multiplied by a factor, which is exact for powers of two.
template <class E, class S>
CsrMatrix<E> scaled_by(CsrMatrix<E> matrix, S factor) {
  for (auto& value : matrix.values()) value *= factor;
  return matrix;
}

/// alpha a + beta b, in the order of `add`.
template <class E>
CsrMatrix<E> sum_of_rows(vector_scalar_t<E> alpha, const CsrMatrix<E>& a, vector_scalar_t<E> beta,
                         const CsrMatrix<E>& b) {
  EntryMapOf<E> sum = map_of(scaled_by(a, alpha));
  for (const auto& [place, entry] : map_of(scaled_by(b, beta))) {
    const auto [at, is_new] = sum.emplace(place, entry);
    if (!is_new) at->second = add(at->second, entry);
  }
  return matrix_of(a.rows(), a.columns(), sum);
}

/// Sums of the absolute values of all components, row by row.
template <class E>
std::vector<double> absolute_row_sums(const CsrMatrix<E>& matrix) {
  std::vector<double> sums(static_cast<std::size_t>(matrix.rows()));
  for (const auto& [place, entry] : map_of(matrix)) {
    for (const auto component : entry.component) {
      sums[static_cast<std::size_t>(place.first)] += std::abs(static_cast<double>(component));
    }
  }
  return sums;
}

template <class E>
void expect_same_bits(const CsrMatrix<E>& computed, const CsrMatrix<E>& expected) {
  ASSERT_EQ(computed.rows(), expected.rows());
  ASSERT_EQ(computed.columns(), expected.columns());
  const auto equal = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
  };
  EXPECT_TRUE(equal(computed.offsets(), expected.offsets()));
  EXPECT_TRUE(equal(computed.column(), expected.column()));
  EXPECT_TRUE(equal(computed.values(), expected.values()));
}

template <class S>
std::vector<S> random_scalars(Offset count, Generator& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<S> scalars(static_cast<std::size_t>(count));
  for (S& scalar : scalars) scalar = static_cast<S>(uniform(generator));
  return scalars;
}

/// y = alpha A x + beta y for fields in the host's memory, on the operator's device.
template <class S>
std::vector<S> product(const LinearOperator<S>& A, S alpha, const std::vector<S>& x, S beta,
                       const std::vector<S>& y) {
  const Device device = A.device();
  const Array<S> there(std::span<const S>(x), device);
  Array<S> result(std::span<const S>(y), device);
  A.apply(alpha, FieldView<const S>(there.data(), A.columns(), A.column_components()), beta,
          FieldView<S>(result.data(), A.rows(), A.row_components()), device.stream());
  return result.to_host();
}

/// Compares products with long double. `matrix` holds the entries that the operator multiplies by.
template <class E, class S>
void expect_products(const LinearOperator<S>& A, const CsrMatrix<E>& matrix, Generator& generator) {
  ASSERT_EQ(A.rows(), matrix.rows());
  ASSERT_EQ(A.columns(), matrix.columns());
  const auto x = random_scalars<S>(Offset(A.columns()) * A.column_components(), generator);
  const auto before = random_scalars<S>(Offset(A.rows()) * A.row_components(), generator);
  const Reference reference = reference_product(matrix, x);
  for (const auto& [alpha, beta] : {std::pair{S(1), S(0)}, {S(-0.7), S(0)}, {S(2), S(0.5)}}) {
    std::vector<S> old = before;
    if (beta == 0) std::fill(old.begin(), old.end(), std::numeric_limits<S>::quiet_NaN());
    const std::vector<S> y = product(A, alpha, x, beta, old);
    for (std::size_t i = 0; i < y.size(); ++i) {
      long double expected = alpha * reference.value[i];
      long double bound = std::abs(alpha) * reference.bound(i, unit_roundoff<S>, 4);
      if (beta != 0) {
        expected += static_cast<long double>(beta) * before[i];
        bound += 2 * unit_roundoff<S> * std::abs(static_cast<long double>(beta) * before[i]);
      }
      ASSERT_FALSE(!(std::abs(y[i] - expected) <= bound))
          << "component " << i << ": " << y[i] << " instead of " << expected;
    }
  }
}

/// The same for A x and every other form that E has.
template <class E>
void expect_products_of_all_forms(const HierarchicalMatrix<E>& tree, const CsrMatrix<E>& matrix,
                                  Generator& generator) {
  expect_products(tree, matrix, generator);
  if constexpr (has_adjoint<E>) {
    const auto adjoint_of_tree = tree.adjoint();
    const CsrMatrix<E> adjoint_matrix = plain_adjoint(matrix);
    expect_products(*adjoint_of_tree, adjoint_matrix, generator);
    expect_products(*adjoint_of_tree->adjoint(), matrix, generator);
    constexpr bool is_complex = E::ring == Ring::complex;
    if constexpr (is_complex && E::components == 2) {
      expect_products(*tree.transpose(), plain_adjoint(matrix, false), generator);
    } else if constexpr (E::ring == Ring::real) {
      expect_products(*tree.transpose(), adjoint_matrix, generator);
    }
  }
}

/// The matrix's account matches a walk over its tree, and the count before it was built.
template <class E>
void expect_true_account(const HierarchicalMatrix<E>& matrix, int dense = NodeLayout::by_bytes) {
  const CsrMatrix<E> csr = matrix.to_csr();
  const HierarchicalMemory counted =
      hierarchical_memory(csr.view().pattern(), {matrix.node_size(), dense}, sizeof(E));
  const HierarchicalMemory memory = matrix.memory();
  EXPECT_EQ(matrix.entries(), csr.entries());
  EXPECT_EQ(memory.leaves.of_kind, counted.leaves.of_kind);
  EXPECT_EQ(memory.inner.of_kind, counted.inner.of_kind);
  EXPECT_EQ(memory.leaves.bytes, counted.leaves.bytes);
  EXPECT_EQ(memory.inner.bytes, counted.inner.bytes);
  EXPECT_EQ(memory.leaves.items, csr.entries());
  EXPECT_LE(memory.tree(), HierarchicalMatrix<E>::held_memory({matrix}));
}

/// Shapes that a tree must handle: those of every storage, full ones, and one dense column.
inline std::vector<Pattern> tree_patterns(Generator& generator) {
  std::vector<Pattern> patterns;
  for (const auto& requests : {odd_patterns(), odd_rectangular_patterns()}) {
    for (const PatternRequest& request : requests) {
      patterns.push_back(random_pattern(request, generator));
    }
  }
  const auto full = [](Index rows, Index columns) {
    Pattern pattern{rows, columns, {0}, {}};
    for (Index row = 0; row < rows; ++row) {
      for (Index column = 0; column < columns; ++column) pattern.column.push_back(column);
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    return pattern;
  };
  for (const auto& [rows, columns] : {std::pair{64, 64}, {61, 35}, {3, 70}}) {
    patterns.push_back(full(rows, columns));
  }
  // Nine in ten places are filled: dense nodes with gaps.
  Pattern gaps{70, 70, {0}, {}};
  for (Index row = 0; row < 70; ++row) {
    for (Index column = 0; column < 70; ++column) {
      if (random_between(0, 9, generator) > 0) gaps.column.push_back(column);
    }
    gaps.offsets.push_back(static_cast<Offset>(gaps.column.size()));
  }
  patterns.push_back(std::move(gaps));
  Pattern dense_column{90, 40, {0}, {}};
  for (Index row = 0; row < 90; ++row) {
    dense_column.column.push_back(17);
    dense_column.offsets.push_back(row + 1);
  }
  patterns.push_back(std::move(dense_column));
  // Far corners of a large matrix: four entries, and a node for each level above them.
  Pattern corners{2'000'000, 1'000'001, std::vector<Offset>(2'000'001), {0, 1'000'000, 0, 999'999}};
  for (std::size_t row = 1; row < corners.offsets.size(); ++row) {
    corners.offsets[row] = row == 2'000'000 ? 4 : 2;
  }
  patterns.push_back(std::move(corners));
  return patterns;
}

/// Tests trees on a device, for all shapes and three node layouts: one has more dense leaves than
/// the least memory requires, and one has none.
template <class E>
void expect_products_of_all_shapes(const Device& device, Generator& generator) {
  for (const Pattern& pattern : tree_patterns(generator)) {
    if (pattern.rows > 1000) continue;
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, generator);
    for (const NodeLayout& nodes :
         {NodeLayout(4, 30), NodeLayout(32), NodeLayout(256, NodeLayout::never)}) {
      SCOPED_TRACE(to_string(nodes));
      expect_products_of_all_forms(HierarchicalMatrix<E>(matrix, nodes, device), matrix, generator);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace heddle::test
