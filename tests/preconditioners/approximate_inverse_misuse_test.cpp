// Runs in both builds.
// The inputs that approximate inverses refuse, and the row that they name.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::approximate_inverse_misuse {
namespace {

constexpr const char* plans[] = {"CSR", "pJDS", "order=rcm,C=4,sigma=16,vector=soa",
                                 "C=4,sigma=16,use=scatter"};

TEST(ApproximateInverse, RefusesWhatItCannotInvert) {
  using E = quaternion<double>;
  Seed seed(11);
  auto matrix = random_positive_definite_matrix<E>(20, 3, seed.generator);
  const Operator<E> A(matrix, parse_plan("pJDS"));
  expect_error(ErrorKind::usage, "FSAI takes a power of 1 to 4, not 0", [&] { Fsai(A, 0); });
  expect_error(ErrorKind::usage, "ISAI takes a power of 1 to 4, not 5", [&] { Isai(A, 5); });
  expect_error(
      ErrorKind::unsupported,
      "conjugate gradient needs a Hermitian preconditioner, and this one says that it is not; use "
      "BiCGStab",
      [&] { ConjugateGradient cg(A, Isai(A)); });

  const auto dual =
      random_dominant_matrix<dual_quaternion<double>>({.rows = 9, .columns = 9}, seed.generator);
  const Operator<dual_quaternion<double>> D(dual, Plan{});
  expect_error(ErrorKind::unsupported,
               "FSAI: the entry has no adjoint; use the preconditioner isai", [&] { Fsai{D}; });

  const Index offsets[] = {0, 1, 2}, columns[] = {0, 2};
  const double ones[] = {1, 1};
  const Operator<real<double>> wide(CsrView<real<double>>{2, 3, offsets, columns, ones},
                                    parse_plan("use=scatter"));
  EXPECT_THROW(Isai{wide}, Error);
}

TEST(ApproximateInverse, NamesTheFirstRowOfTheUserThatHasNone) {
  Generator generator(12);
  using E = block<double, 2, 2>;
  Tiles<E> tiles(40);
  for (Index i = 0; i < 40; ++i) {
    tiles.at(i, i) = 2 * Eigen::MatrixXd::Identity(2, 2);
    for (Index e = 0; e < i % 7; ++e)
      tiles.at(i, (i + 3 * e + 1) % 40) += random_tile<E>(generator, 0.1);
  }
  auto missing = tiles;
  missing.rows[31].erase(31);
  missing.rows[23].erase(23);
  auto singular = tiles;
  for (auto& [column, tile] : singular.rows[29]) tile.row(0).setZero();
  auto indefinite = tiles;
  indefinite.at(17, 17)(1, 1) = -1;
  auto nan = tiles;
  nan.at(5, 5)(0, 0) = std::nan("");
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const auto refuse = [&](const Tiles<E>& of, bool factorized, const std::string& message) {
      const Operator<E> A(of.assemble(), parse_plan(plan));
      expect_error(ErrorKind::singular, message, [&] {
        if (factorized) {
          Fsai{A};
        } else {
          Isai{A};
        }
      });
    };
    refuse(missing, true, "FSAI: the diagonal entry of row 23 (counted from 0) is missing");
    refuse(missing, false, "ISAI: the diagonal entry of row 23 (counted from 0) is missing");
    refuse(indefinite, true,
           "FSAI: the matrix is not positive definite; a pivot of row 17 (counted from 0) is not "
           "positive");
    refuse(nan, true,
           "FSAI: the matrix is not positive definite; a pivot of row 5 (counted from 0) is not "
           "positive");
    const Operator<E> A(singular.assemble(), parse_plan(plan));
    EXPECT_THROW(Isai{A}, Error);
  }
}

TEST(ApproximateInverse, AnswersForScalesFarFromOne) {
  for (const double magnitude : {1e-150, 1e-30, 1e30, 1e150}) {
    SCOPED_TRACE(magnitude);
    Seed seed(13);
    auto matrix = random_positive_definite_matrix<block<double, 3, 3>>(20, 4, seed.generator);
    for (double& value : matrix.values()) value *= magnitude;
    const Operator<block<double, 3, 3>> A(matrix, Plan{});
    EXPECT_NO_THROW(Fsai{A});
    EXPECT_NO_THROW(Isai{A});
  }
}

/// One row names every column: its local system is as large as the matrix.
TEST(ApproximateInverse, RefusesALongRowAtOnce) {
  HEDDLE_RELEASE_ONLY();
  constexpr Index n = 1'000'000;
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1 < n ? i : 0; j <= i; ++j) columns.push_back(j);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const std::vector<double> values(columns.size(), 1);
  const Operator<real<double>> A({n, n, offsets.data(), columns.data(), values.data()}, Plan{});
  const auto refuse = [&](const std::string& who, const auto& act) {
    expect_error(ErrorKind::unsupported,
                 who +
                     ": row 999999 of the pattern (counted from 0) has more than 12599 entries, "
                     "whose dense system would take many minutes; use a lower power, or jacobi",
                 act);
  };
  refuse("FSAI", [&] { Fsai{A}; });
  refuse("ISAI", [&] { Isai{A, 2}; });
}

TEST(ApproximateInverse, NamesARowWhoseInverseOverflows) {
  const Offset offsets[] = {0, 1, 2};
  const Index columns[] = {0, 1};
  const float values[] = {1, 1e-39F};
  const Operator<real<float>> A({2, 2, offsets, columns, values}, Plan{});
  expect_error(ErrorKind::singular,
               "ISAI: the inverse of row 1 (counted from 0) overflows the scalars it is stored in",
               [&] { Isai{A}; });
}

TEST(ApproximateInverse, NoRowIsNoWork) {
  const Offset offsets[] = {0};
  const Operator<real<double>> A({0, 0, offsets, nullptr, nullptr}, Plan{});
  Fsai fsai(A);
  Isai isai(A);
  Field<real<double>> r(0), z(0);
  fsai.apply(r, z, A.device().stream());
  isai.apply(r, z, A.device().stream());
}

TEST(ApproximateInverse, FieldsOfAnotherBasisAreRefused) {
  const auto matrix = poisson(100);
  const Operator<real<double>> A(matrix, parse_plan("order=rcm"));
  const Fsai fsai(A);
  Field<real<double>> r(A.rows()), z(A.rows());
  EXPECT_THROW(fsai.apply(r, z, A.device().stream()), Error);
}

}  // namespace
}  // namespace heddle::test::approximate_inverse_misuse
