// Ranks on GPUs end together: by a decision, by a condition known to only one of them, or by its
// error. Their preconditioners over all rows have the bits of one rank.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/chebyshev_iteration.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/distributed_multigrid.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/expect_error.hpp"
#include "support/on_gpu.hpp"
#include "support/on_ranks.hpp"
#include "support/own_streams.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

extern "C" int cudaGetDeviceCount(int* count);

namespace heddle::test::rank_ends_gpu {
namespace {

using E = quaternion<double>;
constexpr Index rows = 5 * 256 + 77;

std::vector<double> random_scalars(Generator& generator) {
  std::vector<double> b(static_cast<std::size_t>(rows) * 4);
  for (double& c : b) c = uniform(generator);
  return b;
}

class RankEndsOnGpu : public OnGpu {
 protected:
  /// In graphs, with a rank on each GPU: a rank's request is read between bodies, and sent after
  /// the next one.
  static void on_all_gpus(const std::function<void(Communicator&, const Device&)>& body) {
    int gpus = 0;
    ASSERT_EQ(cudaGetDeviceCount(&gpus), 0);
    run_on_ranks(gpus, [&](Communicator& ranks) { body(ranks, Device::cuda(ranks.rank())); });
  }
};

TEST_F(RankEndsOnGpu, EndTogether) {
  Seed seed(174);
  const auto matrix = random_system<E>(rows, 2, 1e-3, 0, seed.generator).matrix;
  const auto b = random_scalars(seed.generator);
  const Partition partition = Partition::even(rows, 3);
  const auto reports = [&](const auto& set) {
    std::vector<Report> all(3);
    run_on_ranks(3, [&](Communicator& ranks) {
      SolverOptions options;
      set(ranks.rank(), options);
      const auto A = part_of(matrix, partition, ranks, Plan{}, ExchangeMode::task, device);
      ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A),
                                       A->jacobi(), options);
      std::vector<double> x(static_cast<std::size_t>(A->rows()) * 4);
      const FieldView<const double> all_b(b.data(), rows, 4);
      all[static_cast<std::size_t>(ranks.rank())] = solver.solve(
          rows_of(all_b, partition, ranks.rank()), FieldView<double>(x.data(), A->rows(), 4));
    });
    return all;
  };
  for (const Report& report : reports([](int rank, SolverOptions& options) {
         if (rank == 1) options.time_limit = 0;
       })) {
    // A host sees an iteration when the next is queued, and sends its request with the one after
    // that.
    EXPECT_EQ(report.status, Status::time_limit);
    EXPECT_LE(report.iterations, 5);
  }
  for (const Report& report : reports([](int rank, SolverOptions& options) {
         if (rank == 2) {
           options.observer = [](const SolveProgress& now) { return now.iteration < 4; };
         }
       })) {
    EXPECT_EQ(report.status, Status::cancelled);
    EXPECT_GE(report.iterations, 4);
    EXPECT_LE(report.iterations, 8);
  }
}

/// A mesh whose solve takes more iterations than the limits below, and an error in the observer.
TEST_F(RankEndsOnGpu, GraphsEndTogether) {
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), 0);
  if (gpus < 2) GTEST_SKIP() << "one GPU is here";
  const auto matrix = poisson(60'000);
  Plan plan;
  plan.loop.form = LoopForm::graph;
  const auto solve = [&](Communicator& ranks, const Device& on, const SolverOptions& options) {
    const Partition partition = Partition::even(matrix.rows(), ranks.size());
    const auto A = part_of(matrix, partition, ranks, plan, ExchangeMode::task, on);
    ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A), A->jacobi(),
                                     options);
    std::vector<double> b(static_cast<std::size_t>(A->rows()), 1), x(b.size());
    const Report report = solver.solve(FieldView<const double>(b.data(), A->rows()),
                                       FieldView<double>(x.data(), A->rows()));
    EXPECT_EQ(report.loop, "replay");
    return report;
  };
  on_all_gpus([&](Communicator& ranks, const Device& on) {
    const bool is_last = ranks.rank() == ranks.size() - 1;
    SolverOptions options;
    if (is_last) options.time_limit = 0;
    const Report late = solve(ranks, on, options);
    EXPECT_EQ(late.status, Status::time_limit);
    EXPECT_LE(late.iterations, 48);
    options = {};
    if (is_last) options.observer = [](const SolveProgress& now) { return now.iteration < 4; };
    const Report cancelled = solve(ranks, on, options);
    EXPECT_EQ(cancelled.status, Status::cancelled);
    EXPECT_LE(cancelled.iterations, 48);
    const Report solved = solve(ranks, on, {});
    EXPECT_TRUE(solved.solved()) << solved;
  });
  expect_error(ErrorKind::usage, "the observer had enough", [&] {
    on_all_gpus([&](Communicator& ranks, const Device& on) {
      SolverOptions options;
      if (ranks.rank() == ranks.size() - 1) {
        options.observer = [](const SolveProgress& now) -> bool {
          if (now.iteration > 0) throw Error(ErrorKind::usage, "the observer had enough");
          return true;
        };
      }
      solve(ranks, on, options);
    });
  });
}

/// The first kernels of a run find that there is no interval: no rank begins an iteration whose
/// sums the others would not join.
TEST_F(RankEndsOnGpu, EndTogetherInTheStart) {
  Seed seed(180);
  auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  for (double& value : matrix.values()) value = -value;
  run_on_ranks(3, [&](Communicator& ranks) {
    const std::shared_ptr<const LinearOperator<double>> A =
        part_of(matrix, Partition::even(rows, 3), ranks, Plan{}, ExchangeMode::task, device);
    ChebyshevIteration<double> solver(A);
    std::vector<double> b(static_cast<std::size_t>(A->rows()) * 4, 1), x(b.size());
    for (int repetition = 0; repetition < 200; ++repetition) {
      const Report report = solver.solve(FieldView<const double>(b.data(), A->rows(), 4),
                                         FieldView<double>(x.data(), A->rows(), 4));
      EXPECT_EQ(report.status, Status::indefinite) << report;
      EXPECT_EQ(report.iterations, 0);
    }
  });
}

TEST_F(RankEndsOnGpu, OneFailsAndAllEnd) {
  Seed seed(175);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  expect_error(ErrorKind::usage, "the observer had enough", [&] {
    run_on_ranks(3, [&](Communicator& ranks) {
      const auto A =
          part_of(matrix, Partition::even(rows, 3), ranks, Plan{}, ExchangeMode::task, device);
      SolverOptions options;
      options.tolerance = 1e-14;
      if (ranks.rank() == 1) {
        options.observer = [](const SolveProgress& now) -> bool {
          if (now.iteration == 2) throw Error(ErrorKind::usage, "the observer had enough");
          return true;
        };
      }
      ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A),
                                       A->jacobi(), options);
      std::vector<double> b(static_cast<std::size_t>(A->rows()) * 4, 1), x(b.size());
      solver.solve(FieldView<const double>(b.data(), A->rows(), 4),
                   FieldView<double>(x.data(), A->rows(), 4));
    });
  });
}

/// The request of one rank is sent with the sums of a basis.
TEST_F(RankEndsOnGpu, EndMethodsWithABasisTogether) {
  Seed seed(176);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  const auto b = random_scalars(seed.generator);
  const Partition partition = Partition::even(rows, 2);
  run_on_ranks(2, [&](Communicator& ranks) {
    SolverOptions options;
    if (ranks.rank() == 1) options.time_limit = 0;
    const auto A = part_of(matrix, partition, ranks, Plan{}, ExchangeMode::task, device);
    Gmres<double> solver(std::shared_ptr<const LinearOperator<double>>(A), nullptr, options);
    std::vector<double> x(static_cast<std::size_t>(A->rows()) * 4);
    const FieldView<const double> all_b(b.data(), rows, 4);
    const Report report = solver.solve(rows_of(all_b, partition, ranks.rank()),
                                       FieldView<double>(x.data(), A->rows(), 4));
    EXPECT_EQ(report.status, Status::time_limit);
    EXPECT_LE(report.iterations, 5);
  });
}

TEST_F(RankEndsOnGpu, RefuseJoinedSumsOfAMatrixOfOneRank) {
  Seed seed(182);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  const Operator<E> alone(matrix, Plan{}, device);
  const auto x = alone.field();
  auto y = alone.field();
  expect_error(
      ErrorKind::usage, "a reduction that joins ranks is used with a matrix of one rank", [&] {
        run_on_ranks(1, [&](Communicator& ranks) {
          const auto A =
              part_of(matrix, Partition::even(rows, 1), ranks, Plan{}, ExchangeMode::task, device);
          Reduction<double> reduction(rows, A->device());
          alone.apply_dot(x.view(), y.view(), reduction, device.stream());
        });
      });
}

TEST_F(RankEndsOnGpu, AreAllOnGpus) {
  Seed seed(181);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  expect_error(ErrorKind::usage,
               "ranks disagree about whether they work on GPUs: rank 0 and rank 2", [&] {
                 run_on_ranks(3, [&](Communicator& ranks) {
                   part_of(matrix, Partition::even(rows, 3), ranks, Plan{}, ExchangeMode::task,
                           ranks.rank() == 2 ? Device::cpu(1) : device);
                 });
               });
}

class RankPreconditionersOnGpu : public OnGpu {};

/// Made of entries from several ranks: each factor, and each level, has the bits of one rank.
TEST_F(RankPreconditionersOnGpu, OfAllRowsHaveTheBitsOfOneRank) {
  using Made = std::shared_ptr<Preconditioner<double>>;
  Seed seed(186);
  // With two ranks, they share the second level of multigrid; with three, it is on rank 0 alone.
  const auto matrix = poisson(14000);
  const auto b = heddle::test::random_scalars<real<double>>(matrix.rows(), seed.generator);
  const OwnStreams streams;
  for (const char* const text :
       {"multigrid:2:w", "multigrid:1:k:gauss-seidel", "fsai", "block-jacobi", "gmres"}) {
    SCOPED_TRACE(text);
    const auto choice = ComposedChoice::parse(text);
    const PreconditionerChoice part = choice.terms().front().front();
    const auto make = [&](const std::shared_ptr<DistributedOperator<double>>& A) -> Made {
      if (part.kind == PreconditionerKind::gmres) {
        SolverOptions inner;
        inner.tolerance = 0.1;
        return std::make_shared<SolverPreconditioner<double>>(std::make_shared<Gmres<double>>(
            std::shared_ptr<const LinearOperator<double>>(A), A->jacobi(), inner));
      }
      if (part.kind != PreconditionerKind::multigrid) return A->make_inverse(part);
      auto made = std::make_shared<DistributedMultigrid<double>>(*A, part.number, choice.multigrid);
      EXPECT_GE(made->report().levels.size(), 3U);
      return made;
    };
    const auto on = [&](int count, ExchangeMode mode, const std::vector<Device>& devices) {
      const Partition partition = Partition::even(matrix.rows(), count);
      std::pair<std::vector<double>, long long> made{std::vector<double>(b.size()), 0};
      run_on_ranks(count, [&](Communicator& ranks) {
        const auto A = part_of(matrix, partition, ranks, Plan{}, mode,
                               devices[static_cast<std::size_t>(ranks.rank()) % devices.size()]);
        // Some preconditioners vary, and some are not Hermitian.
        Fgmres<double> solver(std::shared_ptr<const LinearOperator<double>>(A), make(A));
        const FieldView<const double> all_b(b.data(), A->partition().rows(), 1);
        const FieldView<double> all_x(made.first.data(), A->partition().rows(), 1);
        const Report report = solver.solve(rows_of(all_b, partition, ranks.rank()),
                                           rows_of(all_x, partition, ranks.rank()));
        EXPECT_TRUE(report.converged()) << name(report.status);
        if (ranks.rank() == 0) made.second = report.iterations;
      });
      return made;
    };
    const auto expected = on(1, ExchangeMode::task, streams.devices());
    EXPECT_EQ(on(2, ExchangeMode::naive, streams.devices()), expected);
    EXPECT_EQ(on(3, ExchangeMode::task, streams.devices()), expected);
    EXPECT_EQ(on(2, ExchangeMode::vector, all_on(device)), expected);
    EXPECT_EQ(on(2, ExchangeMode::task, all_on(Device::cpu(1))).second, expected.second);
  }
}

}  // namespace
}  // namespace heddle::test::rank_ends_gpu
