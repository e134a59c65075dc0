// Runs in both builds.
// Block conjugate gradients against dense solves, and against single solves by conjugate gradient.
#include "heddle/block_conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "support/few_entries.hpp"
#include "support/systems/block_systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::block_conjugate_gradient {
namespace {

template <class E>
class BlockConjugateGradientOf : public testing::Test {};
using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                   block<complex<double>, 3, 3>, real<float>, quaternion<float>>;
TYPED_TEST_SUITE(BlockConjugateGradientOf, FewOf<Entries>);

TYPED_TEST(BlockConjugateGradientOf, AgreesWithADenseSolver) {
  HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  Generator generator(1);
  for (const Index rows : {1, 2, 5, 37, 90}) {
    const System<E> system = random_system<E>(rows, 3, 0.05, 0, generator);
    const Operator<E> A(system.matrix, parse_plan(rows % 2 == 0 ? "CSR" : "pJDS"));
    BlockConjugateGradient plain(A), jacobi(A, Jacobi(A)), fsai(A, Fsai(A));
    for (const int count : {1, 2, 3, 7, 16}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(count));
      const std::vector<Field<E>> b = random_fields<E>(count, rows, generator);
      for (auto* const solver : {&plain, &jacobi, &fsai}) {
        std::vector<Field<E>> x = random_fields<E>(count, rows, generator);
        const auto reports = solver->solve(const_views_of(b), views_of(x));
        expect_solutions(system, b, x, reports);
      }
    }
  }
}

TYPED_TEST(BlockConjugateGradientOf, OfOneColumnIsConjugateGradient) {
  using E = TypeParam;
  Generator generator(2);
  const System<E> system = random_system<E>(300, 3, 0.02, 0, generator);
  const Operator<E> A(system.matrix, Plan{});
  const Field<E> b = random_vector<E>(300, generator);
  const auto compare = [&](auto& single, auto& block) {
    Field<E> x(300), y(300);
    const Report expected = single.solve(b, x), found = block.solve(b, y);
    ASSERT_TRUE(expected.converged() && found.converged()) << expected << "\n" << found;
    EXPECT_LE(std::abs(found.iterations - expected.iterations), 2);
    EXPECT_EQ(found.target_norm, expected.target_norm);
  };
  ConjugateGradient plain(A), jacobi(A, Jacobi(A));
  BlockConjugateGradient block(A), with_jacobi(A, Jacobi(A));
  compare(plain, block);
  compare(jacobi, with_jacobi);
}

TYPED_TEST(BlockConjugateGradientOf, SurvivesDependentColumns) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(3);
  constexpr Index n = 70;
  const System<E> system = random_system<E>(n, 3, 0.05, 0, generator);
  const Operator<E> A(system.matrix, parse_plan("pJDS"));
  std::vector<Field<E>> b = random_fields<E>(8, n, generator);
  b[1] = Field<E>(b[0]);              // equal to another column
  for (S& s : b[2].scalars()) s = 0;  // zero
  for (std::size_t i = 0; i < b[3].scalars().size(); ++i) {
    b[3].scalars()[i] = 3 * b[0].scalars()[i] - 2 * b[4].scalars()[i];             // dependent
    b[5].scalars()[i] = b[4].scalars()[i] * (i % 7 == 0 ? S(1) + S(1e-5) : S(1));  // nearly so
  }
  std::fill(b[6].scalars().begin(), b[6].scalars().end(), S(0));
  b[6].scalars()[3] = 1;
  const S far = std::is_same_v<S, float> ? S(1e-15) : S(1e-200);
  for (S& s : b[7].scalars()) s *= far;
  std::vector<Field<E>> x = zero_fields<E>(8, n);
  BlockConjugateGradient solver(A, Jacobi(A));
  const auto reports = solver.solve(const_views_of(b), views_of(x));
  for (S& s : b[7].scalars()) s /= far;
  EXPECT_LE(reports[7].residual_norm, reports[7].target_norm);
  for (S& s : x[7].scalars()) s /= far;
  EXPECT_EQ(reports[2].residual_norm, 0);
  std::vector<Report> others(reports.begin(), reports.end() - 1);
  b.pop_back();
  const Field<E> last = std::move(x.back());
  x.pop_back();
  expect_solutions(system, b, x, others);
  for (const Report& report : reports) EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(bits_of(x[2]), std::vector<S>(bits_of(x[2]).size()));
}

/// The Krylov space of all columns takes fewer iterations than the fastest single solve.
TEST(BlockConjugateGradient, TakesFewerIterationsThanSingleSolves) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  const CsrMatrix<E> matrix = poisson(4000, 1);
  const Operator<E> A(matrix, Plan{});
  Generator generator(4);
  const std::vector<Field<E>> b = random_fields<E>(8, A.rows(), generator);
  ConjugateGradient single(A);
  std::vector<Field<E>> expected = zero_fields<E>(8, A.rows()), x = zero_fields<E>(8, A.rows());
  long long least = 1LL << 40;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const Report report = single.solve(b[k], expected[k]);
    ASSERT_TRUE(report.converged());
    least = std::min(least, report.iterations);
  }
  BlockConjugateGradient block(A);
  const auto reports = block.solve(const_views_of(b), views_of(x));
  for (std::size_t k = 0; k < b.size(); ++k) {
    ASSERT_TRUE(reports[k].converged()) << reports[k];
    EXPECT_LE(reports[k].iterations, least * 8 / 10);
    const Vector<double> apart = components_of<double>(x[k]) - components_of<double>(expected[k]);
    EXPECT_LE(apart.norm(), 1e-7 * components_of<double>(expected[k]).norm());
  }
}

TEST(BlockConjugateGradient, TakesNormsThatAreFarApart) {
  using E = quaternion<double>;
  Generator generator(5);
  const System<E> system = random_system<E>(80, 3, 0.05, 0, generator);
  const Operator<E> A(system.matrix, Plan{});
  std::vector<Field<E>> b;
  for (const double scale : {1e-60, 1e-9, 1.0, 1e11, 1e50}) {
    b.push_back(random_vector<E>(80, generator, scale));
  }
  std::vector<Field<E>> x = zero_fields<E>(5, 80);
  BlockConjugateGradient solver(A);
  const auto reports = solver.solve(const_views_of(b), views_of(x));
  expect_solutions(system, b, x, reports);
}

TEST(BlockConjugateGradient, RepeatsItsBitsWithAnyThreads) {
  HEDDLE_RELEASE_ONLY();
  using E = complex<double>;
  Generator generator(6);
  const System<E> system = random_system<E>(5000, 3, 0.05, 0, generator);
  const std::vector<Field<E>> b = random_fields<E>(5, 5000, generator);
  std::vector<std::vector<double>> bits;
  for (const int threads : {1, 2, 3}) {
    const Operator<E> A(system.matrix, parse_plan("pJDS"), Device::cpu(threads));
    BlockConjugateGradient solver(A, Jacobi(A));
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<Field<E>> x = zero_fields<E>(5, 5000);
      ASSERT_TRUE(solver.solve(const_views_of(b), views_of(x))[4].converged());
      std::vector<double> all;
      for (const Field<E>& field : x) {
        const auto own = bits_of(field);
        all.insert(all.end(), own.begin(), own.end());
      }
      bits.push_back(std::move(all));
    }
  }
  for (const auto& other : bits) EXPECT_EQ(other, bits.front());
}

TEST(BlockConjugateGradient, TakesFieldsInTheOperatorsBasis) {
  using E = block<double, 3, 3>;
  Generator generator(7);
  const System<E> system = random_system<E>(60, 3, 0.05, 0, generator);
  const Operator<E> A(system.matrix, parse_plan("pJDS"));
  const std::vector<Field<E>> b = random_fields<E>(2, 60, generator);
  std::vector<Field<E>> x = zero_fields<E>(2, 60), inside, solutions;
  for (int k = 0; k < 2; ++k) {
    inside.push_back(A.field());
    solutions.push_back(A.field());
    permute<double>(b[static_cast<std::size_t>(k)].view(), inside.back().view(), 1,
                    A.device().stream());
  }
  BlockConjugateGradient solver(A);
  ASSERT_TRUE(solver.solve(const_views_of(b), views_of(x))[0].converged());
  ASSERT_TRUE(solver.solve(const_views_of(inside), views_of(solutions))[0].converged());
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(components_of<double>(x[k]), components_of<double>(solutions[k]));
  }
}

/// The tolerance is below rounding.
TEST(BlockConjugateGradient, EndsWhereRoundingDoes) {
  using E = real<double>;
  const Operator<E> A(poisson(1500, 1), Plan{});
  Generator generator(8);
  const std::vector<Field<E>> b = random_fields<E>(4, A.rows(), generator);
  std::vector<Field<E>> x = zero_fields<E>(4, A.rows());
  BlockConjugateGradient solver(A, {.tolerance = 0});
  for (const Report& report : solver.solve(const_views_of(b), views_of(x))) {
    EXPECT_EQ(report.status, Status::accuracy_limit) << report;
    EXPECT_LE(report.backward_error, 64 * 2.3e-16);
  }
}

}  // namespace
}  // namespace heddle::test::block_conjugate_gradient
