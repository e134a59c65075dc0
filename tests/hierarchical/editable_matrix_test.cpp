// Solvers and preconditioners that stay in use while their matrix changes.
#include "heddle/editable_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/deflation.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/multiply.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/problems.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace editable_matrix {
namespace {

using namespace heddle;
using namespace heddle::test;
using Real = real<double>;

template <class E>
std::vector<vector_scalar_t<E>> scalars_of(const Field<E>& field) {
  return {field.scalars().begin(), field.scalars().end()};
}

/// |b - A x| / |b|.
double residual(const HierarchicalMatrix<Real>& A, const Field<Real>& b, const Field<Real>& x) {
  Field<Real> y(b.size());
  multiply(A, x, y);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.scalars().size(); ++i) {
    difference += std::pow(b.scalars()[i] - y.scalars()[i], 2);
    norm += std::pow(b.scalars()[i], 2);
  }
  return std::sqrt(difference / norm);
}

/// Springs that connect pairs of rows.
EditBatch<Real> springs(Index rows, Index from, double stiffness) {
  EditBatch<Real> edits;
  for (Index i = from; i < rows / 2; i += 97) {
    const Index j = i + rows / 2;
    for (const Index k : {i, j}) edits.add(k, k, {{stiffness}});
    edits.set(i, j, {{-stiffness}});
    edits.set(j, i, {{-stiffness}});
  }
  return edits;
}

TEST(EditableMatrix, SolversGoOnAfterEdits) {
  const HierarchicalMatrix<Real> first(poisson(700), 16);
  EditableMatrix<Real> A(first);
  const Index rows = A.rows();
  const auto jacobi = std::make_shared<HierarchicalJacobi<Real>>(A);
  ConjugateGradient cg(A, jacobi);
  ConjugateGradient by_polynomial(A, std::make_shared<Chebyshev<double>>(A, jacobi));
  const LeastSquaresOptions few{.tolerance = 1e-12, .max_iterations = 100};  // only the bits matter
  Lsmr least_squares(A, few);
  Field<Real> b(rows);
  for (Index i = 0; i < rows; ++i) b.set(i, {{1.0 + i % 7}});
  for (int step = 0; step < 4; ++step) {
    if (step > 0) A.edit(springs(rows, step, 1e3 * step));
    SCOPED_TRACE(step);
    // The same bits as from solvers made only for this matrix.
    ConjugateGradient fresh(A.matrix(), HierarchicalJacobi(A.matrix()));
    ConjugateGradient fresh_polynomial(
        A.matrix(), std::make_shared<Chebyshev<double>>(
                        A.matrix(), std::make_shared<HierarchicalJacobi<Real>>(A.matrix())));
    Field<Real> x(rows), y(rows), z(rows), w(rows);
    const Report report = cg.solve(b, x);
    ASSERT_TRUE(report.converged());
    EXPECT_LT(residual(A.matrix(), b, x), 1e-9);
    EXPECT_EQ(fresh.solve(b, y).iterations, report.iterations);
    EXPECT_EQ(scalars_of(x), scalars_of(y));
    ASSERT_TRUE(by_polynomial.solve(b, z).converged());
    ASSERT_TRUE(fresh_polynomial.solve(b, w).converged());
    EXPECT_EQ(scalars_of(z), scalars_of(w));
    Field<Real> of_lsmr(rows), of_fresh_lsmr(rows);
    Lsmr fresh_lsmr(A.matrix(), few);
    least_squares.solve(b, of_lsmr);
    fresh_lsmr.solve(b, of_fresh_lsmr);
    EXPECT_EQ(scalars_of(of_lsmr), scalars_of(of_fresh_lsmr));
  }
  // The original is unchanged.
  expect_same_bits(first.to_csr(), HierarchicalMatrix<Real>(poisson(700), 16).to_csr());
}

TEST(EditableMatrix, TakesSumsInItsPlace) {
  const auto csr = poisson(500);
  const HierarchicalMatrix<Real> K(csr, 16), M(csr.rows(), csr.rows(), 16);
  EditBatch<Real> identity;
  for (Index i = 0; i < csr.rows(); ++i) identity.set(i, i, {{1}});
  const auto I = M.edited(identity);
  EditableMatrix<Real> A(K);
  const EditableMatrix<Real> same = A;
  ConjugateGradient cg(A, HierarchicalJacobi(A));
  Field<Real> b(A.rows());
  for (Index i = 0; i < A.rows(); ++i) b.set(i, {{1}});
  for (const double sigma : {0.5, 3.0}) {
    A.assign(add(1.0, K, sigma, I));
    Field<Real> x(A.rows());
    ASSERT_TRUE(cg.solve(b, x).converged());
    EXPECT_LT(residual(add(1.0, K, sigma, I), b, x), 1e-9);
    EXPECT_EQ(same.matrix().find(3, 3)->component[0], A.matrix().find(3, 3)->component[0]);
  }
  // Back to a matrix that shares nothing with the previous one.
  A.assign(K);
  Field<Real> x(A.rows());
  ASSERT_TRUE(cg.solve(b, x).converged());
  EXPECT_LT(residual(K, b, x), 1e-9);
}

TEST(EditableMatrix, RefusesWhatDoesNotFit) {
  EditableMatrix<Real> A(HierarchicalMatrix<Real>(20, 30, 4));
  expect_error(ErrorKind::size_mismatch,
               "a matrix of 20 x 30 entries cannot be replaced by one of 30 x 20",
               [&] { A.assign(HierarchicalMatrix<Real>(30, 20, 4)); });
  EditBatch<Real> missing;
  missing.remove(1, 2);
  expect_error(ErrorKind::out_of_range, "edit 0 removes row 1, column 2, where there is no entry",
               [&] { A.edit(missing); });
  EXPECT_EQ(A.generation(), 0);
  expect_error(ErrorKind::size_mismatch, "Jacobi needs a square matrix, this one is 20 x 30",
               [&] { HierarchicalJacobi<Real>{A}; });
  const EditableMatrix<dual_quaternion<double>> dual(
      HierarchicalMatrix<dual_quaternion<double>>(4, 4, 4));
  expect_error(ErrorKind::unsupported, "no adjoint: the entry has none of its kind",
               [&] { static_cast<void>(dual.adjoint()); });
}

template <class E>
class Diagonals : public testing::Test {};
TYPED_TEST_SUITE(Diagonals, FewOf<TreeEntries>);

/// Compares with `Jacobi` of the same matrix in sliced storage, bit by bit, while it changes.
TYPED_TEST(Diagonals, AreInvertedAsThoseOfSlicedStorage) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(61);
  for (const int d : {4, 32}) {
    auto map =
        map_of(random_matrix<E>({.rows = 300, .columns = 300, .per_row = 4}, seed.generator));
    for (Index i = 0; i < 300; ++i) map[{i, i}] = random_components<E>(seed.generator);
    EditableMatrix<E> A(HierarchicalMatrix<E>(matrix_of(300, 300, map), d));
    HierarchicalJacobi<E> jacobi(A);
    const auto r = random_field<E>(300, seed.generator);
    for (int step = 0; step < 6; ++step) {
      EditBatch<E> edits;
      for (Index k = 0; k < (step == 5 ? 300 : step); ++k) {
        const Index row = (k * 71 + step) % 300;
        const E value = random_components<E>(seed.generator);
        edits.set(row, row, value);
        map[{row, row}] = value;
      }
      A.edit(edits);
      jacobi.refresh();
      expect_same_bits(A.matrix().diagonal(), [&] {
        EntryMapOf<E> diagonal;
        for (const auto& [place, entry] : map) {
          if (place.first == place.second) diagonal[place] = entry;
        }
        return matrix_of(300, 300, diagonal);
      }());
      const Jacobi<E> sliced(Operator<E>(matrix_of(300, 300, map), parse_plan("CSR")));
      Field<E> z(300), expected(300);
      jacobi.apply(r.view(), z.view(), Stream{});
      sliced.apply(r.view(), expected.view(), Stream{});
      EXPECT_EQ((std::vector<S>(z.scalars().begin(), z.scalars().end())),
                (std::vector<S>(expected.scalars().begin(), expected.scalars().end())));
    }
  }
}

TEST(Diagonals, CountMissingEntriesAsOneAndNameThoseThatAreNotFinite) {
  EditableMatrix<Real> A(HierarchicalMatrix<Real>(poisson(400), 8));
  HierarchicalJacobi<Real> jacobi(A);
  const HierarchicalMatrix<Real> whole = A.matrix();
  const Index rows = whole.rows();
  const auto weights = [&] {
    Field<Real> ones(rows), z(rows);
    for (Index i = 0; i < rows; ++i) ones.set(i, {{1}});
    jacobi.refresh();
    jacobi.apply(std::as_const(ones).view(), z.view(), Stream{});
    return std::vector<double>(z.scalars().begin(), z.scalars().end());
  };
  const std::vector<double> of_whole = weights();
  std::vector<double> expected = of_whole;
  const auto refuse = [&](const std::string& row) {
    expect_error(ErrorKind::singular,
                 "Jacobi: the diagonal entry of row " + row + " (counted from 0) is not finite",
                 [&] { jacobi.refresh(); });
  };
  EditBatch<Real> zero, gone, nan;
  zero.set(207, 207, {{0}});
  gone.remove(31, 31);
  A.edit(zero);
  A.edit(gone);
  expected[207] = expected[31] = 1;
  EXPECT_EQ(weights(), expected);
  nan.set(40, 40, {{std::nan("")}});
  A.edit(nan);
  refuse("40");
  refuse("40");
  A.assign(whole);
  jacobi.refresh();
  // Remove a whole leaf.
  EditBatch<Real> all_of_block;
  for (Index i = 16; i < 24; ++i) {
    for (Index j = 16; j < 24; ++j) {
      if (whole.find(i, j)) all_of_block.remove(i, j);
    }
  }
  A.edit(all_of_block);
  expected = of_whole;
  for (std::size_t i = 16; i < 24; ++i) expected[i] = 1;
  EXPECT_EQ(weights(), expected);
  HierarchicalJacobi<Real> made_from_it{A.matrix()},
      of_nothing{HierarchicalMatrix<Real>(rows, rows)};
  std::swap(jacobi, made_from_it);
  EXPECT_EQ(weights(), expected);
  std::swap(jacobi, of_nothing);
  EXPECT_EQ(weights(), std::vector<double>(std::size_t(rows), 1.0));
  EXPECT_EQ(HierarchicalMatrix<Real>(0, 0).diagonal().entries(), 0);
  EXPECT_EQ(HierarchicalMatrix<Real>(7, 3).diagonal().rows(), 7);
}

}  // namespace
}  // namespace editable_matrix
