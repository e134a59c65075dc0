// Runs in both builds.
// Several systems with one matrix: each solve gives the same bits as alone.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::side_by_side {
namespace {

template <class E>
using Scalar = vector_scalar_t<E>;

/// Fields together with their views.
template <class E>
struct Fields {
  std::vector<Field<E>> fields;

  Fields(std::size_t count, Index rows) {
    for (std::size_t k = 0; k < count; ++k) fields.emplace_back(rows);
  }
  std::vector<FieldView<Scalar<E>>> views() { return {fields.begin(), fields.end()}; }
  std::vector<FieldView<const Scalar<E>>> constant_views() const {
    return {fields.begin(), fields.end()};
  }
};
template <class E>
Fields<E> random_fields(std::size_t count, Index rows, Generator& generator) {
  Fields<E> made(count, rows);
  for (Field<E>& field : made.fields) fill_randomly(field, generator);
  return made;
}

void expect_same(const Report& together, const Report& alone) {
  EXPECT_EQ(together.status, alone.status);
  EXPECT_EQ(together.detail, alone.detail);
  EXPECT_EQ(together.iterations, alone.iterations);
  EXPECT_EQ(together.restarts, alone.restarts);
  EXPECT_EQ(together.loop, alone.loop);
  EXPECT_EQ(together.stored, alone.stored);
  if (!std::isnan(alone.residual)) {
    EXPECT_EQ(together.residual, alone.residual);
  }
}

template <class E>
class SideBySide : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>,
                                 block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(SideBySide, FewOf<Entries>);

TYPED_TEST(SideBySide, HasTheBitsThatEachHasAlone) {
  HEDDLE_RELEASE_ONLY();
  if (group_of_entry<TypeParam> == EntryGroup::quaternion) HEDDLE_DEEP_CHECK_ONLY();
  using E = TypeParam;
  using S = Scalar<E>;
  Seed seed(4301);
  for (const Index rows : {1, 33, 700}) {
    const auto matrix =
        random_positive_definite_matrix<E>(rows, std::min<Index>(rows, 7), seed.generator);
    for (const MethodInfo& method : method_table()) {
      if (method.needs_symmetric && E::ring != Ring::real) continue;
      for (const char* plan : {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa", "CSR,stored=float",
                               "order=rcm,C=8,sigma=16,inner=aosoa16"}) {
        if (std::string(plan).ends_with("float") && std::is_same_v<S, float>) continue;
        for (const bool jacobi : {false, true}) {
          SCOPED_TRACE(std::string(method.name) + " under " + plan + (jacobi ? ", Jacobi" : ""));
          AnySolver solver(AnyOperator(AnyMatrix(matrix), parse_plan(plan), Device::cpu(2)), method,
                           jacobi ? PreconditionerKind::jacobi : PreconditionerKind::none,
                           {.record_history = true});
          KrylovSolver<S>& own = solver.template solver<S>();
          for (const std::size_t count : {2U, 3U, 11U}) {
            auto b = random_fields<E>(count, rows, seed.generator);
            fill<S>(S(0), b.fields.front(), Stream());  // ends at once
            scale<S>(S(1e-3), b.fields.back(), Stream());
            Fields<E> x(count, rows), expected(count, rows);
            fill_randomly(x.fields[1], seed.generator);
            copy<S>(x.fields[1], expected.fields[1], Stream());
            const auto reports = own.solve(b.constant_views(), x.views());
            std::vector<std::vector<double>> histories;
            for (std::size_t k = 0; k < count; ++k) histories.push_back(own.history(k));
            for (std::size_t k = 0; k < count; ++k) {
              SCOPED_TRACE(k);
              const Report alone = own.solve(b.fields[k], expected.fields[k]);
              expect_same(reports[k], alone);
              EXPECT_TRUE(alone.solved()) << alone;
              EXPECT_EQ(bits_of(x.fields[k]), bits_of(expected.fields[k]));
              EXPECT_EQ(histories[k], own.history());
            }
          }
        }
      }
    }
  }
}

TEST(SideBySide, MemoryGrowsOnce) {
  using E = real<double>;
  Seed seed(4306);
  const Operator<E> A(random_positive_definite_matrix<E>(50, 5, seed.generator), Plan{});
  const auto b = random_fields<E>(8, 50, seed.generator);
  Fields<E> x(8, 50);
  const auto right = b.constant_views();
  const auto left = x.views();
  ConjugateGradient by_steps(A), at_once(A);
  const long long alone = at_once.memory();
  for (const std::size_t count : {2U, 5U, 8U, 3U}) {
    by_steps.solve(std::span(right).first(count), std::span(left).first(count));
  }
  at_once.solve(right, left);
  EXPECT_GT(at_once.memory(), alone);
  EXPECT_EQ(by_steps.memory(), at_once.memory());
}

TEST(SideBySide, TakesEightAtOnceAndOneOfAMethodWithABasis) {
  using E = real<double>;
  Seed seed(4307);
  const Operator<E> A(random_positive_definite_matrix<E>(20, 5, seed.generator), Plan{});
  const ConjugateGradient cg(A);
  const Gmres gmres(A);
  for (const std::size_t count : {0U, 1U, 2U, 8U, 11U}) {
    EXPECT_EQ(cg.systems_at_once(count), std::min<std::size_t>(count, 8));
    EXPECT_EQ(gmres.systems_at_once(count), std::min<std::size_t>(count, 1));
  }
}

TEST(SideBySide, EachEndsForItself) {
  using E = real<double>;
  constexpr Index rows = 300;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Seed seed(4302);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Operator<E> A(matrix, Plan{});
  ConjugateGradient solver(A, SolverOptions{.max_iterations = 12});
  auto b = random_fields<E>(4, rows, seed.generator);
  Fields<E> x(4, rows);
  b.fields[0].view().at(7, 0) = nan;
  x.fields[2].view().at(3, 0) = nan;
  A.apply(1, random_fields<E>(1, rows, seed.generator).fields[0], 0, b.fields[3], Stream());
  const auto reports = solver.solve(b.constant_views(), x.views());
  EXPECT_EQ(reports[0].status, Status::not_finite);
  EXPECT_EQ(reports[1].status, Status::iteration_limit);
  EXPECT_EQ(reports[1].iterations, 12);
  EXPECT_EQ(reports[2].status, Status::not_finite);
  EXPECT_EQ(reports[3].status, Status::iteration_limit);
}

TEST(SideBySide, IsObservedAndCancelledOneByOne) {
  using E = quaternion<double>;
  constexpr Index rows = 400;
  Seed seed(4303);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Operator<E> A(matrix, Plan{});
  std::vector<long long> seen(3, 0);
  SolverOptions options;
  options.observer = [&](const SolveProgress& now) {
    seen[static_cast<std::size_t>(now.system)] = now.iteration;
    return now.system != 1 || now.iteration < 3;
  };
  ConjugateGradient solver(A, options);
  const auto b = random_fields<E>(3, rows, seed.generator);
  Fields<E> x(3, rows);
  const auto reports = solver.solve(b.constant_views(), x.views());
  EXPECT_TRUE(reports[0].converged());
  EXPECT_EQ(reports[1].status, Status::cancelled);
  EXPECT_EQ(reports[1].iterations, 3);
  EXPECT_TRUE(reports[2].converged());
  EXPECT_GE(seen[0], reports[0].iterations - 1);
}

TEST(SideBySide, TakesNoneAndRefusesWhatDoesNotFit) {
  using E = real<double>;
  Seed seed(4304);
  const Operator<E> A(random_positive_definite_matrix<E>(20, 5, seed.generator), Plan{});
  Minres solver(A);
  EXPECT_TRUE(solver.solve(std::span<const FieldView<const double>>(), {}).empty());
  const auto b = random_fields<E>(2, 20, seed.generator);
  Fields<E> x(2, 20), other(2, 21);
  const auto right = b.constant_views();
  const auto left = x.views();
  expect_error(ErrorKind::size_mismatch, "1 right-hand sides, but 2 solutions",
               [&] { solver.solve(std::span(right).first(1), left); });
  const auto longer = other.views();
  expect_error(ErrorKind::size_mismatch,
               "the solution: a field of 21 rows of 1 components is used with one of 20 of 1",
               [&] { solver.solve(right, longer); });
  const std::vector twice{left[0], left[0]};
  expect_error(ErrorKind::usage, "a solution and another share memory; give each its own array",
               [&] { solver.solve(right, twice); });
  EXPECT_THROW(static_cast<void>(solver.history(5)), std::out_of_range);
}

TEST(SideBySide, ProductsAreThoseOfEach) {
  using E = quaternion<double>;
  Seed seed(4305);
  const auto matrix = random_positive_definite_matrix<E>(513, 9, seed.generator);
  for (const char* plan : {"CSR", "C=8,sigma=64,inner=aosoa16", "C=4,T=2,vector=soa"}) {
    const Operator<E> A(matrix, parse_plan(plan));
    constexpr std::size_t count = 5;
    std::vector<Field<E>> x, y, alone;
    for (std::size_t k = 0; k < count; ++k) {
      x.push_back(A.field());
      y.push_back(A.field());
      alone.push_back(A.field());
      fill_randomly(x.back(), seed.generator);
    }
    const std::vector<FieldView<const double>> from(x.begin(), x.end());
    const std::vector<FieldView<double>> to(y.begin(), y.end());
    std::vector<double> dots(count);
    Reduction<double> reduction(513);
    for (const bool with_dots : {true, false}) {
      A.apply_all(from, to, with_dots ? std::span(dots) : std::span<double>(), reduction, Stream());
      for (std::size_t k = 0; k < count; ++k) {
        const double dot = A.apply_dot(x[k], alone[k], reduction, Stream());
        if (with_dots) {
          EXPECT_EQ(dots[k], dot);
        }
        EXPECT_EQ(bits_of(y[k]), bits_of(alone[k]));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::side_by_side
