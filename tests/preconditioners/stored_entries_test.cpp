// Entries of one matrix in every storage, and the preconditioners made from them.
#include "heddle/detail/stored_entries.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/hierarchical_matrix.hpp"
#include "heddle/matrix_product.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "heddle/runtime/defined_tree.hpp"
#include "runtime/make_preconditioner.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/on_ranks.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::stored_entries {
namespace {

/// y = f(x) for one x.
template <class S, class F>
std::vector<S> applied(Index rows, int components, const F& f) {
  Generator generator(5821);
  std::uniform_real_distribution<S> uniform(-1, 1);
  std::vector<S> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components));
  std::vector<S> y(x.size());
  for (S& value : x) value = uniform(generator);
  f(FieldView<const S>(x.data(), rows, components), FieldView<S>(y.data(), rows, components));
  return y;
}

template <class S>
std::vector<S> image(const LinearOperator<S>& A) {
  return applied<S>(A.rows(), A.row_components(),
                    [&](const auto& x, const auto& y) { multiply<S>(A, x, y); });
}

template <class S>
std::vector<S> preconditioned(const OperatorReference<S>& A, const std::string& text) {
  const auto made = make_preconditioner<S>(A, ComposedChoice::parse(text));
  made->refresh();
  return applied<S>(A->rows(), A->row_components(),
                    [&](const auto& r, const auto& z) { made->apply(r, z, A->device().stream()); });
}

template <class S>
void expect_same_preconditioners(const OperatorReference<S>& sliced,
                                 const OperatorReference<S>& other) {
  for (const char* const text :
       {"jacobi", "block-jacobi:3", "fsai", "isai", "jacobi*isai", "direct"}) {
    EXPECT_EQ(preconditioned(other, text), preconditioned(sliced, text)) << text;
  }
}

template <class S>
void expect_same_entries(const OperatorReference<S>& sliced, const OperatorReference<S>& other) {
  const detail::StoredEntries<S>& entries = *other->stored_entries();
  EXPECT_EQ(entries.has_inverses(), sliced->stored_entries()->has_inverses());
  EXPECT_EQ(image<S>(entries.sliced()), image<S>(*sliced));
  expect_same_preconditioners(sliced, other);
}

template <class E>
class StoredEntriesOf : public testing::Test {};
using Entries =
    testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(StoredEntriesOf, FewOf<Entries>);

TYPED_TEST(StoredEntriesOf, MakeTheSamePreconditionersInEveryStorage) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(5820);
  const auto matrix = random_positive_definite_matrix<E>(37, 5, seed.generator);
  const OperatorReference<S> sliced(Operator<E>(matrix, Plan{}, Device::cpu(2)));
  for (const int node : {4, 32}) {
    SCOPED_TRACE(node);
    const HierarchicalMatrix<E> tree(matrix, node, Device::cpu(2));
    expect_same_entries<S>(sliced, tree);
    expect_same_entries<S>(sliced, std::make_shared<const HierarchicalMatrix<E>>(tree));
  }
}

TEST(StoredEntries, OfADefinitionAreThoseOfItsTree) {
  using E = quaternion<double>;
  Seed seed(5822);
  const auto matrix = random_positive_definite_matrix<E>(29, 4, seed.generator);
  const auto defined = as_defined(matrix, quaternion_definition());
  const OperatorReference<double> sliced(DefinedOperator<double>(defined, Plan{}, Device::cpu()));
  const DefinedTree<double> tree(defined, 4);
  expect_same_entries<double>(sliced, tree);
  const detail::SlicedOperator<double> diagonal = DefinedTree<double>(defined, 8).sliced_diagonal();
  EXPECT_EQ(diagonal.pattern().entries, 29);
}

TEST(StoredEntries, OfATreeAreCopiedOnceForAPreconditioner) {
  using E = real<double>;
  Seed seed(5823);
  const auto matrix = random_positive_definite_matrix<E>(50, 5, seed.generator);
  const HierarchicalMatrix<E> tree(matrix, 8);
  const auto copied = [&](const LinearOperator<double>& A, const char* text) {
    PreconditionerFacts facts;
    static_cast<void>(make_preconditioner<double>(A, ComposedChoice::parse(text), facts));
    return facts.copied_bytes;
  };
  const long long of_diagonal = tree.sliced_diagonal().memory().total();
  const long long of_all = tree.sliced().memory().total();
  EXPECT_LT(of_diagonal, of_all);
  EXPECT_EQ(copied(tree, "none"), 0);
  EXPECT_EQ(copied(tree, "chebyshev,jacobi"), of_diagonal);
  for (const char* const text : {"fsai", "jacobi*fsai", "isai,jacobi,fsai"}) {
    EXPECT_EQ(copied(tree, text), of_all) << text;
  }
  EXPECT_EQ(copied(Operator<E>(matrix, Plan{}), "jacobi*fsai"), 0);
}

TEST(StoredEntries, AnOperatorWithoutThemTakesPreconditionersOfProducts) {
  using E = real<double>;
  Seed seed(5824);
  const auto matrix = random_positive_definite_matrix<E>(20, 4, seed.generator);
  const OperatorReference<double> stored(Operator<E>(matrix, Plan{}));
  const OperatorReference<double> shifted(ShiftedOperator<double>(stored, 0.5));
  EXPECT_EQ(shifted->stored_entries(), nullptr);
  EXPECT_EQ(make_preconditioner(shifted, ComposedChoice::parse("auto")), nullptr);
  EXPECT_NE(make_preconditioner(shifted, ComposedChoice::parse("chebyshev")), nullptr);
  for (const PreconditionerInfo& row : preconditioner_table()) {
    const auto make = [&] {
      static_cast<void>(make_preconditioner(shifted, ComposedChoice::parse(std::string(row.name))));
    };
    if (row.takes_products) {
      EXPECT_NO_THROW(make()) << row.name;
    } else {
      EXPECT_THROW(make(), Error) << row.name;
    }
  }
}

TEST(StoredEntries, OfAnAdjointMakeItsPreconditioners) {
  using E = complex<double>;
  Seed seed(5825);
  const auto matrix = random_dominant_matrix<E>({.rows = 30, .columns = 30}, seed.generator);
  const MatrixAdjoint<E> adjoint(matrix);
  const OperatorReference<double> expected(Operator<E>(adjoint.matrix(), Plan{}));
  for (const char* const plan : {"CSR", "C=4"}) {
    const Operator<E> A(matrix, parse_plan(plan));
    expect_same_preconditioners<double>(expected, A.adjoint());
  }
}

TEST(StoredEntries, OfRanksHaveOnlyTheDiagonal) {
  using E = real<double>;
  Seed seed(5826);
  const auto matrix = random_positive_definite_matrix<E>(24, 4, seed.generator);
  const std::string error = error_of_three_ranks(matrix, [](const auto& A) {
    EXPECT_EQ(A.stored_entries()->sliced_diagonal().rows(), A.rows());
    static_cast<void>(A.stored_entries()->sliced());
  });
  EXPECT_EQ(error, "no rank has all entries of a matrix that ranks share");
}

}  // namespace
}  // namespace heddle::test::stored_entries
