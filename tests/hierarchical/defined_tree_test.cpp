// Trees with entries from a definition, compared with the same entry as a C++ type.
#include "heddle/runtime/defined_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "entries/printed/symmetric_block.hpp"
#include "hierarchical/trees.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"

namespace defined_tree {
namespace {

using namespace heddle;
using namespace heddle::test;

const auto symmetric = definition_of(R"json({
  "name": "symmetric-block", "members": ["xx", "yy", "xy"], "vector_members": ["x", "y"],
  "multiply": {"x": "a.xx * x.x + a.xy * x.y", "y": "a.xy * x.x + a.yy * x.y"},
  "adjoint": {"xx": "a.xx", "yy": "a.yy", "xy": "a.xy"}})json");

template <class E>
void expect_same_rows(const DefinedTree<stored_scalar_t<E>>& tree, const CsrMatrix<E>& expected) {
  const auto rows = tree.to_rows();
  expect_same_bits(
      CsrMatrix<E>(rows.rows(), rows.columns(), rows.offsets(), rows.column(), rows.values()),
      expected);
}

template <class E>
void check(const Definition& definition, std::uint64_t number) {
  using S = stored_scalar_t<E>;
  Seed seed(number);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const int d : {4, 32, 256}) {
      SCOPED_TRACE(d);
      const DefinedTree<S> tree(as_defined(matrix, definition), d, Device::cpu(3));
      const HierarchicalMatrix<E> typed(matrix, d);
      EXPECT_EQ(tree.memory().tree(), typed.memory().tree());
      expect_products(tree, matrix, seed.generator);
      expect_products(*tree.adjoint(), plain_adjoint(matrix), seed.generator);
      expect_products(*tree.adjoint()->adjoint(), matrix, seed.generator);
      expect_same_rows<E>(tree, typed.to_csr());
      expect_same_rows<E>(tree.plus(S(0.7), S(-1.3), tree),
                          add(S(0.7), typed, S(-1.3), typed).to_csr());
      if (pattern.rows == pattern.columns) {
        expect_same_rows<E>(tree.plus(S(1), S(3), tree, true),
                            add_adjoint(S(1), typed, S(3), typed).to_csr());
        expect_same_rows<E>(tree.plus(S(1), S(3), tree, true, SumSchedule::tree),
                            add_adjoint(S(1), typed, S(3), typed).to_csr());
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(DefinedTrees, AreThoseOfTheType) {
  check<quaternion<double>>(quaternion_definition(), 51);
  check<quaternion<float>>(quaternion_definition(), 52);
  check<heddle_user::symmetric_block_entry<double>>(symmetric, 53);
}

/// Any number of threads gives the same bits; residuals of floats are summed in double.
TEST(DefinedTrees, HaveTheBitsOfOneThread) {
  using E = quaternion<float>;
  Seed seed(54);
  const auto matrix =
      random_matrix<E>({.rows = 3000, .columns = 3000, .per_row = 9}, seed.generator);
  const auto x = random_field<E>(3000, seed.generator), b = random_field<E>(3000, seed.generator);
  std::vector<std::vector<float>> all;
  std::vector<double> sums;
  for (const int threads : {1, 7}) {
    const DefinedTree<float> A(as_defined(matrix, quaternion_definition()), 16,
                               Device::cpu(threads));
    Field<E> y(3000), r(3000);
    Reduction<float> reduction(3000, Device::cpu(threads));
    sums.push_back(A.apply_dot(x.view(), y.view(), reduction, A.device().stream()));
    sums.push_back(A.residual(b.view(), x.view(), r.view(), reduction, A.device().stream()));
    for (const auto* const field : {&y, &r}) {
      all.emplace_back(field->scalars().begin(), field->scalars().end());
    }
  }
  EXPECT_EQ(all[0], all[2]);
  EXPECT_EQ(all[1], all[3]);
  EXPECT_EQ(sums[0], sums[2]);
  EXPECT_EQ(sums[1], sums[3]);
  const HierarchicalMatrix<E> typed(matrix, 16);
  Field<E> r(3000);
  Reduction<float> reduction(3000, Device::cpu());
  const double expected =
      typed.residual(b.view(), x.view(), r.view(), reduction, Device::cpu().stream());
  EXPECT_NEAR(sums[1], expected, 1e-13 * expected);
}

TEST(DefinedTrees, RefuseInOneLine) {
  Seed seed(55);
  const auto matrix =
      random_matrix<quaternion<double>>({.rows = 20, .columns = 30, .per_row = 3}, seed.generator);
  const auto dual = as_defined(matrix, dual_complex_definition());
  const DefinedTree<double> A(dual), B(as_defined(matrix, quaternion_definition()));
  EXPECT_FALSE(A.has_adjoint());
  const auto refuses = [](ErrorKind kind, const std::string& message, const auto& body) {
    expect_error(kind, message, body);
  };
  refuses(ErrorKind::unsupported, "no adjoint: entry dual-complex does not define one",
          [&] { A.adjoint(); });
  refuses(ErrorKind::unsupported, "no adjoint: entry dual-complex does not define one",
          [&] { A.plus(1, 1, A, true); });
  refuses(ErrorKind::usage, "entries of different definitions cannot be added",
          [&] { A.plus(1, 1, B); });
  refuses(ErrorKind::size_mismatch, "cannot add 20 x 30 and 30 x 20 entries, the latter transposed",
          [&] { B.plus(1, 1, B, true); });
  EXPECT_THROW(DefinedTree<double>(dual, 100), Error);
}

}  // namespace
}  // namespace defined_tree
