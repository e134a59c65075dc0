// Products by schedule=tree of one matrix after another, for tests on a CPU and on a GPU.
#pragma once

#include "heddle/dynamic_product.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"

namespace heddle::test {

/// A dynamic product takes edited matrices, and refuses another size.
inline void expect_products_of_edits(const Device& device) {
  using E = complex<double>;
  Seed seed(85);
  const CsrMatrix<E> matrix = random_positive_definite_matrix<E>(300, 5, seed.generator);
  HierarchicalMatrix<E> tree(matrix, 16, device);
  DynamicProduct<E> product(tree);
  auto map = map_of(matrix);
  for (int round = 0; round < 5; ++round) {
    tree = tree.edited(random_edits<EditBatch, E>(300, 300, 200, map, seed.generator));
    product.set_matrix(tree);
    expect_products<E, double>(product, matrix_of(300, 300, map), seed.generator);
  }
  expect_error(ErrorKind::size_mismatch,
               "a dynamic product takes another matrix of the same rows and columns",
               [&] { product.set_matrix(HierarchicalMatrix<E>(300, 299)); });
}

}  // namespace heddle::test
