// Enqueued solves as part of a caller's graph, and refused misuse.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/enqueued.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace enqueue_capture_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using CapturedSolves = EnqueuedOnGpu;

/// The caller's graph: new values, then the solve. Replays with other data solve that other system.
TEST_F(CapturedSolves, BecomePartOfTheCallersGraph) {
  Seed seed(3115);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto first = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : {both_loops[0], both_loops[1], "C=32,schedule=dynamic,loop=graph"}) {
    for (const bool bicgstab : {false, true}) {
      if (bicgstab && std::string(plan).find("graph") == std::string::npos) continue;
      SCOPED_TRACE(std::string(plan) + (bicgstab ? ", BiCGStab" : ""));
      Operator<E> A(first, parse_plan(plan), own);
      std::unique_ptr<KrylovSolver<double>> solver;
      if (bicgstab) {
        solver = std::make_unique<BiCGStab<double>>(A, Jacobi<E>(A));
      } else {
        solver = std::make_unique<ConjugateGradient<double>>(A, Jacobi<E>(A));
      }
      Array<double> values(std::span<const double>(first.values()), own);
      Field<E> b(rows, own), x(rows, own);
      const PinnedReport report;
      const auto queue = [&] {
        A.update_values(values);
        solver->enqueue(b.view(), x.view(), report.get());
      };
      solver->prepare_enqueue(b.view(), x.view(), report.get());
      own.synchronize();
      const OwnGraph graph(stream.get(), queue);
      if (HasFailure()) return;
      EXPECT_TRUE(solver->enqueued_history().empty());
      for (int replay = 0; replay < 3; ++replay) {
        SCOPED_TRACE(replay);
        auto matrix = first;
        const double factor = 1 + replay;
        for (double& value : matrix.values()) value *= factor;
        const Field<E> new_b = random_field<E>(rows, seed.generator);
        const Field<E> guess = random_field<E>(rows, seed.generator);
        detail::copy_bytes(values.data(), matrix.values().data(), values.size() * sizeof(double),
                           own.stream());
        assign(b, new_b);
        assign(x, guess);
        graph.launch(stream.get());
        const DeviceReport found = report.after(own);
        EXPECT_EQ(found.status, Status::converged);
        EXPECT_GT(found.iterations, 0);
        // Compare with another solver for that matrix.
        const Operator<E> B(matrix, parse_plan(plan), own);
        ConjugateGradient<double> other(B);
        Field<E> expected(rows);
        ASSERT_TRUE(other.solve(new_b.view(), expected.view()).converged());
        EXPECT_FALSE(!(distance(x.to_host().scalars(), expected.scalars()) <= 1e-8));
      }
    }
  }
}

/// Solves in between may have an observer; the graph is not affected.
TEST_F(CapturedSolves, OutliveOtherSolvesWithAnObserver) {
  Seed seed(3118);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), own);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), own);
    const Field<E> other_b = on_gpu(random_field<E>(rows, seed.generator), own);
    Field<E> x(rows, own), expected(rows, own);
    ASSERT_TRUE(solver.solve(b.view(), expected.view()).converged());
    const PinnedReport report;
    // A fast solve may end before its observer is called.
    const auto solve_observed = [&] {
      SolverOptions options = solver.options();
      options.observer = [](const SolveProgress&) { return true; };
      solver.set_options(options);
      Field<E> other(rows, own);
      EXPECT_TRUE(solver.solve(other_b.view(), other.view()).converged());
      options.observer = nullptr;
      solver.set_options(options);
    };
    solver.prepare_enqueue(b.view(), x.view(), report.get());
    solve_observed();
    const OwnGraph graph(stream.get(), [&] { solver.enqueue(b.view(), x.view(), report.get()); });
    if (HasFailure()) return;
    for (int replay = 0; replay < 3; ++replay) {
      SCOPED_TRACE(replay);
      assign(x, Field<E>(rows));
      graph.launch(stream.get());
      EXPECT_EQ(report.after(own).status, Status::converged);
      EXPECT_EQ(distance(x.to_host().scalars(), expected.to_host().scalars()), 0);
      solve_observed();
    }
  }
}

TEST_F(CapturedSolves, NeedPreparationBeforeACapture) {
  Seed seed(3116);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan(both_loops[0]), own);
  ConjugateGradient<double> solver(A);
  const Field<E> b(rows, own);
  Field<E> x(rows, own), other(rows, own);
  const PinnedReport report;
  const auto kind_of = [&](Field<E>& into) {
    try {
      solver.enqueue(b.view(), into.view(), report.get());
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  own.synchronize();
  const OwnGraph first(stream.get(), [&] { EXPECT_EQ(kind_of(x), ErrorKind::usage); });
  solver.prepare_enqueue(b.view(), x.view(), report.get());
  const OwnGraph second(stream.get(), [&] {
    EXPECT_EQ(kind_of(other), ErrorKind::usage);
    solver.enqueue(b.view(), x.view(), report.get());
  });
  second.launch(stream.get());
  EXPECT_EQ(report.after(own).status, Status::converged);
}

TEST_F(CapturedSolves, RefuseWhatTheyCannotDo) {
  Seed seed(3117);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
  Field<E> x(rows, device);
  const PinnedReport report;
  const auto kind_of = [&](KrylovSolver<double>& solver, const Field<E>& right, DeviceReport* to) {
    try {
      solver.enqueue(right.view(), x.view(), to);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  const Operator<E> stepped(matrix, parse_plan("pJDS,loop=stepped"), device);
  ConjugateGradient<double> by_steps(stepped);
  EXPECT_EQ(kind_of(by_steps, b, report.get()), ErrorKind::unsupported);
  const Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), device);
  ConjugateGradient<double> observed(A, {.observer = [](const SolveProgress&) { return true; }});
  EXPECT_EQ(kind_of(observed, b, report.get()), ErrorKind::unsupported);
  ConjugateGradient<double> solver(A);
  EXPECT_EQ(kind_of(solver, Field<E>(rows), report.get()), ErrorKind::usage);
  DeviceReport on_host;
  EXPECT_EQ(kind_of(solver, b, &on_host), ErrorKind::usage);
  EXPECT_EQ(kind_of(solver, b, nullptr), ErrorKind::usage);
  EXPECT_EQ(kind_of(solver, Field<E>(rows - 1, device), report.get()), ErrorKind::size_mismatch);
}

}  // namespace
}  // namespace enqueue_capture_gpu
