// The first run of an enqueued solve, which is skipped where there is nothing to do, and
// preconditioners that are not renewed in its graph.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace enqueued_runs_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;
constexpr Index rows = 1000;
constexpr const char* plans[] = {"pJDS,T=4,loop=graph", "pJDS,T=4,loop=replay",
                                 "pJDS,T=4,loop=persistent"};

class EnqueuedRuns : public OnGpu {
 protected:
  DeviceReport solve(KrylovSolver<double>& solver, const Field<E>& b, Field<E>& x) {
    if (report_.size() == 0) report_ = Array<DeviceReport>(1, device);
    solver.enqueue(b.view(), x.view(), report_.data());
    return report_.to_host()[0];
  }
  Field<E> there(const Field<E>& field) {
    Field<E> copied(field.size(), device);
    copy<double>(field.view(), copied.view(), device.stream());
    device.synchronize();
    return copied;
  }

  Array<DeviceReport> report_;
};

TEST_F(EnqueuedRuns, AreSkippedWhereTheGuessWillDo) {
  Seed seed(6201);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = there(random_field<E>(rows, seed.generator));
  for (const std::string plan : plans) {
    for (const bool jacobi : {false, true}) {
      SCOPED_TRACE(plan + (jacobi ? ", Jacobi" : ""));
      const Operator<E> A(matrix, parse_plan(plan), device);
      const SolverOptions options{.record_history = true};
      const auto solver =
          jacobi ? std::make_unique<ConjugateGradient<double>>(A, Jacobi<E>(A), options)
                 : std::make_unique<ConjugateGradient<double>>(A, options);
      Field<E> x(rows, device);
      for (int repetition = 0; repetition < 3; ++repetition) {
        fill<double>(0.0, x.view(), device.stream());
        const DeviceReport found = solve(*solver, b, x);
        ASSERT_EQ(found.status, Status::converged);
        ASSERT_GT(found.iterations, 2);
        const Array<double> solution = x.to_host().scalars();
        const DeviceReport again = solve(*solver, b, x);
        EXPECT_EQ(again.status, Status::converged);
        EXPECT_EQ(again.iterations, 0);
        EXPECT_EQ(again.residual, found.residual);
        EXPECT_EQ(solver->enqueued_history().size(), 1u);
        const Array<double> kept = x.to_host().scalars();
        for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], solution[i]);
      }
    }
  }
}

TEST_F(EnqueuedRuns, TakeTheInversesOfTheCallWhereTheMatrixKeepsItsValues) {
  Seed seed(6202);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = there(random_field<E>(rows, seed.generator));
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> renewed(A, Jacobi<E>(A)), kept(A, Jacobi<E>(A, Refresh::each_call));
    const auto expect_alike = [&] {
      Field<E> x(rows, device), y(rows, device);
      const DeviceReport expected = solve(renewed, b, x), found = solve(kept, b, y);
      EXPECT_EQ(found.status, Status::converged);
      EXPECT_EQ(found.iterations, expected.iterations);
      const Array<double> of_x = x.to_host().scalars(), of_y = y.to_host().scalars();
      for (std::size_t i = 0; i < of_x.size(); ++i) ASSERT_EQ(of_y[i], of_x[i]);
    };
    expect_alike();
    auto changed = matrix;
    for (double& value : changed.values()) value *= 3;
    A.update_values(changed);
    expect_alike();
    for (double& value : changed.values()) value = 0;
    A.update_values(changed);
    Field<E> x(rows, device);
    expect_error(ErrorKind::singular,
                 "Jacobi: the diagonal entry of row 0 (counted from 0) is missing or singular",
                 [&] { solve(kept, b, x); });
    EXPECT_EQ(solve(renewed, b, x).status, Status::breakdown);
  }
}

}  // namespace
}  // namespace enqueued_runs_gpu
