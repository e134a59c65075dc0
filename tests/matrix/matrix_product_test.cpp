// Runs in the release.
// Products and adjoints of assembled matrices, compared with dense ones in long double.
#include "heddle/matrix_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "entries/dense.hpp"
#include "entries/dual_complex.hpp"
#include "heddle/entries.hpp"
#include "matrix/stored_rows.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::matrix_product {
namespace {

template <class E>
Dense dense_of(const CsrMatrix<E>& matrix) {
  constexpr int height = tile_rows<E>, width = tile_columns<E>;
  Dense dense(matrix.rows() * height, matrix.columns() * width);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const Dense tile = rep(matrix.entry(i));
      const Index column = matrix.column()[static_cast<std::size_t>(i)];
      for (int r = 0; r < height; ++r) {
        for (int c = 0; c < width; ++c) {
          dense(row * height + r, column * width + c) = tile(r, c);
        }
      }
    }
  }
  return dense;
}

template <class E>
bool same_bits(const CsrMatrix<E>& a, const CsrMatrix<E>& b) {
  return std::ranges::equal(a.offsets().span(), b.offsets().span()) &&
         std::ranges::equal(a.column().span(), b.column().span()) &&
         std::ranges::equal(a.values().span(), b.values().span());
}

/// Columns increase in every row, and there is an entry exactly where terms occur.
template <class A, class B, class C>
void expect_pattern(const CsrMatrix<A>& a, const CsrMatrix<B>& b, const CsrMatrix<C>& c) {
  for (Index row = 0; row < a.rows(); ++row) {
    std::vector<Index> expected;
    for (Offset i = a.offsets()[row]; i < a.offsets()[row + 1]; ++i) {
      const Index middle = a.column()[i];
      expected.insert(expected.end(), b.column().begin() + b.offsets()[middle],
                      b.column().begin() + b.offsets()[middle + 1]);
    }
    std::ranges::sort(expected);
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    ASSERT_EQ(std::vector<Index>(c.column().begin() + c.offsets()[row],
                                 c.column().begin() + c.offsets()[row + 1]),
              expected)
        << "row " << row;
  }
}

/// The rounding of sums of `terms` terms with these sums of absolute values.
Dense rounding_of(Dense magnitude, int terms, long double epsilon) {
  for (long double& value : magnitude.at) value *= terms * epsilon;
  return magnitude;
}

template <class A, class B>
void expect_product(const PatternRequest& of_a, const PatternRequest& of_b, Generator& generator) {
  SCOPED_TRACE(std::string(of_a.name) + " times " + of_b.name);
  const auto a = random_matrix<A>(of_a, generator);
  const auto b = random_matrix<B>(of_b, generator);
  const auto c = multiply(a, b, Device::cpu(1));
  expect_pattern(a, b, c);
  const Dense left = dense_of(a), right = dense_of(b);
  const Dense bound = rounding_of(absolute(left) * absolute(right), left.columns + 8,
                                  std::numeric_limits<vector_scalar_t<A>>::epsilon());
  EXPECT_LE(excess(dense_of(c), left * right, bound), 1);
  for (const int threads : {2, 5}) EXPECT_TRUE(same_bits(multiply(a, b, Device::cpu(threads)), c));
}

template <class A, class B = A>
void expect_products(std::uint64_t number) {
  Seed seed(number);
  for (PatternRequest request : odd_patterns()) {
    request.rows = request.columns = std::min(request.rows, 24);  // for a dense reference
    expect_product<A, B>(request, {.rows = request.rows, .columns = 8, .sorted = false},
                         seed.generator);
    expect_product<A, B>({.rows = 9, .columns = request.rows, .empty_rows = true}, request,
                         seed.generator);
  }
}

TEST(MatrixProduct, IsThatOfDenseMatrices) {
  expect_products<real<double>>(1);
  expect_products<complex<double>>(2);
  expect_products<quaternion<double>>(3);
  expect_products<dual_quaternion<double>>(4);
  expect_products<block<double, 3, 3>>(5);
  expect_products<block<complex<double>, 3, 3>>(6);
  expect_products<real<float>>(7);
  expect_products<quaternion<float>>(8);
  expect_products<real<double, 4>>(9);
  expect_products<dual_complex<double>>(10);
}

TEST(MatrixProduct, MakesBlocksOfBlocksThatFit) {
  expect_products<block<double, 2, 3>, block<double, 3, 6>>(11);
  expect_products<block<double, 6, 3>, block<double, 3, 1>>(12);
  expect_products<block<complex<double>, 2, 3>, block<complex<double>, 3, 2>>(13);
  static_assert(std::is_same_v<product_entry_t<block<double, 2, 3>, block<double, 3, 6>>,
                               block<double, 2, 6>>);
  static_assert(std::is_same_v<adjoint_entry_t<block<float, 2, 3>>, block<float, 3, 2>>);
}

template <class E>
void expect_adjoint(std::uint64_t number) {
  Seed seed(number);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    SCOPED_TRACE(request.name);
    const auto a = random_matrix<E>(request, seed.generator);
    const auto adjoint_a = adjoint(a, Device::cpu(3));
    EXPECT_EQ(dense_of(adjoint_a).at, transpose(dense_of(a)).at);
    for (Index row = 0; row < adjoint_a.rows(); ++row) {
      EXPECT_TRUE(std::is_sorted(adjoint_a.column().begin() + adjoint_a.offsets()[row],
                                 adjoint_a.column().begin() + adjoint_a.offsets()[row + 1]));
    }
  }
}

TEST(MatrixAdjoint, IsTheTransposeOfTheRealExpansion) {
  expect_adjoint<real<double>>(21);
  expect_adjoint<complex<double>>(22);
  expect_adjoint<quaternion<float>>(23);
  expect_adjoint<block<double, 2, 3>>(24);
  expect_adjoint<block<complex<double>, 3, 3>>(25);
}

/// P* A P repeatedly, with new values each time.
template <class A, class P>
void expect_triple_product(std::uint64_t number) {
  Seed seed(number);
  const Pattern of_a = random_pattern({.rows = 40, .columns = 40, .sorted = false}, seed.generator);
  const Pattern of_p = random_pattern({.rows = 40, .columns = 9, .per_row = 1}, seed.generator);
  auto a = random_matrix_of<A>(of_a, seed.generator);
  auto p = random_matrix_of<P>(of_p, seed.generator);
  const Device host = Device::cpu(1);
  MatrixAdjoint<P> restrict(p, host);
  MatrixProduct image(a, p, host);
  MatrixProduct coarse(restrict.matrix(), image.matrix(), host);
  for (int turn = 0; turn < 3; ++turn) {
    const auto fresh = multiply(adjoint(p), multiply(a, p));
    EXPECT_TRUE(same_bits(coarse.matrix(), fresh)) << turn;
    const Dense fine = dense_of(a), to = dense_of(p), from = transpose(to);
    const Dense bound = rounding_of(absolute(from) * (absolute(fine) * absolute(to)),
                                    2 * fine.columns + 8, std::numeric_limits<double>::epsilon());
    EXPECT_LE(excess(dense_of(coarse.matrix()), from * (fine * to), bound), 1);
    for (auto& value : a.values()) value *= 1.5;
    for (auto& value : p.values()) value = -value;
    restrict.update_values(p);
    image.update_values(a, p);
    coarse.update_values(restrict.matrix(), image.matrix());
  }
}

TEST(MatrixProduct, TakesNewValuesOnItsPattern) {
  expect_triple_product<real<double>, real<double>>(31);
  expect_triple_product<quaternion<double>, quaternion<double>>(32);
  expect_triple_product<block<double, 3, 3>, block<double, 3, 6>>(33);
}

TEST(MatrixProduct, RefusesWhatDoesNotFit) {
  Seed seed(41);
  using E = real<double>;
  const auto a = random_matrix<E>({.rows = 12, .columns = 12}, seed.generator);
  const auto b = random_matrix<E>({.rows = 2, .columns = 3}, seed.generator);
  expect_error(ErrorKind::size_mismatch,
               "a product of 12 x 12 and 2 x 3 entries: the inner sizes differ",
               [&] { multiply(a, b); });
  MatrixProduct product(a, a);
  EXPECT_THROW(product.update_values(a, b), Error);
  EXPECT_THROW(product.update_values(b, a), Error);
  MatrixAdjoint adjoint_a(a);
  EXPECT_THROW(adjoint_a.update_values(b), Error);
}

/// Pattern and values in one walk, on the pattern `c`, with small integers: all sums are exact.
void expect_numbers(const detail::UserRows& a, const detail::UserRows& b, Index columns,
                    const detail::UserRows& c, const Stream& host) {
  const auto numbers_of = [](const detail::UserRows& rows) {
    std::vector<double> numbers;
    for (Offset e = 0; e < rows.entries(); ++e) {
      numbers.push_back(static_cast<double>(e * 7 % 23 - 11));
    }
    return numbers;
  };
  const std::vector<double> left = numbers_of(a), right = numbers_of(b);
  for (const bool is_sorted : {true, false}) {
    detail::UserRows product;
    detail::ProductNumbers numbers{
        .left = left.data(), .right = right.data(), .is_sorted = is_sorted};
    multiply_numbers(a.view(b.rows()), b.view(columns), host, product.offsets, product.column,
                     numbers);
    ASSERT_TRUE(std::ranges::equal(product.offsets, c.offsets));
    for (Index row = 0; row < a.rows(); ++row) {
      std::map<Index, double> expected;
      for (Offset i = a.begin(row); i < a.begin(row + 1); ++i) {
        const Index middle = a.column[static_cast<std::size_t>(i)];
        for (Offset j = b.begin(middle); j < b.begin(middle + 1); ++j) {
          const auto at = static_cast<std::size_t>(j);
          expected[b.column[at]] += left[static_cast<std::size_t>(i)] * right[at];
        }
      }
      for (Offset e = c.begin(row); e < c.begin(row + 1); ++e) {
        const auto at = static_cast<std::size_t>(e);
        ASSERT_EQ(numbers.result[at], expected.at(product.column[at])) << "row " << row;
        expected.erase(product.column[at]);
      }
      ASSERT_TRUE(expected.empty());
    }
    EXPECT_TRUE(!is_sorted || std::ranges::equal(product.column, c.column));
  }
}

TEST(ProductPatterns, DoNotDependOnTheThreads) {
  Seed seed(5);
  const auto random_rows = [&](Index rows, Index columns, Index most) {
    std::vector<Offset> offsets{0};
    std::vector<Index> column;
    for (Index row = 0; row < rows; ++row) {
      std::set<Index> chosen;
      for (Index k = std::uniform_int_distribution<Index>(0, most)(seed.generator); k > 0; --k) {
        chosen.insert(std::uniform_int_distribution<Index>(0, columns - 1)(seed.generator));
      }
      column.insert(column.end(), chosen.begin(), chosen.end());
      offsets.push_back(static_cast<Offset>(column.size()));
    }
    return detail::UserRows{std::span<const Offset>(offsets), std::span<const Index>(column)};
  };
  // Rows of the product have few columns, or more than are sorted by counting, near one another or
  // far apart, or more than a byte can number.
  for (const auto& [columns, most] : {std::pair{700, 3}, {700, 12}, {60000, 14}, {290, 40}}) {
    SCOPED_TRACE(std::to_string(columns) + " columns");
    const detail::UserRows a = random_rows(1500, 800, most), b = random_rows(800, columns, most);
    detail::UserRows c, transpose;
    detail::TermPlaces terms;
    Array<Offset> place;
    for (const int threads : {7, 1}) {
      const Stream host = Device::cpu(threads).stream();
      const detail::UserRows before = c, transpose_before = transpose;
      const detail::TermPlaces terms_before = terms;
      const Index longest =
          product_pattern(a.view(800), b.view(columns), host, c.offsets, c.column, &terms);
      transpose = transposed(b, columns, host, place);
      Index expected_longest = 0;
      for (Index row = 0; row < a.rows(); ++row) {
        std::set<Index> expected;
        Offset at = terms.first[static_cast<std::size_t>(row)];
        for (const Index middle : a.row(row)) {
          for (const Index column : b.row(middle)) {
            expected.insert(column);
            const Offset k = terms.place[static_cast<std::size_t>(at++)];
            if (c.row(row).size() > 256) continue;
            ASSERT_EQ(c.row(row)[static_cast<std::size_t>(k)], column);
          }
        }
        ASSERT_TRUE(std::ranges::equal(c.row(row), expected)) << "row " << row;
        expected_longest = std::max(expected_longest, static_cast<Index>(expected.size()));
      }
      EXPECT_EQ(longest, expected_longest);
      expect_numbers(a, b, columns, c, host);
      for (Index row = 0; row < b.rows(); ++row) {
        for (Offset e = b.begin(row); e < b.begin(row + 1); ++e) {
          const Offset to = place[static_cast<std::size_t>(e)];
          const Index column = b.column[static_cast<std::size_t>(e)];
          ASSERT_EQ(transpose.column[static_cast<std::size_t>(to)], row);
          ASSERT_TRUE(to >= transpose.begin(column) && to < transpose.begin(column + 1));
        }
      }
      if (before.offsets.empty()) continue;
      EXPECT_TRUE(std::ranges::equal(c.column, before.column));
      EXPECT_TRUE(std::ranges::equal(terms.first, terms_before.first));
      EXPECT_TRUE(std::ranges::equal(transpose.column, transpose_before.column));
    }
  }
}

}  // namespace
}  // namespace heddle::test::matrix_product
