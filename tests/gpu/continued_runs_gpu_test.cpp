// Conjugate gradient runs over a copy of the matrix on a GPU, each of which continues the run
// before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/enqueued.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/grid_of_cells.hpp"

namespace continued_runs_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;
using E = quaternion<double>;

class ContinuedRunsOnGpu : public OnGpu {};

constexpr Index n = 40;
const char* const loops[] = {"loop=stepped", "loop=graph", "loop=replay",
                             "loop=graph,launch=overlapped", "loop=graph,fused-updates=on"};

/// If the copy is exact, the iterations equal those of one run, however many runs there are.
TEST_F(ContinuedRunsOnGpu, AreOneRunWhereTheCopyIsExact) {
  Seed seed(2741);
  const CsrMatrix<E> matrix = grid_of_cells<E>(n, [](Index) { return 0.0; });
  const Field<E> b = random_field<E>(n * n, seed.generator);
  const SolverOptions options{.tolerance = 1e-10};
  for (const bool jacobi : {false, true}) {
    for (const char* loop : loops) {
      const auto solve = [&](const std::string& kept) {
        const Operator<E> A(matrix, parse_plan("C=32," + std::string(loop) + kept), device);
        ConjugateGradient<double> solver = jacobi
                                               ? ConjugateGradient<double>(A, Jacobi<E>(A), options)
                                               : ConjugateGradient<double>(A, options);
        Field<E> x(n * n);
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
        return report;
      };
      SCOPED_TRACE(std::string(loop) + (jacobi ? ", Jacobi" : ""));
      const Report alone = solve("");
      for (const char* kept : {"single", "half", "scaled"}) {
        const Report report = solve(",iteration-precision=" + std::string(kept));
        EXPECT_GE(report.restarts, kept == std::string("single") ? 3 : 15) << report;
        EXPECT_NE(report.stored, "own");
        EXPECT_LE(report.iterations, alone.iterations + 2) << alone;
      }
    }
  }
}

/// An enqueued solve matches one driven by the host, and so does its second launch, whose fields
/// hold a direction of the first.
TEST_F(ContinuedRunsOnGpu, AreTheSameInStreamOrder) {
  Seed seed(2742);
  const CsrMatrix<E> matrix = grid_of_cells<E>(n, [](Index) { return 0.0; });
  const Field<E> b = random_field<E>(n * n, seed.generator);
  SolverOptions options{.tolerance = 1e-10};
  options.record_history = true;
  for (const char* kept : {"single", "half", "scaled"}) {
    for (const bool jacobi : {false, true}) {
      expect_as_solve<E, ConjugateGradient>(
          matrix, "C=32,loop=graph,iteration-precision=" + std::string(kept), jacobi, options, b,
          Field<E>(n * n), device);
    }
  }
}

}  // namespace
}  // namespace continued_runs_gpu
