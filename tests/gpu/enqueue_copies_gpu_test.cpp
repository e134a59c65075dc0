// Enqueued solves that iterate on a copy of the matrix in floats.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/enqueued.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace enqueue_copies_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using EnqueuedOnACopy = EnqueuedOnGpu;
constexpr const char* refining_loops[] = {
    "pJDS,T=4,stored=float,loop=graph", "C=32,inner=soa,stored=float,loop=graph,reductions=1",
    "C=16,schedule=dynamic,vector=soa,stored=float,loop=graph",
    "pJDS,T=4,stored=float,loop=persistent"};

/// Runs read the matrix in floats, and are refined on the matrix itself.
TEST_F(EnqueuedOnACopy, RefineWhatACopyHasFound) {
  Seed seed(3121);
  SolverOptions options;
  options.tolerance = 1e-12;
  options.record_history = true;
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* plan : refining_loops) {
    for (const bool jacobi : {false, true}) {
      expect_as_solve<E, ConjugateGradient>(matrix, plan, jacobi, options, b, Field<E>(rows),
                                            device);
      expect_as_solve<E, BiCGStab>(matrix, plan, jacobi, options, b,
                                   random_field<E>(rows, seed.generator), device);
    }
    for (const SolverOptions& other :
         {SolverOptions{.max_iterations = 3}, SolverOptions{.tolerance = 0.9999},
          SolverOptions{.tolerance = 0, .absolute_tolerance = 1e-6}}) {
      expect_as_solve<E, ConjugateGradient>(matrix, plan, false, other, b, Field<E>(rows), device);
    }
    if (HasFailure()) return;
  }
}

/// A chain of springs whose stiffnesses floats cannot represent, on ground so soft that in floats
/// it is a different system.
CsrMatrix<real<double>> soft_chain(Index rows, double ground, Generator& generator) {
  std::uniform_real_distribution<double> stiffness(1, 2);
  std::vector<double> spring(static_cast<std::size_t>(rows) + 1, 0.0);
  for (Index i = 1; i < rows; ++i) spring[static_cast<std::size_t>(i)] = stiffness(generator);
  auto chain = long_chain(rows);
  for (Index i = 0; i < rows; ++i) {
    const double before = spring[static_cast<std::size_t>(i)];
    const double after = spring[static_cast<std::size_t>(i) + 1];
    for (Offset at = chain.offsets()[i]; at < chain.offsets()[i + 1]; ++at) {
      const Index j = chain.column()[at];
      chain.values()[at] = j < i ? -before : j > i ? -after : before + after + ground;
    }
  }
  return chain;
}

/// If a copy in floats fails, a loop over the matrix itself continues.
TEST_F(EnqueuedOnACopy, GoOnWithTheMatrixWhereFloatsDoNotSuffice) {
  constexpr Index length = 100;
  Seed seed(3122);
  const auto matrix = soft_chain(length, 1e-8, seed.generator);
  auto negative = matrix;
  for (double& value : negative.values()) value = -value;
  const Field<real<double>> b = random_field<real<double>>(length, seed.generator);
  const Field<real<double>> b_there = on_gpu(b, device);
  const Operator<real<double>> on_cpu(matrix, Plan{});
  for (const char* plan : refining_loops) {
    for (const auto& [bicgstab, checks] : {std::pair(false, true), {true, true}, {false, false}}) {
      SCOPED_TRACE(std::string(plan) + (bicgstab ? ", BiCGStab" : "") +
                   (checks ? "" : ", unchecked"));
      const SolverOptions options{.tolerance = 1e-5, .checks = checks};
      const auto make =
          [&](const Operator<real<double>>& of) -> std::unique_ptr<KrylovSolver<double>> {
        const Jacobi<real<double>> jacobi(of);
        if (bicgstab) return std::make_unique<BiCGStab<double>>(of, jacobi, options);
        return std::make_unique<ConjugateGradient<double>>(of, jacobi, options);
      };
      const Operator<real<double>> A(matrix, parse_plan(plan), device);
      const auto solver = make(A);
      Field<real<double>> x(length, device), waited(length, device);
      const PinnedReport report;
      for (int repetition = 0; repetition < 3; ++repetition) {
        fill<double>(0.0, x.view(), device.stream());
        solver->enqueue(b_there.view(), x.view(), report.get());
        const DeviceReport found = report.after(device);
        ASSERT_EQ(name(found.status), name(Status::converged));
        EXPECT_EQ(found.stored, StoredScalar::own);
        EXPECT_GE(found.restarts, 1);
        const Field<real<double>> solution = x.to_host();
        Field<real<double>> r(length);
        Reduction<double> reduction(length);
        const double residual =
            std::sqrt(on_cpu.residual(b.view(), solution.view(), r.view(), reduction, Stream{}));
        EXPECT_FALSE(!(residual <= 1.001e-5 * norm<double>(b.view(), Stream{}))) << residual;
        // In between, a host-driven solve also leaves the copy, in its own way.
        fill<double>(0.0, waited.view(), device.stream());
        const Report of_solve = solver->solve(b_there.view(), waited.view());
        EXPECT_TRUE(of_solve.converged()) << of_solve;
        EXPECT_EQ(of_solve.stored, "own");
      }
      if (bicgstab) continue;
      const Operator<real<double>> N(negative, parse_plan(plan), device);
      ConjugateGradient<double> indefinite(N);
      fill<double>(0.0, x.view(), device.stream());
      indefinite.enqueue(b_there.view(), x.view(), report.get());
      EXPECT_EQ(report.after(device).status, Status::indefinite);
      EXPECT_EQ(report.get()->stored, StoredScalar::own);
    }
  }
}

TEST_F(EnqueuedOnACopy, BecomePartOfACallersGraph) {
  Seed seed(3123);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : refining_loops) {
    SCOPED_TRACE(plan);
    Operator<E> A(matrix, parse_plan(plan), own);
    ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-12});
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), own);
    Field<E> x(rows, own);
    const Array<double> values(std::span<const double>(matrix.values()), own);
    const PinnedReport report;
    solver.prepare_enqueue(b.view(), x.view(), report.get());
    own.synchronize();
    const OwnGraph graph(stream.get(), [&] { solver.enqueue(b.view(), x.view(), report.get()); });
    for (int replay = 0; replay < 3; ++replay) {
      A.update_values(values);
      fill<double>(0.0, x.view(), own.stream());
      graph.launch(stream.get());
      const DeviceReport found = report.after(own);
      EXPECT_EQ(found.status, Status::converged);
      EXPECT_EQ(found.stored, StoredScalar::single);
      EXPECT_FALSE(!(found.residual <= 1e-12));
    }
    const OwnGraph refused(stream.get(), [&] {
      expect_error(
          ErrorKind::unsupported,
          "new values under an iteration-precision other than full cannot become part of a "
          "graph: pass them before its launch, or leave iteration-precision out of the plan",
          [&] { A.update_values(values); });
    });
  }
}

}  // namespace
}  // namespace enqueue_copies_gpu
