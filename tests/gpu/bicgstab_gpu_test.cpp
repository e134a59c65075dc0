// BiCGStab with its loop on a GPU, as a graph and as one kernel, compared with the same method
// driven by the host.
#include "heddle/bicgstab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/jacobi.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_outcome.hpp"

namespace bicgstab_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class BiCGStabOnGpu : public OnGpu {
 protected:
  using S = vector_scalar_t<E>;
  static constexpr double epsilon = std::numeric_limits<S>::epsilon();

  static CsrMatrix<E> random_system(Index rows, Generator& generator) {
    return random_dominant_matrix<E>({.rows = rows, .columns = rows}, generator);
  }

  /// Compares two solves of a system whose inverse has norm 1 or less: the rows of b - A x equal
  /// those of b minus a dominant diagonal.
  static void expect_close(const Outcome& outcome, const Outcome& host) {
    ASSERT_TRUE(host.report.converged()) << host.report;
    ASSERT_TRUE(outcome.report.converged()) << outcome.report;
    ASSERT_EQ(static_cast<long long>(outcome.history.size()), outcome.report.iterations + 1);
    EXPECT_LE(std::abs(outcome.report.iterations - host.report.iterations),
              std::max<long long>(2, host.report.iterations / 5));
    // Sums in different orders: their rounding, relative to the first residual, before the
    // recurrence amplifies it.
    constexpr std::size_t early = 5;
    for (std::size_t i = 0; i < std::min({early, host.history.size(), outcome.history.size()});
         ++i) {
      EXPECT_FALSE(!(std::abs(outcome.history[i] - host.history[i]) <= 1e4 * epsilon))
          << "iteration " << i << ": " << outcome.history[i] << ", " << host.history[i];
    }
    double error = 0, size = 0;
    for (std::size_t i = 0; i < host.x.size(); ++i) {
      error += (outcome.x[i] - host.x[i]) * (outcome.x[i] - host.x[i]);
      size += host.x[i] * host.x[i];
    }
    EXPECT_FALSE(
        !(std::sqrt(error) <= 100 * (host.report.residual_norm + outcome.report.residual_norm) +
                                  epsilon * std::sqrt(size)))
        << std::sqrt(error);
  }
};
using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                   block<double, 3, 3>, block<complex<double>, 3, 3>, real<float>, complex<float>,
                   quaternion<float>, stored_as<float, quaternion<double>>>;
TYPED_TEST_SUITE(BiCGStabOnGpu, Entries);

const char* const layouts[] = {"C=32,T=4,sigma=n,inner=aosoa16", "C=16,T=2,inner=soa,vector=soa"};
const char* const recurrences[] = {"recurrence=ring", "recurrence=real"};
const char* const loops[] = {"graph", "replay", "persistent"};

TYPED_TEST(BiCGStabOnGpu, GoesAsTheHostDoes) {
  using E = TypeParam;
  Seed seed(2701 + sizeof(E));
  for (const Index rows : {1, 33, 1201}) {
    const auto matrix = this->random_system(rows, seed.generator);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* layout : layouts) {
      for (const char* recurrence : recurrences) {
        for (const bool jacobi : {false, true}) {
          const std::string plan = std::string(layout) + "," + recurrence;
          const Outcome host =
              solve<BiCGStab>(matrix, b, plan + ",loop=stepped", jacobi, this->device);
          EXPECT_EQ(host.report.loop, "stepped");
          for (const std::string loop : loops) {
            SCOPED_TRACE(std::to_string(rows) + " rows, " + plan + ", " + loop +
                         (jacobi ? ", Jacobi" : ""));
            const Outcome outcome =
                solve<BiCGStab>(matrix, b, plan + ",loop=" + loop, jacobi, this->device);
            EXPECT_EQ(outcome.report.loop, loop);
            this->expect_close(outcome, host);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(BiCGStabOnGpu, DiagonalSystemsConvergeByTheHalfStep) {
  using E = TypeParam;
  Seed seed(2702 + sizeof(E));
  for (const Index rows : {1, 300}) {
    // After Jacobi, any diagonal is the identity.
    const auto matrix = random_dominant_matrix<E>(
        {.rows = rows, .columns = rows, .per_row = 0, .diagonal = true}, seed.generator);
    auto multiple = matrix;
    for (Index row = 0; row < rows; ++row) {
      for (int k = 0; k < E::components; ++k) {
        multiple
            .values()[static_cast<std::size_t>(row) * E::components + static_cast<std::size_t>(k)] =
            static_cast<stored_scalar_t<E>>(-3 * one_entry<E>().component[k]);
      }
    }
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const std::string loop : loops) {
      for (const char* recurrence : recurrences) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + loop + ", " + recurrence);
        const std::string plan = "pJDS,loop=" + loop + "," + recurrence;
        for (const Outcome& outcome : {solve<BiCGStab>(matrix, b, plan, true, this->device),
                                       solve<BiCGStab>(multiple, b, plan, false, this->device)}) {
          ASSERT_TRUE(outcome.report.converged()) << outcome.report;
          EXPECT_EQ(outcome.report.iterations, 1);
        }
        const Outcome third = solve<BiCGStab>(multiple, b, plan, false, this->device);
        for (std::size_t i = 0; i < third.x.size(); ++i) {
          EXPECT_FALSE(!(std::abs(third.x[i] + double(b.scalars()[i]) / 3) <= 16 * this->epsilon));
        }
      }
    }
  }
}

class BiCGStabLoops : public OnGpu, public testing::WithParamInterface<const char*> {
 protected:
  static std::string with_loop(const std::string& plan) { return plan + ",loop=" + GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(As, BiCGStabLoops, testing::ValuesIn(loops),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BiCGStabLoops, BitsRepeat) {
  using E = quaternion<double>;
  Seed seed(2703);
  const auto matrix =
      random_dominant_matrix<E>({.rows = 3001, .columns = 3001}, seed.generator, 1.05);
  const Field<E> b = random_field<E>(3001, seed.generator);
  for (const char* recurrence : recurrences) {
    SCOPED_TRACE(recurrence);
    const Operator<E> A(matrix, parse_plan(with_loop("pJDS,T=4") + "," + recurrence), device);
    BiCGStab<double> solver(A, Jacobi<E>(A));
    std::vector<double> first;
    for (int repetition = 0; repetition < 3; ++repetition) {
      // x is another field each time: the graph is captured again.
      Field<E> x(3001);
      const Report report = solver.solve(b.view(), x.view());
      ASSERT_TRUE(report.converged()) << report;
      const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
      if (first.empty()) first = scalars;
      EXPECT_EQ(scalars, first);
    }
  }
}

TEST_P(BiCGStabLoops, EndsForEveryReason) {
  using E = complex<double>;
  Seed seed(2706);
  const auto matrix =
      random_dominant_matrix<E>({.rows = 2000, .columns = 2000}, seed.generator, 1.05);
  const Field<E> b = random_field<E>(2000, seed.generator);
  const auto expect = [&](const CsrMatrix<E>& of, SolverOptions options, Status status) {
    const Outcome outcome =
        solve<BiCGStab>(of, b, with_loop("pJDS"), false, device, std::move(options));
    EXPECT_EQ(outcome.report.status, status) << outcome.report;
    return outcome;
  };
  const Outcome limited = expect(matrix, {.max_iterations = 3}, Status::iteration_limit);
  EXPECT_EQ(limited.report.iterations, 3);
  EXPECT_EQ(limited.history.size(), 4u);
  expect(matrix, {.tolerance = 0, .time_limit = 0}, Status::time_limit);
  // Unattainable in double: rounding decides whether x or a coefficient loses its last digit first.
  const Outcome beyond =
      solve<BiCGStab>(matrix, b, with_loop("pJDS"), false, device, {.tolerance = 1e-300});
  EXPECT_TRUE(beyond.report.status == Status::accuracy_limit ||
              beyond.report.status == Status::stagnated ||
              beyond.report.status == Status::breakdown)
      << beyond.report;
  auto not_finite = matrix;
  not_finite.values()[7] = std::numeric_limits<double>::quiet_NaN();
  expect(not_finite, {}, Status::not_finite);
}

/// 2 x 2 systems whose sums are exact.
Outcome solve_small(const std::vector<double>& values, const std::vector<double>& b,
                    const std::string& loop, const Device& device) {
  using E = real<double>;
  const Pattern dense{2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  std::vector<E> entries;
  for (const double value : values) entries.push_back({{value}});
  Field<E> right(2);
  std::copy(b.begin(), b.end(), right.scalars().begin());
  return solve<BiCGStab>(matrix_of(dense, entries), right, "CSR,loop=" + loop, false, device);
}

TEST_P(BiCGStabLoops, ARotationLosesTheRecurrence) {
  // <r^, A r^> = 0.
  const Outcome outcome = solve_small({0, 1, -1, 0}, {1, 2}, GetParam(), device);
  EXPECT_EQ(outcome.report.status, Status::breakdown) << outcome.report;
  EXPECT_NE(outcome.report.detail.find("broke down"), std::string_view::npos);
  EXPECT_EQ(outcome.x, std::vector<double>(2)) << "nothing is better than the guess";
}

TEST_P(BiCGStabLoops, WhereASIsOrthogonalToSTheFirstHalfIsKept) {
  // From b = (1, 0): v = (1, -1), alpha = 1, s = (0, 1), and A s = (1, 0) is orthogonal to s. The
  // first half gains nothing: |s| = |b|.
  const Outcome outcome = solve_small({1, 1, -1, 0}, {1, 0}, GetParam(), device);
  const Outcome host = solve_small({1, 1, -1, 0}, {1, 0}, "stepped", device);
  EXPECT_EQ(outcome.report.status, host.report.status) << outcome.report << "; " << host.report;
  EXPECT_EQ(outcome.report.detail, host.report.detail);
  EXPECT_EQ(outcome.report.iterations, host.report.iterations);
  EXPECT_EQ(outcome.history, host.history);
  EXPECT_EQ(outcome.x, host.x);
}

}  // namespace
}  // namespace bicgstab_gpu
