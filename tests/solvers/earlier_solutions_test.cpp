// Runs in both builds.
// Guesses from earlier solutions: exact within their span, never worse elsewhere, and fewer
// iterations in sequences.
#include "heddle/earlier_solutions.hpp"
#include "base/long_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "support/distance.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::earlier_solutions {
namespace {

template <class E>
Field<E> random_field_of(const Operator<E>& A, Generator& generator) {
  Field<E> field = A.field();
  fill_randomly(field, generator);
  return field;
}
template <class E>
Field<E> image_under(const Operator<E>& A, const Field<E>& x) {
  Field<E> image = A.field();
  A.apply(1, x, 0, image, A.device().stream());
  return image;
}
/// The square root of (x - y)* A (x - y).
template <class E>
double energy_of_error(const Operator<E>& A, const Field<E>& x, const Field<E>& y) {
  Field<E> difference = x;
  axpby<E>(-1, y, 1, difference);
  return static_cast<double>(std::sqrt(dot<E>(difference, image_under(A, difference))));
}

const char* const plans[] = {"CSR", "order=rcm,C=4,sigma=16,vector=soa"};

template <class E>
class EarlierSolutionsOf : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                     quaternion<float> HEDDLE_IN_LONG_DOUBLE(, real<long double>)>;
TYPED_TEST_SUITE(EarlierSolutionsOf, FewOf<Entries>);

TYPED_TEST(EarlierSolutionsOf, GuessTheSolutionWhereItIsInTheirSpan) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    Seed seed(51);
    const Operator<E> A(random_positive_definite_matrix<E>(601, 6, seed.generator),
                        parse_plan(plan));
    EarlierSolutions<S> earlier(A, 4);
    Field<E> expected = A.field();
    for (const double part : {0.0, 2.0, -1.0, 0.5, 3.0}) {  // the first is forgotten by the end
      const Field<E> x = random_field_of(A, seed.generator);
      EXPECT_TRUE(earlier.keep(x));
      axpby<E>(static_cast<S>(part), x, 1, expected);
    }
    EXPECT_EQ(earlier.size(), 4U);
    const Field<E> b = image_under(A, expected);
    Field<E> x = A.field();
    const EarlierGuess guess = earlier.guess(b, x);
    EXPECT_EQ(guess.used, 4U);
    EXPECT_NEAR(guess.residual_before, 1, 1e-5);
    EXPECT_LE(guess.residual, 100 * epsilon);
    EXPECT_LE(distance(x, expected), 100 * epsilon);
    // Any other first guess leads there too.
    Field<E> from = random_field_of(A, seed.generator);
    axpby<E>(1, expected, S(0), from);
    axpby<E>(S(0.25), x, 1, from);
    earlier.guess(b, from);
    EXPECT_LE(distance(from, expected), 100 * epsilon);
    earlier.clear();
    EXPECT_EQ(earlier.size(), 0U);
    fill<S>(0, x.view(), A.device().stream());
    EXPECT_EQ(earlier.guess(b, x).used, 0U);
    EXPECT_EQ(norm<E>(x), 0);
  }
}

TYPED_TEST(EarlierSolutionsOf, NeverMakeAGuessWorse) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(52);
  const Operator<E> A(random_positive_definite_matrix<E>(300, 6, seed.generator), Plan{});
  EarlierSolutions<S> earlier(A, 6);
  const Field<E> expected = random_field_of(A, seed.generator);
  const Field<E> b = image_under(A, expected);
  for (int k = 0; k < 6; ++k) earlier.keep(random_field_of(A, seed.generator));
  for (const double error : {1.0, 1e-3}) {
    Field<E> x = random_field_of(A, seed.generator);
    axpby<E>(1, expected, static_cast<S>(error), x);
    const double before = energy_of_error(A, x, expected);
    const EarlierGuess guess = earlier.guess(b, x);
    EXPECT_EQ(guess.used, 6U);
    EXPECT_LT(energy_of_error(A, x, expected), before);
    // The reported residual is true, though no product computed it.
    Field<E> r = image_under(A, x);
    axpby<E>(1, b, -1, r);
    const double residual = static_cast<double>(norm<E>(r) / norm<E>(b));
    EXPECT_NEAR(guess.residual, residual, 1e-3 * residual);
  }
}

TYPED_TEST(EarlierSolutionsOf, AreWellWithDependentOnesAndLeaveOutNoNumbers) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  Seed seed(53);
  const Operator<E> A(random_positive_definite_matrix<E>(300, 6, seed.generator), Plan{});
  EarlierSolutions<S> earlier(A, 8);
  const Field<E> u = random_field_of(A, seed.generator), v = random_field_of(A, seed.generator);
  Field<E> sum = u, nothing = A.field();
  axpby<E>(S(-3), v, 1, sum);
  for (const Field<E>& x : std::vector<Field<E>>{u, v, sum, u, u, sum})
    EXPECT_TRUE(earlier.keep(x));
  EXPECT_FALSE(earlier.keep(nothing));
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Field<E> none = u;
    none.view().at(17, 0) = static_cast<S>(value);
    EXPECT_FALSE(earlier.keep(none));
  }
  EXPECT_EQ(earlier.size(), 6U);
  Field<E> expected = u, x = A.field();
  axpby<E>(S(2), v, S(0.5), expected);
  const Field<E> b = image_under(A, expected);
  const EarlierGuess guess = earlier.guess(b, x);
  EXPECT_EQ(guess.used, 2U);
  EXPECT_LE(guess.residual, 100 * epsilon);
  EXPECT_LE(distance(x, expected), 100 * epsilon);

  Field<E> bad = b;
  bad.view().at(3, 0) = std::numeric_limits<S>::quiet_NaN();
  const Field<E> kept = x;
  EXPECT_EQ(earlier.guess(bad, x).used, 0U);
  EXPECT_EQ(bits_of(x), bits_of(kept));
  EXPECT_EQ(earlier.guess(nothing, x).used, 0U);
  x.view().at(0, 0) = std::numeric_limits<S>::quiet_NaN();
  EXPECT_EQ(earlier.guess(b, x).used, 0U);
}

TYPED_TEST(EarlierSolutionsOf, FollowNewValues) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  Seed seed(54);
  auto matrix = random_positive_definite_matrix<E>(300, 6, seed.generator);
  Operator<E> A(matrix, parse_plan("pJDS"));
  EarlierSolutions<S> earlier(A, 3);
  const Field<E> u = random_field_of(A, seed.generator), v = random_field_of(A, seed.generator);
  earlier.keep(u);
  earlier.keep(v);
  Field<E> expected = u;
  axpby<E>(S(2), v, S(-0.5), expected);
  for (int change = 0; change < 3; ++change) {
    const Field<E> b = image_under(A, expected);
    Field<E> x = A.field();
    EXPECT_EQ(earlier.guess(b, x).used, 2U);
    EXPECT_LE(distance(x, expected), 100 * epsilon);
    // Change the diagonal, and the size of all values.
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
           i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
        const bool on_diagonal = matrix.column()[static_cast<std::size_t>(i)] == row;
        for (int k = 0; k < E::components; ++k) {
          matrix.values()[static_cast<std::size_t>(i) * E::components +
                          static_cast<std::size_t>(k)] *= on_diagonal ? S(3 + row % 2) : S(2);
        }
      }
    }
    A.update_values(matrix);
    if (change == 1) earlier.keep(u);  // between the change and the next guess
  }
}

/// A sequence in which right-hand sides and, with `rotates`, the matrices change slowly.
template <class E>
void expect_fewer_iterations(const CsrMatrix<E>& first, bool rotates, double factor) {
  using S = vector_scalar_t<E>;
  constexpr int steps = 30;
  CsrMatrix<E> matrix = first;
  Operator<E> A(matrix, parse_plan("pJDS"));
  EarlierSolutions<S> earlier(A, 8);
  const SolverOptions options{.tolerance = 1e-8};
  ConjugateGradient solver(A, Jacobi(A), options);
  Field<E> b = A.field(), x = A.field(), plain = A.field();
  long long with = 0, without = 0;
  for (int step = 0; step < steps; ++step) {
    const double t = 0.05 * step;
    if (rotates) {
      for (Offset i = 0; i < matrix.entries(); ++i) {
        for (int k = 0; k < E::components; ++k) {
          const std::size_t at = static_cast<std::size_t>(i) * E::components + k;
          matrix.values()[at] = first.values()[at] * (1 + 0.1 * std::sin(t));
        }
      }
      A.update_values(matrix);
    }
    const Offset scalars = b.view().scalars();
    for (Offset i = 0; i < scalars; ++i) {
      const double place = static_cast<double>(i) / static_cast<double>(scalars);
      b.scalars()[static_cast<std::size_t>(i)] =
          static_cast<S>(1 + std::sin(3 * place + t * (1 + 2 * place)));
    }
    const Report alone = solver.solve(b, plain);
    ASSERT_TRUE(alone.converged());
    earlier.guess(b, x);
    const Report report = solver.solve(b, x);
    ASSERT_TRUE(report.converged());
    EXPECT_TRUE(earlier.keep(x));
    EXPECT_LE(distance(x, plain), 1e-5);
    if (step < 10) continue;
    with += report.iterations;
    without += alone.iterations;
  }
  EXPECT_LE(static_cast<double>(with), factor * static_cast<double>(without))
      << with << " after " << without;
}

TEST(EarlierSolutions, TakeFewerIterationsInASequence) {
  HEDDLE_RELEASE_ONLY();
  expect_fewer_iterations(poisson(3000), false, 0.5);
  expect_fewer_iterations(poisson(3000), true, 0.5);
  expect_fewer_iterations(elasticity(900), false, 0.5);
  Seed seed(55);
  expect_fewer_iterations(random_system<quaternion<double>>(900, 3, 0.01, 0, seed.generator).matrix,
                          true, 0.5);
}

TEST(EarlierSolutions, HaveTheSameBitsForAnyThreads) {
  using E = quaternion<double>;
  std::vector<std::vector<double>> ends;
  for (const int threads : {1, 2, 3}) {
    Seed seed(56);
    const Operator<E> A(random_positive_definite_matrix<E>(3000, 6, seed.generator),
                        parse_plan("K1rs"), Device::cpu(threads));
    EarlierSolutions<double> earlier(A, 5);
    for (int k = 0; k < 5; ++k) earlier.keep(random_field_of(A, seed.generator));
    const Field<E> b = random_field_of(A, seed.generator);
    Field<E> x = A.field();
    EXPECT_EQ(earlier.guess(b, x).used, 5U);
    ends.push_back(bits_of(x));
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

/// An operator that does not report when its values change.
class Scaled final : public LinearOperator<double> {
 public:
  double factor = 1;
  Index rows() const override { return 50; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    for (Index i = 0; i < rows(); ++i) {
      const double old = beta == 0 ? 0 : beta * y.at(i, 0);
      y.at(i, 0) = alpha * factor * (1 + i) * x.at(i, 0) + old;
    }
  }
};

TEST(EarlierSolutions, FollowAnOperatorThatDoesNotTell) {
  Scaled A;
  EarlierSolutions<double> earlier(A, 2);
  std::vector<double> x(50, 1.0), b(50), guess(50);
  earlier.keep(x);
  for (const double factor : {1.0, 2.0, 7.0}) {
    A.factor = factor;
    A.apply(3, x, 0, b, Device::cpu().stream());
    std::fill(guess.begin(), guess.end(), 0);
    EXPECT_EQ(earlier.guess(b, guess).used, 1U);
    for (const double value : guess) EXPECT_NEAR(value, 3, 1e-12);
  }
  A.factor = -1;  // not positive definite
  std::fill(guess.begin(), guess.end(), 0);
  EXPECT_EQ(earlier.guess(b, guess).used, 0U);
}

TEST(EarlierSolutions, RefuseWhatDoesNotFit) {
  using E = real<double>;
  const Operator<E> A(poisson(343), parse_plan("order=rcm,C=4,sigma=16"));
  expect_error(ErrorKind::usage, "the number of earlier solutions is 1 to 64, not 0",
               [&] { EarlierSolutions<double> earlier(A, 0); });
  expect_error(ErrorKind::usage, "the number of earlier solutions is 1 to 64, not 65",
               [&] { EarlierSolutions<double> earlier(A, 65); });
  Seed seed(57);
  const Operator<dual_quaternion<double>> D(
      random_dominant_matrix<dual_quaternion<double>>({.rows = 9, .columns = 9}, seed.generator),
      Plan{});
  expect_error(ErrorKind::unsupported,
               "a guess from earlier solutions needs a Hermitian matrix, and these entries have no "
               "adjoint",
               [&] { EarlierSolutions<double> earlier(D, 2); });
  EarlierSolutions<double> earlier(A, 2);
  const Field<E> mine(343);
  expect_error(ErrorKind::size_mismatch,
               "a solution for earlier solutions is not in the operator's basis, layout and "
               "memory; `permute` takes it there",
               [&] { earlier.keep(mine); });
  EXPECT_THROW(earlier.keep(Field<E>(9)), Error);
  Field<E> x = A.field();
  EXPECT_THROW(earlier.guess(x, x), Error);
}

}  // namespace
}  // namespace heddle::test::earlier_solutions
