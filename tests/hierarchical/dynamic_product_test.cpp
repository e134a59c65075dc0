// A x and A* x by a walk over the tree, compared with products in long double.
#include "heddle/dynamic_product.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/lsmr.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_walk {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class DynamicProducts : public testing::Test {};
using Entries = testing::Types<real<double>, complex<float>, quaternion<double>,
                               dual_quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(DynamicProducts, FewWhereSanitized<Entries>);

TYPED_TEST(DynamicProducts, AgreeWithTheReference) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(71);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const int node : {4, 32, 128}) {
      const HierarchicalMatrix<E> tree(matrix, node, Device::cpu(3));
      const DynamicProduct<E> product(tree);
      expect_products<E, S>(product, matrix, seed.generator);
      if constexpr (has_adjoint<E>) {
        expect_products<E, S>(*product.adjoint(), plain_adjoint(matrix), seed.generator);
        expect_products<E, S>(DynamicProduct<E>(tree, true), plain_adjoint(matrix), seed.generator);
      }
      EXPECT_EQ(tree.memory().schedule, 0);
    }
  }
}

TEST(DynamicProduct, IsRefusedBySolvers) {
  using E = real<double>;
  Seed seed(72);
  const HierarchicalMatrix<E> tree(random_positive_definite_matrix<E>(50, 4, seed.generator), 8);
  const auto b = random_field<E>(50, seed.generator);
  Field<E> x(50);
  const DynamicProduct<E> product(tree);
  const std::string message =
      "schedule=tree adds in a different order in each run, so solvers cannot use it: use the "
      "matrix itself, whose schedule is kept";
  expect_error(ErrorKind::usage, message, [&] { ConjugateGradient solver(product); });
  expect_error(ErrorKind::usage, message, [&] { Lsmr solver(product); });
  ConjugateGradient shared(std::make_shared<DynamicProduct<E>>(tree));
  expect_error(ErrorKind::usage, message, [&] { shared.solve(b, x); });
}

}  // namespace
}  // namespace hierarchical_walk
