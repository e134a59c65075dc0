// Limits of solves on ranks: for a solve within a solve, and for one of several systems; ranks
// without rows.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/operator.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/on_ranks.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::rank_limits {
namespace {

using E = real<double>;
using Fields = std::vector<FieldView<double>>;
constexpr Index rows = 4 * 256;
constexpr std::size_t systems = 2;

CsrMatrix<E> matrix_for_tests() {
  Seed seed(70);
  return random_system<E>(rows, 2, 0.01, 0, seed.generator).matrix;
}

FieldView<double> view(std::vector<double>& data) {
  return {data.data(), static_cast<Index>(data.size())};
}

/// The report of each rank for FGMRES with preconditioners that are solves too.
std::array<Report, 3> nested(const std::function<void(int, SolverOptions&, SolverOptions&)>& set) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  std::array<Report, 3> reports;
  run_on_ranks(3, [&](Communicator& ranks) {
    const std::shared_ptr<const LinearOperator<double>> A =
        part_of(matrix, Partition::even(rows, 3), ranks);
    SolverOptions outer, inner;
    inner.tolerance = 0.5;
    set(ranks.rank(), outer, inner);
    Fgmres<double> solver(A,
                          std::make_shared<SolverPreconditioner<double>>(
                              std::make_shared<ConjugateResidual<double>>(A, inner)),
                          outer);
    std::vector<double> b(static_cast<std::size_t>(A->rows()), 1), x(b.size());
    reports[static_cast<std::size_t>(ranks.rank())] = solver.solve(view(b), view(x));
  });
  for (const Report& report : reports) {
    EXPECT_EQ(report.iterations, reports[0].iterations);
    EXPECT_EQ(report.residual, reports[0].residual);
  }
  return reports;
}

TEST(NestedSolvesOfRanks, EndByTheOuterClock) {
  for (const Report& report : nested([](int rank, SolverOptions& outer, SolverOptions&) {
         if (rank == 1) outer.time_limit = 0;
       })) {
    EXPECT_EQ(report.status, Status::time_limit);
  }
}

TEST(NestedSolvesOfRanks, HearAnObserverThatRefusesOnce) {
  for (const Report& report : nested([](int rank, SolverOptions& outer, SolverOptions& inner) {
         inner.tolerance = 0.9;
         outer.tolerance = 1e-13;
         if (rank != 2) return;
         outer.observer = [refused = false](const SolveProgress& now) mutable {
           const bool refuses = !refused && now.iteration == 2 && now.inner_iterations == 0;
           refused = refused || refuses;
           return !refuses;
         };
       })) {
    EXPECT_EQ(report.status, Status::cancelled);
  }
}

TEST(NestedSolvesOfRanks, KeepAnInnerClockInside) {
  for (const Report& report : nested([](int rank, SolverOptions&, SolverOptions& inner) {
         if (rank == 0) inner.time_limit = 0;
       })) {
    EXPECT_TRUE(report.solved()) << name(report.status);
  }
}

struct Several {
  std::array<std::vector<double>, systems> x;
  std::vector<Report> reports;
};

/// Solves two systems, with an observer on one rank.
Several several(const std::shared_ptr<const LinearOperator<double>>& A,
                const std::function<bool(const SolveProgress&)>& observer) {
  Several all;
  SolverOptions options;
  options.observer = observer;
  ConjugateGradient<double> solver(A, options);
  std::array<std::vector<double>, systems> b;
  std::vector<FieldView<const double>> rights;
  Fields lefts;
  for (std::size_t k = 0; k < systems; ++k) {
    b[k].assign(static_cast<std::size_t>(A->rows()), 1 + static_cast<double>(k));
    all.x[k].assign(b[k].size(), 0);
    rights.push_back(view(b[k]));
    lefts.push_back(view(all.x[k]));
  }
  all.reports = solver.solve(rights, lefts);
  return all;
}

TEST(SystemsOfRanks, EndForThemselves) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  const auto refuses_first = [](const SolveProgress& now) {
    return now.system != 0 || now.iteration < 3;
  };
  for (const int count : {1, 3}) {
    std::vector<Several> found(static_cast<std::size_t>(count));
    const Partition partition = Partition::even(rows, count);
    run_on_ranks(count, [&](Communicator& ranks) {
      const auto A = part_of(matrix, partition, ranks);
      const bool watches = ranks.rank() == count - 1;
      found[static_cast<std::size_t>(ranks.rank())] =
          several(A, watches ? std::function<bool(const SolveProgress&)>(refuses_first) : nullptr);
    });
    for (const Several& of_rank : found) {
      EXPECT_EQ(of_rank.reports[0].status, Status::cancelled);
      EXPECT_TRUE(of_rank.reports[1].solved());
    }
  }
}

TEST(RanksWithoutRows, PreconditionAsOneProcess) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  std::vector<double> b(rows, 1), alone(rows);
  const auto made = [](const auto& A, int kind) -> std::shared_ptr<Preconditioner<double>> {
    const std::shared_ptr<const LinearOperator<double>> base = A;
    if (kind == 0) return std::make_shared<Chebyshev<double>>(base);
    return std::make_shared<Neumann<double>>(base);
  };
  SolverOptions few;
  few.max_iterations = 8;
  for (const int kind : {0, 1}) {
    const auto A = std::make_shared<Operator<E>>(matrix, Plan{}, Device::cpu(1));
    alone.assign(rows, 0);
    const Report expected =
        Fgmres<double>(std::shared_ptr<const LinearOperator<double>>(A), made(A, kind), few)
            .solve(view(b), view(alone));
    for (const Partition& partition : {Partition({0, 0, 512, rows}), Partition({0, 512, 512, rows}),
                                       Partition({0, 512, rows, rows})}) {
      std::vector<double> x(rows);
      run_on_ranks(3, [&](Communicator& ranks) {
        const auto part = part_of(matrix, partition, ranks);
        Fgmres<double> solver(std::shared_ptr<const LinearOperator<double>>(part), made(part, kind),
                              few);
        const Report report = solver.solve(rows_of<const double>(view(b), partition, ranks.rank()),
                                           rows_of(view(x), partition, ranks.rank()));
        EXPECT_EQ(report.iterations, expected.iterations);
      });
      EXPECT_EQ(x, alone);
    }
  }
}

/// The image is known on all ranks that have rows, on none of them, or on some.
TEST(RanksWithoutRows, BeginFromAnImageAsOneProcess) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  std::vector<double> b(rows, 1);
  SolverOptions options;
  options.tolerance = 1e-4;
  const auto solved = [&](const Partition& partition, int first_without) {
    std::vector<double> x(rows, 0.25);
    long long iterations = -1;
    run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
      const auto part = part_of(matrix, partition, ranks);
      ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(part),
                                       options);
      const auto x_of_rank = rows_of(view(x), partition, ranks.rank());
      // In the operator's basis: b and the guess are the same in all rows.
      std::vector<double> guess(static_cast<std::size_t>(part->rows()), 0.25), image(guess.size());
      const auto field = [&](std::vector<double>& data) {
        return FieldView<double>(data.data(), part->rows(), 1, VectorLayout::aos,
                                 part->row_basis());
      };
      part->apply(1, field(guess), 0, field(image), part->device().stream());
      solver.set_image_of_guess(ranks.rank() < first_without ? field(image) : FieldView<double>());
      const Report report =
          solver.solve(rows_of<const double>(view(b), partition, ranks.rank()), x_of_rank);
      EXPECT_TRUE(report.converged()) << report;
      if (ranks.rank() == 0) iterations = report.iterations;
    });
    return std::pair(iterations, x);
  };
  const Partition one({0, rows});
  const auto with = solved(one, 1), without = solved(one, 0);
  for (const Partition& partition : {Partition({0, 0, 512, rows}), Partition({0, 512, 512, rows}),
                                     Partition({0, 512, rows, rows})}) {
    EXPECT_EQ(solved(partition, 3), with);
    EXPECT_EQ(solved(partition, 0), without);
    EXPECT_EQ(solved(partition, 1), without);
  }
}

}  // namespace
}  // namespace heddle::test::rank_limits
