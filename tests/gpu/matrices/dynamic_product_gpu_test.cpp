// Products by a walk over the tree that the GPU itself schedules.
#include <gtest/gtest.h>

#include "heddle/dynamic_product.hpp"
#include "hierarchical/trees.hpp"
#include "support/gpu.hpp"

namespace dynamic_products_on_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class DynamicProductsOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, real<float>, complex<double>, quaternion<float>,
                               dual_quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(DynamicProductsOnGpu, Entries);

TYPED_TEST(DynamicProductsOnGpu, AgreeWithTheReference) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(81);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const int node : {4, 32, 128}) {
      const HierarchicalMatrix<E> tree(matrix, node, this->device);
      const DynamicProduct<E> product(tree);
      // The first round leaves the queues empty.
      for (int round = 0; round < 2; ++round) {
        expect_products<E, S>(product, matrix, seed.generator);
      }
      if constexpr (has_adjoint<E>) {
        expect_products<E, S>(*product.adjoint(), plain_adjoint(matrix), seed.generator);
      }
    }
  }
}

}  // namespace
}  // namespace dynamic_products_on_gpu
