// Forms and factors of trees, and everything that honours them.
#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/matrix_pencil.hpp"
#include "hierarchical/tree_states.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace tree_state {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class TreeStates : public testing::Test {};
TYPED_TEST_SUITE(TreeStates, FewOf<TreeEntries>);

TYPED_TEST(TreeStates, AreThoseOfExplicitMatrices) {
  Seed seed(91);
  expect_states_of_all_shapes<TypeParam>(Device::cpu(2), seed.generator);
}

TEST(TreesInStates, TakeNoMemory) {
  Seed seed(92);
  using E = quaternion<double>;
  const HierarchicalMatrix<E> A(random_matrix<E>({.rows = 900, .columns = 500}, seed.generator));
  const auto state = A.scaled(3).adjoint_matrix();
  EXPECT_EQ(HierarchicalMatrix<E>::held_memory({A, state}),
            HierarchicalMatrix<E>::held_memory({A}));
  EXPECT_EQ(state.rows(), 500);
  EXPECT_EQ(state.columns(), 900);
}

TEST(TreesInStates, SumsWithComplexCoefficients) {
  Seed seed(93);
  using E = complex<double>;
  const std::complex<double> alpha(1, 2), beta(-0.5, 0.25);
  const auto a = random_matrix<E>({.rows = 60, .columns = 60}, seed.generator);
  const auto b = random_matrix<E>({.rows = 60, .columns = 60}, seed.generator);
  for (const auto& first : states_of(a, 16, Device::cpu())) {
    for (const auto& second : states_of(b, 16, Device::cpu())) {
      const bool is_exact = first.is_exact && second.is_exact;
      const HierarchicalMatrix<E> A(first.rows, 16), B(second.rows, 16);
      expect_near(add(alpha, first.tree, beta, second.tree).to_csr(),
                  add(alpha, A, beta, B).to_csr(), is_exact);
      expect_near(add_adjoint(alpha, first.tree, beta, second.tree).to_csr(),
                  add_adjoint(alpha, A, beta, B).to_csr(), is_exact);
    }
  }
}

/// The words of the error that `act` throws.
template <class Act>
std::string words_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TreesInStates, ErrorsNameThePlacesOfTheMatrix) {
  Seed seed(94);
  using E = real<double>;
  const HierarchicalMatrix<E> A(random_matrix<E>({.rows = 30, .columns = 90}, seed.generator), 16);
  const auto transpose = A.transposed(), plain = transpose.written_out();
  std::vector<EditBatch<E>> batches(4);
  batches[0].set(89, 30, {{1}});
  batches[1].set(-1, 0, {{1}});
  batches[2].set(80, 20, {{1}});
  batches[2].add(80, 20, {{1}});
  for (Index row = 0; row < 90 && batches[3].empty(); ++row) {
    if (!transpose.find(row, 7)) batches[3].remove(row, 7);
  }
  for (const EditBatch<E>& batch : batches) {
    const std::string words = words_of([&] { static_cast<void>(plain.edited(batch)); });
    EXPECT_NE(words, "no error");
    EXPECT_EQ(words_of([&] { static_cast<void>(transpose.edited(batch)); }), words);
  }
  const CooView<E> other{.rows = 30, .columns = 90, .entries = 1};
  expect_error(ErrorKind::size_mismatch,
               "edits of a matrix of 30 x 90 entries do not fit one of 90 x 30",
               [&] { static_cast<void>(transpose.edited({.set = other})); });
  expect_error(ErrorKind::size_mismatch, "cannot add 90 x 30 and 30 x 90 entries",
               [&] { static_cast<void>(add(1, transpose, 1, A)); });
  using C = complex<double>;
  const HierarchicalMatrix<C> Z(random_matrix<C>({.rows = 9, .columns = 9}, seed.generator));
  expect_error(
      ErrorKind::unsupported,
      "the transpose of complex numbers has no adjoint here; use A.adjoint() of the matrix",
      [&] { static_cast<void>(Z.transposed().adjoint_matrix()); });
  expect_error(ErrorKind::unsupported,
               "the adjoint of complex numbers has no transpose here; use A.transpose() of the "
               "matrix",
               [&] { static_cast<void>(Z.adjoint_matrix().transpose()); });
}

TEST(TreesInStates, AreEditedByArrays) {
  Seed seed(97);
  using E = complex<float>;
  const auto matrix = random_matrix<E>({.rows = 40, .columns = 70}, seed.generator);
  const std::vector<Index> row{3, 39, 17}, column{9, 0, 69};
  const std::vector<float> values = random_scalars<float>(6, seed.generator);
  for (const auto& [tree, rows, is_exact] : states_of(matrix, 16, Device::cpu())) {
    EntryMapOf<E> after = map_of(rows);
    std::vector<Index> of_row(row), of_column(column);
    if (tree.rows() == 70) std::swap(of_row, of_column);
    for (std::size_t i = 0; i < row.size(); ++i) {
      after[{of_row[i], of_column[i]}] = {{values[2 * i], values[2 * i + 1]}};
    }
    const CooView<E> view{tree.rows(),   tree.columns(),   3,
                          of_row.data(), of_column.data(), values.data()};
    expect_same_bits(tree.edited({.set = view}).to_csr(),
                     matrix_of(tree.rows(), tree.columns(), after));
  }
}

TEST(TreesInStates, JacobiFollowsThem) {
  Seed seed(95);
  using E = quaternion<double>;
  const auto matrix = random_matrix<E>({.rows = 400, .columns = 400}, seed.generator);
  EditBatch<E> diagonal;
  for (Index i = 0; i < 400; ++i) diagonal.set(i, i, random_components<E>(seed.generator));
  const auto A = HierarchicalMatrix<E>(matrix, 16).edited(diagonal);
  EditableMatrix<E> K(A);
  HierarchicalJacobi<E> jacobi(K);
  const Field<E> r = random_field<E>(400, seed.generator);
  Field<E> z(400), expected(400);
  for (const auto& now : {A.adjoint_matrix(), A.scaled(3), A.scaled(0.3).adjoint_matrix(), A}) {
    K.assign(now);
    jacobi.refresh();
    jacobi.apply(r.view(), z.view(), Stream());
    HierarchicalJacobi<E>(now.written_out()).apply(r.view(), expected.view(), Stream());
    EXPECT_TRUE(std::ranges::equal(z.scalars(), expected.scalars()));
  }
}

TEST(TreesInStates, PencilsTakeThem) {
  Seed seed(96);
  using E = complex<double>;
  const HierarchicalMatrix<E> A(random_matrix<E>({.rows = 50, .columns = 80}, seed.generator), 16);
  const HierarchicalMatrix<E> M(random_matrix<E>({.rows = 80, .columns = 50}, seed.generator), 16);
  const auto a = A.adjoint_matrix(), m = M.scaled(0.7);
  MatrixPencil<E> pencil(a, m);
  for (const double sigma : {0.5, -2.0, 3.0}) {
    expect_same_bits(pencil.at(sigma).to_csr(),
                     add(1.0, a.written_out(), sigma, m.written_out()).to_csr());
  }
}

}  // namespace
}  // namespace tree_state
