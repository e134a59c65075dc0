// Conversion to Eigen and back.
#include "heddle/eigen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "entries/dense.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace {

using namespace heddle;
using heddle::test::random;

using Complex = std::complex<double>;

TEST(Eigen, QuaternionKeepsItsProductAndItsOrder) {
  std::mt19937_64 generator(1);
  const auto a = random<quaternion<double>>(generator), b = random<quaternion<double>>(generator);
  const Eigen::Quaterniond p = to_eigen(a);
  EXPECT_EQ(p.w(), a.w());
  EXPECT_EQ(p.coeffs()(3), a.w());
  const auto back = from_eigen(p);
  auto product = quaternion<double>::zero();
  multiply_add(product, a, b);
  const auto eigen_product = from_eigen(Eigen::Quaterniond(p * to_eigen(b)));
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(back.component[k], a.component[k]);
    // Sums of four products of numbers up to 1, in either order.
    EXPECT_LE(std::abs(eigen_product.component[k] - product.component[k]),
              2 * 4 * 4 * std::numeric_limits<double>::epsilon());
  }
}

TEST(Eigen, ComplexNumbersAndBlocks) {
  const complex<float> z{{1, -2}};
  EXPECT_EQ(to_eigen(z), std::complex<float>(1, -2));
  EXPECT_EQ(from_std(to_std(z)).im(), -2);

  std::mt19937_64 generator(2);
  const auto real_block = random<block<double, 2, 3>>(generator);
  const Eigen::Matrix<double, 2, 3> m = to_eigen(real_block);
  EXPECT_EQ(m(1, 0), real_block.get(1, 0));
  EXPECT_EQ(m(0, 2), real_block.get(0, 2));
  const Eigen::Matrix<double, 2, 3, Eigen::RowMajor> by_rows = m;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(from_eigen(m).get(i, j), real_block.get(i, j));
      EXPECT_EQ(from_eigen(by_rows).get(i, j), real_block.get(i, j));
    }
  }
  const auto complex_block = random<block<complex<double>, 3, 3>>(generator);
  const Eigen::Matrix3cd c = to_eigen(complex_block);
  EXPECT_EQ(c(2, 1), to_std(complex_block.get(2, 1)));
  const auto back = from_eigen(c);
  for (int k = 0; k < 18; ++k) EXPECT_EQ(back.component[k], complex_block.component[k]);
}

/// A column-major matrix with numbers inserted one by one, and free room between columns.
template <class T>
Eigen::SparseMatrix<T> scattered(int rows, int columns, int count, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Eigen::SparseMatrix<T> m(rows, columns);
  m.reserve(Eigen::VectorXi::Constant(columns, 4 + count / columns));
  for (int i = 0; i < count; ++i) {
    const auto row = static_cast<int>(generator() % rows);
    const auto column = static_cast<int>(generator() % columns);
    if constexpr (Eigen::NumTraits<T>::IsComplex) {
      m.coeffRef(row, column) = T(uniform(generator), uniform(generator));
    } else {
      m.coeffRef(row, column) = T(uniform(generator));
    }
  }
  return m;
}

template <class E, class T>
void expect_blocks(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto m = scattered<T>(12, 18, 70, seed);
  ASSERT_FALSE(m.isCompressed());
  const Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t> by_rows = m;
  for (const CsrMatrix<E>& folded : {from_eigen<E>(m), from_eigen<E>(by_rows)}) {
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> back(12, 18);
    if constexpr (Eigen::NumTraits<T>::IsComplex) {
      back = to_eigen_complex(folded);
    } else {
      back = to_eigen<std::int64_t>(folded);
    }
    EXPECT_EQ(back, m.toDense());
  }
}

TEST(Eigen, FoldsSparseMatricesIntoBlocks) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    expect_blocks<real<double>, double>(seed);
    expect_blocks<block<double, 3, 3>, double>(seed);
    expect_blocks<block<double, 4, 2>, double>(seed);
    expect_blocks<block<float, 6, 6>, float>(seed);
    expect_blocks<complex<double>, Complex>(seed);
    expect_blocks<block<complex<double>, 3, 3>, Complex>(seed);
  }
  EXPECT_THROW((from_eigen<block<double, 5, 5>>(scattered<double>(12, 18, 70, 1))), Error);
}

TEST(Eigen, ProductOfTheExpansionIsTheProductOfTheEntries) {
  using Q = quaternion<double>;
  std::mt19937_64 generator(3);
  const std::vector<Offset> offsets{0, 2, 3, 3};
  const std::vector<Index> column{2, 0, 1};
  Array<double> values(12);
  for (double& value : values) value = std::uniform_real_distribution<double>(-1, 1)(generator);
  const CsrMatrix<Q> matrix(3, 3, Array<Offset>(offsets), Array<Index>(column), std::move(values));
  Eigen::VectorXd x(12), y = Eigen::VectorXd::Zero(12);
  for (double& value : x) value = std::uniform_real_distribution<double>(-1, 1)(generator);
  for (Index row = 0; row < 3; ++row) {
    Q sum = Q::zero();
    for (Offset i = offsets[row]; i < offsets[row + 1]; ++i) {
      const double* const from = x.data() + 4 * column[i];
      multiply_add(sum, matrix.entry(i), Q{{from[0], from[1], from[2], from[3]}});
    }
    std::copy(sum.component, sum.component + 4, y.data() + 4 * row);
  }
  const auto expanded = to_eigen(matrix);
  EXPECT_TRUE(expanded.isCompressed());
  // Sums of at most eight products of numbers up to 1, in either order.
  EXPECT_LE((expanded * x - y).cwiseAbs().maxCoeff(),
            2 * 8 * 8 * std::numeric_limits<double>::epsilon());
  const Eigen::SparseMatrix<double> by_columns = expanded;
  const auto back = from_eigen<Q>(by_columns);
  ASSERT_EQ(back.entries(), 3);
  EXPECT_EQ(back.column()[0], 0);  // sorted on the way
  for (int k = 0; k < 4; ++k) EXPECT_EQ(back.entry(0).component[k], matrix.entry(1).component[k]);
}

/// New values go where `from_eigen` would have put them.
template <class E, class M>
void follows_values(M m, Tiling tiling = Tiling::automatic) {
  m.makeCompressed();
  auto [matrix, map] = assemble<E>(m, tiling);
  m *= typename M::Scalar(3);
  m.coeffRef(1, 1) = 0;
  map.apply(m, matrix.values().span());
  const auto again = from_eigen<E>(m, tiling);
  ASSERT_EQ(matrix.entries(), again.entries());
  for (std::size_t i = 0; i < again.values().size(); ++i) {
    EXPECT_EQ(matrix.values()[i], again.values()[i]) << i;
  }
  M other = m;
  other.coeffRef(2, 0) = 1;
  EXPECT_THROW(map.apply(other, matrix.values().span()), Error);
  other.makeCompressed();
  EXPECT_THROW(map.apply(other, matrix.values().span()), Error);
}

TEST(Eigen, NewValuesTakeTheirPlaces) {
  std::vector<Eigen::Triplet<double>> triplets;
  std::vector<Eigen::Triplet<Complex>> complex_triplets;
  const std::vector<std::pair<int, int>> places = {{0, 0}, {0, 1}, {1, 1}, {2, 2},
                                                   {3, 3}, {3, 0}, {2, 1}};
  for (const auto& [row, column] : places) {
    triplets.emplace_back(row, column, 1 + row + 10 * column);
    complex_triplets.emplace_back(row, column, Complex(1 + row, column - 2));
  }
  Eigen::SparseMatrix<double> by_columns(4, 4);
  by_columns.setFromTriplets(triplets.begin(), triplets.end());
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = by_columns;
  Eigen::SparseMatrix<Complex> numbers(4, 4);
  numbers.setFromTriplets(complex_triplets.begin(), complex_triplets.end());
  follows_values<real<double>>(by_columns);
  follows_values<real<double>>(by_rows);
  follows_values<block<double, 2, 2>>(by_columns);
  follows_values<block<float, 2, 2>>(by_rows);
  follows_values<complex<double>>(numbers);
  follows_values<block<complex<double>, 2, 2>>(numbers);
  follows_values<quaternion<double>>(Eigen::SparseMatrix<double>(by_columns.leftCols(2)),
                                     Tiling::components);
  EXPECT_THROW(assemble<quaternion<double>>(by_columns, Tiling::expansion), Error);
}

}  // namespace
