// Chebyshev's and Richardson's iterations on a GPU: the same steps as on the CPU in every form of
// the loop, and enqueued solves that follow the interval of new values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heddle/chebyshev_iteration.hpp"
#include "heddle/jacobi.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace chebyshev_iteration_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

const char* const loops[] = {"loop=stepped",
                             "loop=graph",
                             "loop=graph,fused-updates=on",
                             "loop=graph,launch=overlapped",
                             "loop=replay,launch=overlapped,reductions=1",
                             "loop=persistent"};
const char* const layouts[] = {"C=32,T=4,sigma=n,inner=aosoa16", "C=16,T=2,sigma=n,vector=soa"};

template <class E>
void expect_near(const Field<E>& found, const Field<E>& expected) {
  using S = vector_scalar_t<E>;
  double error = 0, size = 0;
  for (std::size_t i = 0; i < expected.scalars().size(); ++i) {
    const double value = double(expected.scalars()[i]);
    const double difference = double(found.scalars()[i]) - value;
    error += difference * difference;
    size += value * value;
  }
  EXPECT_FALSE(
      !(std::sqrt(error) <= 100 * double(std::numeric_limits<S>::epsilon()) * std::sqrt(size)))
      << std::sqrt(error / size);
}

template <class E>
class ChebyshevIterationOnGpu : public OnGpu {
 protected:
  using S = vector_scalar_t<E>;

  template <class Solver>
  static std::unique_ptr<Solver> make(const Operator<E>& A, bool jacobi,
                                      const SolverOptions& options) {
    return jacobi ? std::make_unique<Solver>(A, Jacobi<E>(A), options)
                  : std::make_unique<Solver>(A, options);
  }
  /// Takes a few steps, and again enqueued, with the same bits.
  template <class Solver>
  void expect_steps(const CsrMatrix<E>& matrix, const Field<E>& b, SolverOptions options) {
    options.tolerance = 0;
    options.checks = false;
    for (const bool jacobi : {false, true}) {
      for (const int steps : {1, 2, 7}) {
        options.max_iterations = steps;
        Field<E> expected(b.size());
        make<Solver>(Operator<E>(matrix, parse_plan(layouts[0])), jacobi, options)
            ->solve(b.view(), expected.view());
        for (const char* layout : layouts) {
          for (const char* loop : loops) {
            SCOPED_TRACE(std::string(layout) + "," + loop + (jacobi ? ", Jacobi, " : ", ") +
                         std::to_string(steps));
            const Operator<E> A(matrix, parse_plan(std::string(layout) + "," + loop), this->device);
            const auto solver = make<Solver>(A, jacobi, options);
            Field<E> x(b.size());
            const Report report = solver->solve(b.view(), x.view());
            EXPECT_EQ(report.status, Status::iteration_limit) << report;
            EXPECT_EQ(report.iterations, steps);
            expect_near(x, expected);
            if (std::string(loop) == "loop=stepped") continue;
            Field<E> right(b.size(), this->device), there(b.size(), this->device);
            copy<S>(b.view(), right.view(), this->device.stream());
            Array<DeviceReport> enqueued(1, this->device);
            solver->enqueue(right.view(), there.view(), enqueued.data());
            EXPECT_EQ(enqueued.to_host()[0].iterations, steps);
            const Field<E> back = there.to_host();
            EXPECT_EQ(std::vector<S>(back.scalars().begin(), back.scalars().end()),
                      std::vector<S>(x.scalars().begin(), x.scalars().end()));
          }
        }
      }
    }
  }
};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(ChebyshevIterationOnGpu, Entries);

TYPED_TEST(ChebyshevIterationOnGpu, TakesTheStepsOfTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(5131);
  const auto matrix = random_positive_definite_matrix<E>(1501, 7, seed.generator);
  const Field<E> b = random_field<E>(1501, seed.generator);
  const SpectralInterval given{0.5, 60};
  this->template expect_steps<ChebyshevIteration<S>>(matrix, b, {.interval = given});
  this->template expect_steps<Richardson<S>>(matrix, b, {.interval = given});
  this->template expect_steps<Richardson<S>>(matrix, b, {.omega = 0.02});
}

class ChebyshevIterations : public OnGpu {};

TEST_F(ChebyshevIterations, EnqueuedFollowTheValues) {
  using E = complex<double>;
  constexpr Index rows = 900;
  Seed seed(5132);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  auto larger = matrix;
  for (double& value : larger.values()) value *= 1000;
  for (const bool jacobi : {false, true}) {
    SCOPED_TRACE(jacobi ? "Jacobi" : "none");
    Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), device);
    const auto solver = jacobi ? std::make_unique<ChebyshevIteration<double>>(A, Jacobi<E>(A))
                               : std::make_unique<ChebyshevIteration<double>>(A);
    Field<E> b(rows, device), x(rows, device);
    const Field<E> right = random_field<E>(rows, seed.generator);
    copy<double>(right.view(), b.view(), device.stream());
    Array<DeviceReport> report(1, device);
    const auto solve = [&] {
      fill<double>(0, x.view(), device.stream());
      solver->enqueue(b.view(), x.view(), report.data());
      return report.to_host()[0];
    };
    const DeviceReport first = solve();
    EXPECT_EQ(first.status, Status::converged);
    const double upper = solver->interval()->upper;
    A.update_values(larger);
    const DeviceReport second = solve();
    EXPECT_EQ(second.status, Status::converged);
    EXPECT_LE(std::abs(second.iterations - first.iterations), 1);
    const double ratio = jacobi ? 1 : 1000;
    EXPECT_NEAR(solver->interval()->upper, ratio * upper, 1e-9 * ratio * upper);
  }
}

TEST_F(ChebyshevIterations, EndForEveryReason) {
  using E = real<double>;
  Seed seed(5133);
  const auto matrix = random_positive_definite_matrix<E>(500, 7, seed.generator);
  auto negative = matrix;
  for (double& value : negative.values()) value = -value;
  const Field<E> b = random_field<E>(500, seed.generator);
  for (const char* loop : loops) {
    SCOPED_TRACE(loop);
    const auto status = [&](const CsrMatrix<E>& of, const SolverOptions& options) {
      const Operator<E> A(of, parse_plan(std::string("pJDS,") + loop), device);
      ChebyshevIteration<double> solver(A, options);
      Field<E> x(500);
      const Report report = solver.solve(b.view(), x.view());
      if (std::string(loop) == "loop=stepped") return report.status;
      Field<E> right(500, device), there(500, device);
      copy<double>(b.view(), right.view(), device.stream());
      Array<DeviceReport> enqueued(1, device);
      solver.enqueue(right.view(), there.view(), enqueued.data());
      EXPECT_EQ(enqueued.to_host()[0].status, report.status);
      return report.status;
    };
    EXPECT_EQ(status(matrix, {}), Status::converged);
    EXPECT_EQ(status(negative, {}), Status::indefinite);
    EXPECT_EQ(status(matrix, {.interval = SpectralInterval{0.01, 0.1}}), Status::stagnated);
    EXPECT_EQ(status(matrix, {.max_iterations = 3}), Status::iteration_limit);
  }
}

}  // namespace
}  // namespace chebyshev_iteration_gpu
