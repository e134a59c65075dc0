// Loops in graphs: with a WHILE node or replayed by the host, with kernels one after another or
// overlapped, every solve has the same bits.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_outcome.hpp"

namespace graph_loop_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

const char* const frames[] = {"loop=graph,launch=overlapped", "loop=replay,launch=serial",
                              "loop=replay,launch=overlapped"};

/// Compares every frame with the WHILE node whose kernels run one after another.
template <class E, template <class> class Method>
void expect_same_bits(const CsrMatrix<E>& matrix, const Field<E>& b, const std::string& plan,
                      bool jacobi, const Device& device, const SolverOptions& options = {}) {
  const Outcome expected =
      solve<Method>(matrix, b, plan + ",loop=graph,launch=serial", jacobi, device, options);
  EXPECT_EQ(expected.report.loop, "graph");
  for (const std::string frame : frames) {
    SCOPED_TRACE(plan + "," + frame + (jacobi ? ", Jacobi" : ""));
    const Outcome outcome = solve<Method>(matrix, b, plan + "," + frame, jacobi, device, options);
    EXPECT_EQ(outcome.report.loop, frame.substr(5, frame.find(',') - 5));
    EXPECT_EQ(name(outcome.report.status), name(expected.report.status)) << outcome.report;
    EXPECT_EQ(outcome.report.iterations, expected.report.iterations);
    EXPECT_EQ(outcome.report.restarts, expected.report.restarts);
    EXPECT_EQ(outcome.report.stored, expected.report.stored);
    // NaN differs from itself: no number may be NaN, not even if a solve ends with one.
    EXPECT_EQ(outcome.history, expected.history);
    EXPECT_EQ(outcome.x, expected.x);
  }
}

template <class E>
class GraphLoopOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(GraphLoopOnGpu, Entries);

const char* const layouts[] = {
    "C=32,T=4,sigma=n,inner=aosoa16,schedule=full", "C=1,schedule=full",
    "C=16,T=2,sigma=n,inner=soa,vector=soa,schedule=static,blocks=1,threads=64",
    "K2rs,schedule=dynamic,chunk=1"};

TYPED_TEST(GraphLoopOnGpu, ConjugateGradientHasTheSameBitsInEveryFrame) {
  using E = TypeParam;
  Seed seed(4101 + sizeof(E));
  for (const Index rows : {1, 700, 20011}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_positive_definite_matrix<E>(rows, std::min<Index>(rows, 7), seed.generator, 1.01);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* layout : layouts) {
      for (const char* reductions : {",reductions=2", ",reductions=1"}) {
        for (const bool jacobi : {false, true}) {
          expect_same_bits<E, ConjugateGradient>(matrix, b, std::string(layout) + reductions,
                                                 jacobi, this->device);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(GraphLoopOnGpu, BiCGStabHasTheSameBitsInEveryFrame) {
  using E = TypeParam;
  Seed seed(4102 + sizeof(E));
  for (const Index rows : {1, 700, 20011}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_dominant_matrix<E>({.rows = rows, .columns = rows}, seed.generator, 1.05);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* layout : layouts) {
      for (const char* recurrence : {",recurrence=ring", ",recurrence=real"}) {
        for (const bool jacobi : {false, true}) {
          expect_same_bits<E, BiCGStab>(matrix, b, std::string(layout) + recurrence, jacobi,
                                        this->device);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

class GraphLoops : public OnGpu {};

TEST_F(GraphLoops, IterationsOnACopyInFloatsHaveTheSameBitsInEveryFrame) {
  using E = quaternion<double>;
  Seed seed(4103);
  const auto matrix = random_positive_definite_matrix<E>(4001, 7, seed.generator);
  const Field<E> b = random_field<E>(4001, seed.generator);
  for (const bool jacobi : {false, true}) {
    expect_same_bits<E, ConjugateGradient>(matrix, b, "pJDS,T=4,stored=float", jacobi, device);
    expect_same_bits<E, BiCGStab>(matrix, b, "pJDS,T=4,stored=float", jacobi, device);
  }
}

/// Enough sums that a separate kernel adds them.
TEST_F(GraphLoops, ManySumsHaveTheSameBitsInEveryFrame) {
  using E = real<double>;
  constexpr Index rows = 600'000;
  Seed seed(4104);
  const auto matrix = random_positive_definite_matrix<E>(rows, 3, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const bool jacobi : {false, true}) {
    for (const char* reductions : {",reductions=2", ",reductions=1"}) {
      expect_same_bits<E, ConjugateGradient>(
          matrix, b, std::string("C=32,threads=64,schedule=full") + reductions, jacobi, device);
    }
    expect_same_bits<E, BiCGStab>(matrix, b, "C=32,threads=64,schedule=full", jacobi, device);
  }
}

/// Overlapped kernels might fail only rarely: thousands of iterations of one small and one medium
/// system, again and again.
TEST_F(GraphLoops, OverlappedKernelsRepeatTheirBits) {
  using E = block<double, 3, 3>;
  Seed seed(4105);
  SolverOptions options{.tolerance = 0, .max_iterations = 400};
  for (const Index rows : {1016, 60000}) {
    const auto matrix = random_positive_definite_matrix<E>(rows, 13, seed.generator, 1.0001);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* plan : {"pJDS,T=4,schedule=full,reductions=2",
                             "pJDS,T=4,schedule=full,reductions=1", "pJDS,schedule=static"}) {
      for (int repetition = 0; repetition < 3; ++repetition) {
        expect_same_bits<E, ConjugateGradient>(matrix, b, plan, repetition == 1, device, options);
        expect_same_bits<E, BiCGStab>(matrix, b, plan, repetition == 1, device, options);
        if (HasFailure()) return;
      }
    }
  }
}

/// Limits around the ends of bodies: the iterations launched beyond a limit do nothing.
TEST_F(GraphLoops, EndAfterExactlyAsManyIterationsAsAllowed) {
  using E = complex<double>;
  Seed seed(4106);
  const auto matrix = random_positive_definite_matrix<E>(500, 7, seed.generator, 1.0001);
  const Field<E> b = random_field<E>(500, seed.generator);
  for (const long long most : {1, 2, 3, 9, 10, 11, 12, 13, 20, 21, 22, 23, 42, 43, 61, 100}) {
    SCOPED_TRACE(most);
    const SolverOptions options{.tolerance = 0, .max_iterations = most};
    for (const std::string frame : frames) {
      SCOPED_TRACE(frame);
      for (const char* reductions : {",reductions=2", ",reductions=1"}) {
        const auto report = solve<ConjugateGradient>(matrix, b, "pJDS," + frame + reductions, false,
                                                     device, options)
                                .report;
        EXPECT_LE(report.iterations, most);
        if (report.status == Status::iteration_limit) {
          EXPECT_EQ(report.iterations, most);
        }
      }
    }
    expect_same_bits<E, ConjugateGradient>(matrix, b, "pJDS,reductions=2", false, device, options);
    expect_same_bits<E, ConjugateGradient>(matrix, b, "pJDS,reductions=1", true, device, options);
    expect_same_bits<E, BiCGStab>(matrix, b, "pJDS", true, device, options);
  }
}

TEST_F(GraphLoops, EndForEveryReasonInEveryFrame) {
  using E = complex<double>;
  Seed seed(4107);
  const auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const Field<E> b = random_field<E>(2000, seed.generator);
  auto negative = matrix;
  for (auto& value : negative.values()) value = -value;
  auto not_finite = matrix;
  not_finite.values()[7] = std::numeric_limits<double>::quiet_NaN();
  expect_same_bits<E, ConjugateGradient>(matrix, b, "pJDS", false, device, {.tolerance = 1e-300});
  expect_same_bits<E, ConjugateGradient>(matrix, b, "pJDS", false, device, {.tolerance = 0.9});
  for (const bool jacobi : {false, true}) {  // Jacobi finds it in the first kernel of a run
    expect_same_bits<E, ConjugateGradient>(negative, b, "pJDS", jacobi, device);
  }
  expect_same_bits<E, BiCGStab>(matrix, b, "pJDS", false, device, {.tolerance = 1e-300});
  expect_same_bits<E, BiCGStab>(matrix, b, "pJDS", false, device, {.tolerance = 0.9});
  for (const std::string frame : frames) {
    SCOPED_TRACE(frame);
    for (const char* reductions : {",reductions=2", ",reductions=1"}) {
      const std::string plan = "pJDS," + frame + reductions;
      const auto status_of = [&](const CsrMatrix<E>& of, const SolverOptions& options) {
        return solve<ConjugateGradient>(of, b, plan, false, device, options).report.status;
      };
      EXPECT_EQ(status_of(matrix, {.tolerance = 0, .time_limit = 0}), Status::time_limit);
      EXPECT_EQ(status_of(not_finite, {}), Status::not_finite);
    }
    const auto status_of = [&](const CsrMatrix<E>& of, const SolverOptions& options) {
      return solve<BiCGStab>(of, b, "pJDS," + frame, false, device, options).report.status;
    };
    EXPECT_EQ(status_of(matrix, {.tolerance = 0, .time_limit = 0}), Status::time_limit);
    EXPECT_EQ(status_of(not_finite, {}), Status::not_finite);
  }
}

/// A solver's graph is launched again, and captured again if x is another field.
TEST_F(GraphLoops, OneSolverSolvesAgain) {
  using E = quaternion<double>;
  Seed seed(4108);
  const auto matrix = random_positive_definite_matrix<E>(3001, 7, seed.generator);
  const Field<E> b = random_field<E>(3001, seed.generator);
  for (const std::string frame : frames) {
    SCOPED_TRACE(frame);
    const Operator<E> A(matrix, parse_plan("Sl-32,T=4," + frame), device);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    Field<E> there(3001, device), b_there(3001, device);
    copy<double>(b.view(), b_there.view(), device.stream());
    std::vector<double> first;
    for (int repetition = 0; repetition < 6; ++repetition) {
      Field<E> x(3001);
      if (repetition % 2 == 0) {
        ASSERT_TRUE(solver.solve(b.view(), x.view()).converged());
      } else {
        fill<double>(0, there.view(), device.stream());
        ASSERT_TRUE(solver.solve(b_there.view(), there.view()).converged());
        copy<double>(there.view(), x.view(), device.stream());
        device.synchronize();
      }
      const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
      if (first.empty()) first = scalars;
      EXPECT_EQ(scalars, first) << repetition;
    }
  }
}

}  // namespace
}  // namespace graph_loop_gpu
