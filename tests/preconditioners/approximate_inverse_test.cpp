// Runs in both builds.
// Approximate inverses against dense ones, row by row, and their effect on a solve.
#include "heddle/approximate_inverse.hpp"

#include <gtest/gtest.h>

#include <set>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::approximate_inverse {
namespace {

using Dense = DenseMap;
constexpr const char* plans[] = {"CSR", "pJDS", "order=rcm,C=4,sigma=16,vector=soa",
                                 "C=4,sigma=16,use=scatter"};

using test::dense_of;
template <class E>
Dense dense_of(const Operator<E>& A, const detail::SlicedOperator<vector_scalar_t<E>>& other) {
  return dense_map(
      A, [&](const auto& x, const auto& y) { other.apply(1, x, 0, y, A.device().stream()); });
}

/// Columns of each row of A^power, with the diagonal.
template <class E>
std::vector<std::set<Index>> power_pattern(const CsrMatrix<E>& matrix, int power) {
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(matrix.rows()));
  for (Index i = 0; i < matrix.rows(); ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row = {i};
    for (int step = 0; step < power; ++step) {
      for (const Index from : std::set<Index>(row)) {
        for (Offset at = matrix.offsets()[static_cast<std::size_t>(from)];
             at < matrix.offsets()[static_cast<std::size_t>(from) + 1]; ++at) {
          row.insert(matrix.column()[static_cast<std::size_t>(at)]);
        }
      }
    }
  }
  return rows;
}

/// Scalar indices of the rows in `chosen`, K for each row.
std::vector<Eigen::Index> scalars_of(const std::vector<Index>& chosen, int K) {
  std::vector<Eigen::Index> scalars;
  for (const Index row : chosen) {
    for (int k = 0; k < K; ++k) scalars.push_back(Eigen::Index(row) * K + k);
  }
  return scalars;
}

/// The expected G or M, from systems of the real expansion.
template <class E>
Dense expected_inverse(const CsrMatrix<E>& matrix, int power, bool is_factor) {
  constexpr int K = vector_entry_t<E>::components;
  const Dense A = expansion<long double>(matrix);
  Dense inverse = Dense::Zero(A.rows(), A.cols());
  const auto pattern = power_pattern(matrix, power);
  for (Index i = 0; i < matrix.rows(); ++i) {
    std::vector<Index> columns;
    for (const Index j : pattern[static_cast<std::size_t>(i)]) {
      if (!is_factor || j <= i) columns.push_back(j);
    }
    const auto J = scalars_of(columns, K);
    const auto own = scalars_of({i}, K);
    const auto place = std::find(columns.begin(), columns.end(), i) - columns.begin();
    const Dense local = A(J, J);
    if (is_factor) {
      inverse(own, J) = CholeskyFactors(local).inverse_of_lower().bottomRows(K);
    } else {
      inverse(own, J) = inverse_by_full_pivots(local).middleRows(place * K, K);
    }
  }
  return inverse;
}

template <class E>
double digits() {
  return std::is_same_v<stored_scalar_t<E>, float> ? 1e-5 : 1e-12;
}

template <class E>
void expect_near(const Dense& actual, const Dense& expected, const char* what) {
  const long double defect = (actual - expected).norm() / expected.norm();
  EXPECT_TRUE(defect <= digits<E>()) << what << ": " << defect;
}

template <class E>
class ApproximateInverseOf : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, real<double, 3>, complex<double>, quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 2, 2>, quaternion<float>>;
TYPED_TEST_SUITE(ApproximateInverseOf, FewOf<Entries>);

TYPED_TEST(ApproximateInverseOf, HermitianMatrixIsThatOfDenseSystems) {
  using E = TypeParam;
  for (const int power : {1, 2}) {
    Seed seed(static_cast<std::uint64_t>(power));
    const auto matrix = random_positive_definite_matrix<E>(23, 3, seed.generator, 0.8);
    const Dense G = expected_inverse(matrix, power, true);
    const Dense M = expected_inverse(matrix, power, false);
    for (const char* plan : plans) {
      SCOPED_TRACE(std::string(plan) + ", power " + std::to_string(power));
      const Operator<E> A(matrix, parse_plan(plan));
      const Fsai fsai(A, power);
      const Dense factor = dense_of(A, fsai.factor());
      expect_near<E>(factor, G, "G");
      expect_near<E>(dense_of(A, fsai.adjoint_factor()), G.transpose(), "G*");
      expect_near<E>(dense_of(A, fsai), G.transpose() * G, "G* G");
      constexpr int K = vector_entry_t<E>::components;
      const Dense scaled = factor * Dense(expansion<long double>(matrix)) * factor.transpose();
      for (Index i = 0; i < matrix.rows(); ++i) {
        const Dense diagonal = scaled.block(i * K, i * K, K, K);
        EXPECT_TRUE((diagonal - Dense::Identity(K, K)).norm() <= digits<E>() * 10) << diagonal;
      }
      const Isai isai(A, power);
      expect_near<E>(dense_of(A, isai), M, "M");
    }
  }
}

template <class E>
class GeneralInverseOf : public ::testing::Test {};
using GeneralEntries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 2, 2>>;
TYPED_TEST_SUITE(GeneralInverseOf, FewOf<GeneralEntries>);

/// Entries off the diagonal are larger than those on it: only pivoting makes such systems stable.
TYPED_TEST(GeneralInverseOf, AnyMatrixIsThatOfDenseSystems) {
  using E = TypeParam;
  for (const int power : {1, 2, 3}) {
    Seed seed(static_cast<std::uint64_t>(10 + power));
    auto tiles = dominant_tiles(Tiles<E>::size, random_tile<E>, 17, 3, 0.5, seed.generator);
    for (Index i = 0; i < 17; ++i) {
      tiles.at(i, i) = random_tile<E>(seed.generator, 0.01);
      tiles.at(i, (i + 5) % 17) += random_tile<E>(seed.generator, 3);
    }
    const auto matrix = assemble<E>(tiles);
    const Dense M = expected_inverse(matrix, power, false);
    for (const char* plan : plans) {
      SCOPED_TRACE(std::string(plan) + ", power " + std::to_string(power));
      const Operator<E> A(matrix, parse_plan(plan));
      const Isai isai(A, power);
      const long double defect = (dense_of(A, isai) - M).norm() / M.norm();
      EXPECT_TRUE(defect <= 1e-9) << defect;  // condition numbers of up to 1e5
    }
  }
}

/// A zero element of the inverse comes out as rounding without the entry's structure.
TEST(Isai, EntriesThatCancelAreEntries) {
  using E = dual_quaternion<double>;
  for (std::uint64_t number = 0; number < 6; ++number) {
    Seed seed(20 + number);
    Tiles<E> tiles(3);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) tiles.at(i, j) = random_tile<E>(seed.generator, 2);
    }
    const Eigen::MatrixXd product =
        tiles.at(0, 1) * LuFactors(tiles.at(1, 1)).inverse() * tiles.at(1, 2);
    tiles.at(0, 2) = tile_of(entry_of<E>(product));
    const auto matrix = tiles.assemble();
    const Operator<E> A(matrix, Plan{});
    const Dense M = dense_of(A, Isai(A));
    const Dense defect = M * Dense(expansion<long double>(matrix)) - Dense::Identity(24, 24);
    EXPECT_TRUE(defect.norm() <= 1e-9 * M.norm()) << defect.norm();
  }
}

/// Rows and columns scaled by factors from 1 to 1e-18.
TYPED_TEST(GeneralInverseOf, TakesRowsAndColumnsOfAnyScale) {
  using E = TypeParam;
  constexpr int K = vector_entry_t<E>::components;
  constexpr Index n = 15;
  for (const bool scales_rows : {true, false}) {
    Seed seed(30);
    auto tiles = dominant_tiles(Tiles<E>::size, random_tile<E>, n, 3, 0.5, seed.generator);
    const Dense M = expected_inverse(assemble<E>(tiles), 1, false);
    const auto scale_of = [](Index i) { return i % 3 == 0 ? 1e-18 : 1.0; };
    for (Index i = 0; i < n; ++i) {
      for (auto& [j, tile] : tiles.rows[static_cast<std::size_t>(i)]) {
        tile *= scale_of(scales_rows ? i : j);
      }
    }
    const Operator<E> A(assemble<E>(tiles), Plan{});
    Dense found = dense_of(A, Isai(A));
    for (Index i = 0; i < n; ++i) {
      if (scales_rows) {
        found.middleCols(i * K, K) *= scale_of(i);
      } else {
        found.middleRows(i * K, K) *= scale_of(i);
      }
    }
    EXPECT_TRUE((found - M).norm() <= 1e-9 * M.norm()) << (found - M).norm();
  }
}

TYPED_TEST(GeneralInverseOf, FullPatternIsTheInverse) {
  using E = TypeParam;
  Seed seed(4);
  constexpr Index n = 7;
  PatternRequest request{.rows = n, .columns = n, .per_row = 0};
  auto pattern = random_pattern(request, seed.generator);
  pattern.offsets = {0};
  pattern.column.clear();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) pattern.column.push_back((i + 3 * j) % n);
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  const auto matrix = random_matrix_of<E>(pattern, seed.generator);
  const Operator<E> A(matrix, parse_plan("pJDS"));
  const Dense product = dense_of(A, Isai(A)) * Dense(expansion<long double>(matrix));
  EXPECT_TRUE((product - Dense::Identity(product.rows(), product.rows())).norm() <= 1e-9);
}

TEST(Fsai, ChainAtItsFullPowerIsTheInverse) {
  using E = quaternion<double>;
  Seed seed(5);
  const auto matrix = random_positive_definite_matrix<E>(9, 8, seed.generator, 0.7);
  const Operator<E> A(matrix, parse_plan("pJDS"));
  const auto pattern = power_pattern(matrix, 4);
  ASSERT_TRUE(
      std::all_of(pattern.begin(), pattern.end(), [](const auto& r) { return r.size() == 9; }));
  const Dense product = dense_of(A, Fsai(A, 4)) * Dense(expansion<long double>(matrix));
  EXPECT_TRUE((product - Dense::Identity(36, 36)).norm() <= 1e-11);
}

TEST(Fsai, ThreadsDoNotChangeABit) {
  using E = block<double, 3, 3>;
  const auto matrix = elasticity(300);
  const auto bits = [&](int threads) {
    const Operator<E> A(matrix, parse_plan("pJDS"), Device::cpu(threads));
    const Fsai fsai(A, 2);
    const auto values = fsai.factor().stored_values();
    return std::vector<std::byte>(values.begin(), values.end());
  };
  EXPECT_EQ(bits(1), bits(3));
}

template <class E, class Preconditioner>
long long iterations(const Operator<E>& A, Preconditioner preconditioner) {
  Seed seed(6);
  const auto b = random_vector<E>(A.rows(), seed.generator);
  Field<E> x(A.rows());
  ConjugateGradient cg(A, std::move(preconditioner), {.tolerance = 1e-9});
  const Report report = cg.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return report.iterations;
}

template <class E>
void expect_fewer_iterations(const CsrMatrix<E>& matrix) {
  const Operator<E> A(matrix, parse_plan("pJDS"));
  const long long jacobi = iterations(A, Jacobi(A)), one = iterations(A, Fsai(A)),
                  two = iterations(A, Fsai(A, 2));
  EXPECT_LT(static_cast<double>(one), 0.8 * static_cast<double>(jacobi));
  EXPECT_LT(two, one);
}

TEST(Fsai, TakesFewerIterationsThanJacobi) {
  HEDDLE_RELEASE_ONLY();
  expect_fewer_iterations(poisson(3000));
  expect_fewer_iterations(elasticity(900));
  expect_fewer_iterations(dirac(random_surface(1000)));
}

TEST(Fsai, NewValuesMakeANewInverse) {
  using E = complex<double>;
  Seed seed(7);
  auto matrix = random_positive_definite_matrix<E>(60, 4, seed.generator, 0.8);
  Operator<E> A(matrix, parse_plan("pJDS"));
  Fsai fsai(A);
  Isai isai(A, 2);
  const Dense before = dense_of(A, fsai), general = dense_of(A, isai);
  const auto* const place = fsai.factor().stored_values().data();
  for (double& value : matrix.values()) value *= 4;
  A.update_values(matrix);
  EXPECT_EQ(dense_of(A, fsai), before);
  fsai.refresh();
  isai.refresh();
  EXPECT_EQ(Dense(4 * dense_of(A, fsai)), before);
  EXPECT_EQ(Dense(4 * dense_of(A, isai)), general);
  EXPECT_EQ(fsai.factor().stored_values().data(), place);

  // A solve refreshes by itself, and a matrix that became indefinite stops the solve.
  ConjugateGradient cg(A, Fsai(A));
  for (double& value : matrix.values()) value /= 2;
  A.update_values(matrix);
  const auto b = random_vector<E>(60, seed.generator);
  Field<E> x(60);
  const Report report = cg.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  for (double& value : matrix.values()) value *= -1;
  A.update_values(matrix);
  expect_error(ErrorKind::singular,
               "FSAI: the matrix is not positive definite; a pivot of row 0 (counted from 0) is "
               "not positive",
               [&] { cg.solve(b, x); });
}

TEST(Fsai, MixedPrecisionKeepsItInFloats) {
  Seed seed(8);
  using E = block<double, 3, 3>;
  const auto matrix = random_positive_definite_matrix<E>(40, 4, seed.generator, 0.8);
  const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=single")), B(matrix, Plan{});
  const Fsai narrow(A), own(B);
  EXPECT_EQ(2 * narrow.factor().stored_values().size(), own.factor().stored_values().size());
  const Dense expected = dense_of(B, own);
  EXPECT_TRUE((dense_of(A, narrow) - expected).norm() <= 1e-6 * expected.norm());
  EXPECT_LT(narrow.bytes_of_application(), own.bytes_of_application());
  EXPECT_GT(iterations(A, narrow), 0);
}

TEST(Fsai, ReadsTheUpperTriangle) {
  Seed seed(9);
  using E = quaternion<double>;
  auto matrix = random_positive_definite_matrix<E>(30, 4, seed.generator, 0.8);
  const Operator<E> A(matrix, Plan{});
  const Dense expected = dense_of(A, Fsai(A));
  for (Index i = 0; i < 30; ++i) {
    for (Offset at = matrix.offsets()[i]; at < matrix.offsets()[i + 1]; ++at) {
      if (matrix.column()[at] < i) matrix.values()[at * 4] = 1e6;
    }
  }
  const Operator<E> B(matrix, Plan{});
  EXPECT_EQ(dense_of(B, Fsai(B)), expected);
}

TEST(ApproximateInverse, EntriesOfADefinitionAreThoseOfTheType) {
  Seed seed(10);
  const auto matrix = random_positive_definite_matrix<quaternion<double>>(50, 4, seed.generator);
  const DefinedOperator<double> A(as_defined(matrix, quaternion_definition()), parse_plan("pJDS"),
                                  Device::cpu());
  const Operator<quaternion<double>> B(matrix, parse_plan("pJDS"));
  const Fsai of_definition(A, 2), of_type(B, 2);
  const auto a = of_definition.factor().stored_values(), b = of_type.factor().stored_values();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));

  const auto split =
      random_dominant_matrix<complex<double>>({.rows = 20, .columns = 20}, seed.generator);
  const DefinedOperator<double> C(as_defined(split, split_complex_definition()), Plan{},
                                  Device::cpu());
  EXPECT_NO_THROW(Isai{C});
  // The Cholesky factor of such an entry is triangular, and so is not such an entry.
  expect_error(ErrorKind::unsupported,
               "FSAI: the inverse of row 0 (counted from 0) is not an entry of this "
               "kind; the kind must be closed under products",
               [&] { Fsai{C}; });
}

}  // namespace
}  // namespace heddle::test::approximate_inverse
