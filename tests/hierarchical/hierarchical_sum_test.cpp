// Sums of hierarchical storage, compared with plain maps.
#include <gtest/gtest.h>

#include <complex>

#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_sum {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class Sums : public testing::Test {};
TYPED_TEST_SUITE(Sums, FewOf<TreeEntries>);

TYPED_TEST(Sums, AreThoseOfEntries) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(41);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> a = random_matrix_of<E>(pattern, seed.generator);
    const CsrMatrix<E> b =
        random_matrix<E>({.rows = pattern.rows, .columns = pattern.columns}, seed.generator);
    for (const NodeLayout& nodes : {NodeLayout(4, 30), NodeLayout(64)}) {
      const int d = nodes.size;  // node size of B, whose leaves are dense if that saves bytes
      const HierarchicalMatrix<E> A(a, nodes), B(b, d);
      const auto C = add(S(2), A, S(-0.5), B);
      expect_same_bits(C.to_csr(), sum_of_rows<E>(2, a, -0.5, b));
      expect_true_account(C, nodes.dense);
      if constexpr (has_adjoint<E>) {
        const CsrMatrix<E> other =
            random_matrix<E>({.rows = pattern.columns, .columns = pattern.rows}, seed.generator);
        const auto D = add_adjoint(S(1), A, S(3), HierarchicalMatrix<E>(other, d));
        expect_same_bits(D.to_csr(), sum_of_rows<E>(1, a, 3, plain_adjoint(other)));
        expect_true_account(D, nodes.dense);
      }
    }
    if constexpr (has_adjoint<E>) {
      if (a.rows() != a.columns()) continue;
      const HierarchicalMatrix<E> A(a, 16);
      expect_same_bits(add_adjoint(S(1), A, S(1), A).to_csr(),
                       sum_of_rows<E>(1, a, 1, plain_adjoint(a)));
    }
  }
}

TEST(TreeSums, KeepPlacesWhereTheSumIsZero) {
  EntryMapOf<real<double>> map{{{2, 3}, {{4}}}};
  const HierarchicalMatrix<real<double>> A(matrix_of(9, 9, map), 4);
  const auto C = add(1, A, -1, A);
  EXPECT_EQ(C.entries(), 1);
  EXPECT_EQ(C.find(2, 3)->component[0], 0);
}

TEST(TreeSums, RefuseWhatDoesNotFit) {
  Seed seed(42);
  using E = real<double>;
  const auto a = random_matrix<E>({.rows = 9, .columns = 7}, seed.generator);
  const HierarchicalMatrix<E> A(a, 16), other_nodes(a, 32);
  const HierarchicalMatrix<E> transposed_sizes(
      random_matrix<E>({.rows = 7, .columns = 9}, seed.generator), 16);
  expect_error(ErrorKind::usage,
               "cannot add trees with nodes of 16 and 32 rows: give both the same node size",
               [&] { static_cast<void>(add(1, A, 1, other_nodes)); });
  expect_error(ErrorKind::size_mismatch, "cannot add 9 x 7 and 7 x 9 entries",
               [&] { static_cast<void>(add(1, A, 1, transposed_sizes)); });
  expect_error(ErrorKind::size_mismatch,
               "cannot add 9 x 7 and 7 x 9 entries, the latter transposed",
               [&] { static_cast<void>(add_adjoint(1, A, 1, A)); });
}

/// Complex coefficients commute with complex entries, and multiply the numbers inside blocks.
template <class E>
void expect_complex_sums(Generator& generator) {
  using S = vector_scalar_t<E>;
  const auto times = [](E entry, std::complex<S> factor) {
    for (int k = 0; k < E::components; k += 2) {
      const S re = entry.component[k], im = entry.component[k + 1];
      entry.component[k] = re * factor.real() - im * factor.imag();
      entry.component[k + 1] = re * factor.imag() + im * factor.real();
    }
    return entry;
  };
  const std::complex<S> alpha(1, 2), beta(S(-0.5), S(0.25));
  const CsrMatrix<E> a = random_matrix<E>({.rows = 60, .columns = 60}, generator);
  const CsrMatrix<E> b = random_matrix<E>({.rows = 60, .columns = 60}, generator);
  const HierarchicalMatrix<E> A(a, 16), B(b, 16);
  const auto expected = [&](const CsrMatrix<E>& second) {
    EntryMapOf<E> sum;
    for (const auto& [place, entry] : map_of(a)) sum[place] = times(entry, alpha);
    for (const auto& [place, entry] : map_of(second)) {
      const auto at = sum.find(place);
      sum[place] = at == sum.end() ? times(entry, beta) : add(at->second, times(entry, beta));
    }
    return matrix_of(60, 60, sum);
  };
  expect_same_bits(add(alpha, A, beta, B).to_csr(), expected(b));
  expect_same_bits(add_adjoint(alpha, A, beta, B).to_csr(), expected(plain_adjoint(b)));
}

TEST(ComplexSums, AreThoseOfEntries) {
  Seed seed(42);
  expect_complex_sums<complex<double>>(seed.generator);
  expect_complex_sums<complex<float>>(seed.generator);
  expect_complex_sums<block<complex<double>, 3, 3>>(seed.generator);
}

}  // namespace
}  // namespace hierarchical_sum
