// The first run of an enqueued solve, which is skipped if there is nothing to do, and
// preconditioners that are not renewed in its graph.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

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
    const auto expect_same = [&] {
      Field<E> x(rows, device), y(rows, device);
      const DeviceReport expected = solve(renewed, b, x), found = solve(kept, b, y);
      EXPECT_EQ(found.status, Status::converged);
      EXPECT_EQ(found.iterations, expected.iterations);
      const Array<double> of_x = x.to_host().scalars(), of_y = y.to_host().scalars();
      for (std::size_t i = 0; i < of_x.size(); ++i) ASSERT_EQ(of_y[i], of_x[i]);
    };
    expect_same();
    auto changed = matrix;
    for (double& value : changed.values()) value *= 3;
    A.update_values(changed);
    expect_same();
    for (double& value : changed.values()) value = std::nan("");
    A.update_values(changed);
    Field<E> x(rows, device);
    expect_error(ErrorKind::singular,
                 "Jacobi: the diagonal entry of row 0 (counted from 0) is not finite",
                 [&] { solve(kept, b, x); });
    EXPECT_EQ(solve(renewed, b, x).status, Status::not_finite);
  }
}

/// In the operator's basis: an image replaces the product of A and the guess, also if it is wrong.
TEST_F(EnqueuedRuns, BeginFromAKnownImage) {
  Seed seed(6203);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b_there = there(random_field<E>(rows, seed.generator));
  const Field<E> guess_there = there(random_field<E>(rows, seed.generator));
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), device);
    Field<E> b = A.field(), x = A.field(), image = A.field(), guess = A.field();
    permute<double>(b_there.view(), b.view(), 1, device.stream());
    permute<double>(guess_there.view(), guess.view(), 1, device.stream());
    const auto multiply = [&](const Field<E>& from, Field<E>& to) {
      A.apply(1, from.view(), 0, to.view(), device.stream());
    };
    multiply(guess, image);
    ConjugateGradient<double> known(A, Jacobi<E>(A)), unknown(A, Jacobi<E>(A));
    known.set_image_of_guess(image.view());
    x = guess;
    const DeviceReport expected = solve(unknown, b, x);
    x = guess;
    const DeviceReport found = solve(known, b, x);
    EXPECT_EQ(found.status, Status::converged);
    EXPECT_NEAR(static_cast<double>(found.iterations), static_cast<double>(expected.iterations), 1);
    EXPECT_LE(found.residual, 1e-10);
    multiply(x, image);
    EXPECT_EQ(solve(known, b, x).iterations, 0);
    image = b;
    x = guess;
    const DeviceReport misled = solve(known, b, x);
    EXPECT_EQ(misled.status, Status::converged);
    EXPECT_GT(misled.iterations, 2);
    EXPECT_LE(misled.residual, 1e-10);
    // The reported b - A x matches the field.
    multiply(x, image);
    const Array<double> right = b.to_host().scalars(), product = image.to_host().scalars();
    std::vector<double> r(product.size());
    detail::copy_bytes(r.data(), known.residual().data, r.size() * sizeof(double), device.stream());
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(r[i], right[i] - product[i], 1e-11);
  }
}

}  // namespace
}  // namespace enqueued_runs_gpu
