// What the tests of hierarchical storage share: entries, patterns, and matrices as plain maps.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
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

/// Entries by their places.
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

/// The adjoints at the transposed places, or with `conjugates` false the entries themselves.
template <class E>
CsrMatrix<E> turned(const CsrMatrix<E>& matrix, bool conjugates = true) {
  EntryMapOf<E> map;
  for (const auto& [place, entry] : map_of(matrix)) {
    map[{place.second, place.first}] = conjugates ? adjoint(entry) : entry;
  }
  return matrix_of(matrix.columns(), matrix.rows(), map);
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

/// The account of a matrix counts what walking over its tree finds, and what building it counted.
template <class E>
void expect_true_account(const HierarchicalMatrix<E>& matrix) {
  const CsrMatrix<E> csr = matrix.to_csr();
  const HierarchicalMemory counted =
      hierarchical_memory(csr.view().pattern(), matrix.node_size(), sizeof(E));
  const HierarchicalMemory memory = matrix.memory();
  EXPECT_EQ(matrix.entries(), csr.entries());
  EXPECT_EQ(memory.leaves.of_kind, counted.leaves.of_kind);
  EXPECT_EQ(memory.inner.of_kind, counted.inner.of_kind);
  EXPECT_EQ(memory.leaves.bytes, counted.leaves.bytes);
  EXPECT_EQ(memory.inner.bytes, counted.inner.bytes);
  EXPECT_EQ(memory.leaves.items, csr.entries());
  EXPECT_LE(memory.tree(), HierarchicalMatrix<E>::held_memory({matrix}));
}

/// Shapes that a tree has to survive: those of every storage, full ones, and one dense column.
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
  // Nine in ten places: dense nodes with gaps.
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
  // Far corners of a large matrix: four entries, and a node for each level above.
  Pattern corners{2'000'000, 1'000'001, std::vector<Offset>(2'000'001), {0, 1'000'000, 0, 999'999}};
  for (std::size_t row = 1; row < corners.offsets.size(); ++row) {
    corners.offsets[row] = row == 2'000'000 ? 4 : 2;
  }
  patterns.push_back(std::move(corners));
  return patterns;
}

}  // namespace heddle::test
