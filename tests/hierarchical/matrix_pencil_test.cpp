// A + sigma M of two trees, computed repeatedly.
#include "heddle/matrix_pencil.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/editable_matrix.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_pencil {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class MatrixPencils : public testing::Test {};
using Entries =
    testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(MatrixPencils, FewWhereSanitized<Entries>);

/// Also checks that products with both agree in every bit.
template <class E>
void expect_same(const HierarchicalMatrix<E>& computed, const HierarchicalMatrix<E>& expected,
                 Generator& generator) {
  using S = vector_scalar_t<E>;
  expect_same_bits(computed.to_csr(), expected.to_csr());
  const auto x =
      random_scalars<S>(Offset(computed.columns()) * computed.column_components(), generator);
  const std::vector<S> y(
      static_cast<std::size_t>(Offset(computed.rows()) * computed.row_components()));
  EXPECT_EQ(product<S>(computed, S(1), x, S(0), y), product<S>(expected, S(1), x, S(0), y));
}

TYPED_TEST(MatrixPencils, AreSumsBitByBit) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(75);
  const auto random = [&](int per_row) {
    return random_matrix<E>({.rows = 700, .columns = 500, .per_row = per_row}, seed.generator);
  };
  for (const int node : {8, 64}) {
    const HierarchicalMatrix<E> A(random(5), node), M(random(2), node);
    MatrixPencil<E> pencil(A, M);
    std::vector<std::pair<S, HierarchicalMatrix<E>>> kept;
    for (const S sigma : {S(0.5), S(-2), S(0), S(3)}) {
      const auto sum = pencil.at(sigma);
      expect_same(sum, add(S(1), A, sigma, M), seed.generator);
      if (sigma != S(-2)) kept.emplace_back(sigma, sum);
    }
    // Sums that the caller keeps are left unchanged.
    for (const auto& [sigma, sum] : kept) {
      expect_same(sum, add(S(1), A, sigma, M), seed.generator);
    }
    // New values in the same places, and then other places.
    EditBatch<E> values;
    const auto map = map_of(A.to_csr());
    for (const auto& [place, entry] : map) {
      if (place.first % 3 == 0)
        values.set(place.first, place.second, random_components<E>(seed.generator));
    }
    const auto changed = A.edited(values);
    pencil.set(changed, M);
    expect_same(pencil.at(S(2)), add(S(1), changed, S(2), M), seed.generator);
    EditBatch<E> pattern;
    pattern.remove(map.begin()->first.first, map.begin()->first.second);
    pattern.set(699, 499, random_components<E>(seed.generator));
    const auto other = changed.edited(pattern);
    pencil.set(other, M);
    expect_same(pencil.at(S(2)), add(S(1), other, S(2), M), seed.generator);
    expect_same(pencil.at(S(1)), add(S(1), other, S(1), M), seed.generator);
    // Another kind of leaves, and another node size.
    for (const NodeLayout& nodes : {NodeLayout(node, 1), NodeLayout(16)}) {
      const HierarchicalMatrix<E> of_nodes(other.to_csr(), nodes), mass(M.to_csr(), nodes.size);
      pencil.set(of_nodes, mass);
      expect_same(pencil.at(S(2)), add(S(1), of_nodes, S(2), mass), seed.generator);
    }
  }
}

TEST(MatrixPencil, UsesMemoryThatNobodyHolds) {
  using E = real<double>;
  Seed seed(76);
  const auto random = [&] {
    return HierarchicalMatrix<E>(
        random_matrix<E>({.rows = 3000, .columns = 3000, .per_row = 4}, seed.generator));
  };
  const auto A = random(), M = random();
  MatrixPencil<E> pencil(A, M);
  std::optional<HierarchicalMatrix<E>> sum;
  for (int k = 0; k < 6; ++k) sum = pencil.at(0.1 * k);
  const long long tree = sum->memory().tree();
  EXPECT_EQ(pencil.memory(), 2 * tree);
  // One schedule serves all sums.
  sum->apply(1, std::vector<double>(3000), 0, *std::make_unique<std::vector<double>>(3000),
             sum->device().stream());
  const auto next = pencil.at(7);
  EXPECT_GT(next.memory().schedule, 0);
  EXPECT_EQ(HierarchicalMatrix<E>::held_memory({*sum, next}), 2 * tree + next.memory().schedule);
}

TEST(MatrixPencil, ServesASolverThatLivesOn) {
  using E = real<double>;
  Seed seed(77);
  const auto matrix = random_positive_definite_matrix<E>(400, 4, seed.generator);
  EntryMapOf<E> ones;
  for (Index i = 0; i < 400; ++i) ones[{i, i}] = {{1}};
  const HierarchicalMatrix<E> A(matrix), M(matrix_of(400, 400, ones));
  MatrixPencil<E> pencil(A, M);
  EditableMatrix<E> K(pencil.at(0));
  ConjugateGradient solver(K, HierarchicalJacobi(K));
  const auto b = random_field<E>(400, seed.generator);
  for (const double sigma : {0.0, 1.0, 10.0, 0.5, 3.0}) {
    K.assign(pencil.at(sigma));
    Field<E> x(400), r(400);
    EXPECT_TRUE(solver.solve(b, x).converged());
    Reduction<double> reduction(400);
    const auto anew = add(1.0, A, sigma, M);
    EXPECT_LT(anew.residual(b.view(), x.view(), r.view(), reduction, A.device().stream()), 1e-15);
  }
}

TEST(MatrixPencil, RefusesWhatHasNoSum) {
  using E = real<double>;
  MatrixPencil<E> sizes(HierarchicalMatrix<E>(3, 4), HierarchicalMatrix<E>(4, 3));
  expect_error(ErrorKind::size_mismatch, "cannot add 3 x 4 and 4 x 3 entries",
               [&] { sizes.at(1); });
  MatrixPencil<E> empty(HierarchicalMatrix<E>(3, 4), HierarchicalMatrix<E>(3, 4));
  EXPECT_EQ(empty.at(1).entries(), 0);
  EXPECT_EQ(empty.at(2).entries(), 0);
  EXPECT_EQ(empty.memory(), 0);
}

}  // namespace
}  // namespace hierarchical_pencil
