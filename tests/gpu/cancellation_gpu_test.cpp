// Long solves, ended by their observer or by the clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace cancellation_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = real<double>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// -u'' on a line: conjugate gradient needs as many iterations as there are rows, and more because
/// of rounding.
CsrMatrix<E> line(Index rows) {
  Pattern pattern{rows, rows, {0}, {}};
  std::vector<E> entries;
  for (Index row = 0; row < rows; ++row) {
    for (Index column = std::max(0, row - 1); column <= std::min(rows - 1, row + 1); ++column) {
      pattern.column.push_back(column);
      entries.push_back({column == row ? 2.0 : -1.0});
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return matrix_of(pattern, entries);
}

class CancellationOnGpu : public OnGpu {
 protected:
  static constexpr Index rows = 200000;
  static constexpr double generous = 2;  // seconds, twenty times the aim

  /// Endless: no residual is within a tolerance of 0.
  static SolverOptions endless() {
    SolverOptions options;
    options.tolerance = 0;
    options.max_iterations = 1'000'000'000;
    return options;
  }

  template <class Solver>
  void expect_obeys(const char* loop, const CsrMatrix<E>& matrix, const Field<E>& b) const {
    SCOPED_TRACE(loop);
    const Operator<E> A(matrix, parse_plan(std::string("Sl-32,") + loop), device);
    Solver solver(A, endless());
    const auto solve = [&] {
      Field<E> x(rows);
      return solver.solve(b.view(), x.view());
    };
    const auto set = [&](const auto& change) {
      SolverOptions options = endless();
      change(options);
      solver.set_options(options);
    };
    set([](SolverOptions& options) { options.max_iterations = 3; });
    EXPECT_EQ(solve().status, Status::iteration_limit);

    Clock::time_point wish;
    const Clock::time_point start = Clock::now();
    set([&](SolverOptions& options) {
      options.observer = [&](const SolveProgress&) {
        if (seconds_since(start) < 0.2) return true;
        wish = Clock::now();
        return false;
      };
    });
    const Report cancelled = solve();
    const double late = seconds_since(wish);
    EXPECT_EQ(cancelled.status, Status::cancelled) << cancelled;
    EXPECT_LT(late, generous);
    std::printf("%s: cancelled %.1f ms after the wish, in %lld iterations\n", loop, late * 1e3,
                cancelled.iterations);

    set([](SolverOptions& options) { options.time_limit = 0.2; });
    const Report limited = solve();
    EXPECT_EQ(limited.status, Status::time_limit) << limited;
    EXPECT_FALSE(!(limited.iterate_seconds >= 0.15));
    EXPECT_LT(limited.iterate_seconds, 0.2 + generous);
    std::printf("%s: %.1f ms for a time limit of 200 ms\n", loop, limited.iterate_seconds * 1e3);

    // An exception from an observer ends the solve too, but not before the GPU has finished.
    set([&](SolverOptions& options) {
      options.observer = [](const SolveProgress&) -> bool { throw std::runtime_error("enough"); };
    });
    const Clock::time_point throwing = Clock::now();
    EXPECT_THROW(solve(), std::runtime_error);
    EXPECT_LT(seconds_since(throwing), generous);

    set([](SolverOptions& options) { options.max_iterations = 3; });
    EXPECT_EQ(solve().status, Status::iteration_limit);
  }
};

TEST_F(CancellationOnGpu, ConjugateGradient) {
  Seed seed(3301);
  const auto matrix = line(rows);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* loop : {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"}) {
    expect_obeys<ConjugateGradient<double>>(loop, matrix, b);
  }
}

TEST_F(CancellationOnGpu, BiCGStab) {
  Seed seed(3302);
  const auto matrix = line(rows);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* loop : {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"}) {
    expect_obeys<BiCGStab<double>>(loop, matrix, b);
  }
}

/// Iterations take milliseconds: each of them checks for the request to stop.
TEST_F(CancellationOnGpu, ALargeSystem) {
  const long long needed = 14LL << 30;
  if (device.available_memory() < needed) GTEST_SKIP() << "needs 14 GiB of the GPU's memory";
  constexpr Index n = 40'000'000;
  const auto matrix = line(n);
  Field<E> b(n);
  for (Index i = 0; i < n; ++i) b.scalars()[static_cast<std::size_t>(i)] = i % 7 - 3;
  const Operator<E> A(matrix, parse_plan("Sl-32,loop=graph"), device);
  SolverOptions options = endless();
  Clock::time_point wish;
  options.observer = [&](const SolveProgress& now) {
    wish = Clock::now();
    return now.iteration < 10;
  };
  ConjugateGradient<double> solver(A, options);
  Field<E> x(n, device), b_there(n, device);
  copy<double>(b.view(), b_there.view(), device.stream());
  const Report report = solver.solve(b_there.view(), x.view());
  const double late = seconds_since(wish);
  EXPECT_EQ(report.status, Status::cancelled) << report;
  EXPECT_GE(report.bytes_per_iteration, 1LL << 30);
  EXPECT_LT(late, generous);
  std::printf("40 million rows: cancelled %.1f ms after the wish\n", late * 1e3);
}

}  // namespace
}  // namespace cancellation_gpu
