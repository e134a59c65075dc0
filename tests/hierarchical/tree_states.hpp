// Matrices in every state of a tree, next to the same matrices made explicitly.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "hierarchical/trees.hpp"

namespace heddle::test {

template <class E>
inline constexpr bool has_plain_transpose =
    requires(const HierarchicalMatrix<E>& A) { A.transposed(); };

/// A matrix in a state, and the same in rows with columns sorted.
template <class E>
struct StatedMatrix {
  HierarchicalMatrix<E> tree;
  CsrMatrix<E> rows;
  bool is_exact = true;  // sums round nowhere else than those of rows
};

/// The matrix of some rows in all states; the first is the tree itself.
template <class E>
std::vector<StatedMatrix<E>> states_of(const CsrMatrix<E>& matrix, const NodeLayout& nodes,
                                       const Device& device) {
  using S = vector_scalar_t<E>;
  const CsrMatrix<E> sorted = matrix_of(matrix.rows(), matrix.columns(), map_of(matrix));
  const HierarchicalMatrix<E> A(matrix, nodes, device);
  std::vector<StatedMatrix<E>> all{{A, sorted},
                                   {A.scaled(-2), scaled_by(sorted, S(-2))},
                                   {A.scaled(S(0.3)), scaled_by(sorted, S(0.3)), false}};
  if constexpr (has_adjoint<E>) {
    all.push_back({A.adjoint_matrix(), plain_adjoint(sorted)});
    all.push_back(
        {A.scaled(S(0.7)).adjoint_matrix(), plain_adjoint(scaled_by(sorted, S(0.7))), false});
    all.push_back({A.adjoint_matrix().adjoint_matrix(), sorted});
  }
  if constexpr (has_plain_transpose<E>) {
    const CsrMatrix<E> transpose = plain_adjoint(sorted, E::ring != Ring::complex);
    all.push_back({A.transposed(), transpose});
    all.push_back({A.transposed().scaled(4), scaled_by(transpose, S(4))});
  }
  return all;
}

/// Equal places; equal numbers, where zeros may differ in their signs, or numbers that differ in
/// rounding.
template <class E>
void expect_near(const CsrMatrix<E>& computed, const CsrMatrix<E>& expected, bool is_exact) {
  ASSERT_EQ(computed.rows(), expected.rows());
  ASSERT_TRUE(std::ranges::equal(computed.offsets(), expected.offsets()));
  ASSERT_TRUE(std::ranges::equal(computed.column(), expected.column()));
  const auto values = computed.values(), others = expected.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double bound =
        is_exact ? 0 : 16 * double{std::numeric_limits<vector_scalar_t<E>>::epsilon()};
    ASSERT_LE(std::abs(double(values[i]) - double(others[i])), bound) << i;
  }
}

/// Everything that one matrix in a state hands out, and its edits.
template <class E>
void expect_state(const StatedMatrix<E>& given, Generator& generator) {
  const HierarchicalMatrix<E>& A = given.tree;
  const EntryMapOf<E> entries = map_of(given.rows);
  expect_same_bits(A.to_csr(), given.rows);
  expect_same_bits(A.written_out().to_csr(), given.rows);
  EntryMapOf<E> diagonal;
  for (const auto& [place, entry] : entries) {
    const auto found = A.find(place.first, place.second);
    ASSERT_TRUE(found);
    ASSERT_EQ(std::memcmp(&*found, &entry, sizeof(E)), 0);
    if (place.first == place.second) diagonal.insert({place, entry});
  }
  EXPECT_FALSE(A.find(A.rows(), 0));
  EXPECT_FALSE(A.find(0, A.columns()));
  expect_same_bits(A.diagonal(), matrix_of(A.rows(), A.columns(), diagonal));
  expect_products(A, given.rows, generator);
  if constexpr (has_adjoint<E>) {
    // (A^T)* of complex numbers is none of the forms.
    const bool has_it = [&] {
      try {
        return A.adjoint() != nullptr;
      } catch (const Error&) {
        return false;
      }
    }();
    EXPECT_TRUE(has_it || detail::is_complex_number<E>);
    if (has_it) expect_products(*A.adjoint(), plain_adjoint(given.rows), generator);
  }
  if (A.rows() == 0 || A.columns() == 0) return;
  if (A.rows() == A.columns()) expect_fused_products(given, generator);
  EntryMapOf<E> after = entries;
  const auto edits = random_edits<EditBatch, E>(A.rows(), A.columns(), 9, after, generator);
  const auto edited = A.edited(edits);
  expect_same_bits(edited.to_csr(), matrix_of(A.rows(), A.columns(), after));
  expect_products(edited, edited.to_csr(), generator);
}

/// A product fused with a dot, and residuals, next to those of rows: a square matrix.
template <class E>
void expect_fused_products(const StatedMatrix<E>& given, Generator& generator) {
  using S = vector_scalar_t<E>;
  const Device device = given.tree.device();
  const Index rows = given.tree.rows();
  const HierarchicalMatrix<E> plain(given.rows, given.tree.node_size(), device);
  const auto there = [&](const Field<E>& field) {
    Field<E> copied(rows, device);
    copy<S>(field.view(), copied.view(), device.stream());
    device.synchronize();
    return copied;
  };
  const Field<E> x = there(random_field<E>(rows, generator));
  const Field<E> b = there(random_field<E>(rows, generator));
  Reduction<S> reduction(rows, device);
  const double bound = 1000 * double{std::numeric_limits<S>::epsilon()};
  std::vector<std::vector<double>> results;
  for (const HierarchicalMatrix<E>* const A : {&given.tree, &plain}) {
    Field<E> y(rows, device), r(rows, device);
    const double dot = A->apply_dot(x.view(), y.view(), reduction, device.stream());
    const double squares = A->residual(b.view(), x.view(), r.view(), reduction, device.stream());
    const Field<E> y_here = y.to_host(), r_here = r.to_host();
    std::vector<double>& all = results.emplace_back();
    all.insert(all.end(), y_here.scalars().begin(), y_here.scalars().end());
    all.insert(all.end(), r_here.scalars().begin(), r_here.scalars().end());
    all.push_back(dot / rows);
    all.push_back(squares / rows);
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    ASSERT_NEAR(results[0][i], results[1][i], bound) << i;
  }
}

/// Every sum of two matrices in states that fit.
template <class E>
void expect_sums(const std::vector<StatedMatrix<E>>& of_a,
                 const std::vector<StatedMatrix<E>>& of_b) {
  using S = vector_scalar_t<E>;
  for (const StatedMatrix<E>& a : of_a) {
    for (const StatedMatrix<E>& b : of_b) {
      const bool is_exact = a.is_exact && b.is_exact;
      if (a.rows.rows() == b.rows.rows() && a.rows.columns() == b.rows.columns()) {
        expect_near(add(S(2), a.tree, S(-0.5), b.tree).to_csr(),
                    sum_of_rows<E>(2, a.rows, S(-0.5), b.rows), is_exact);
      }
      if constexpr (has_adjoint<E>) {
        if (a.rows.rows() != b.rows.columns() || a.rows.columns() != b.rows.rows()) continue;
        expect_near(add_adjoint(S(1), a.tree, S(3), b.tree).to_csr(),
                    sum_of_rows<E>(1, a.rows, 3, plain_adjoint(b.rows)), is_exact);
      }
    }
  }
}

/// Tests every state of matrices of all shapes on a device.
template <class E>
void expect_states_of_all_shapes(const Device& device, Generator& generator) {
  constexpr Index max_rows = HEDDLE_TEST_QUICK_CHECK ? 300 : 1000;
  for (const Pattern& pattern : tree_patterns(generator)) {
    if (pattern.rows > max_rows) continue;
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, generator);
    const NodeLayout nodes = random_between(0, 1, generator) == 0 ? NodeLayout(4, 30) : 64;
    const auto states = states_of(matrix, nodes, device);
    for (std::size_t k = 0; k < states.size(); ++k) {
      SCOPED_TRACE(k);
      expect_state(states[k], generator);
      if (testing::Test::HasFatalFailure()) return;
    }
    const auto others =
        states_of(random_matrix<E>({.rows = pattern.rows, .columns = pattern.columns}, generator),
                  nodes.size, device);
    expect_sums(states, others);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace heddle::test
