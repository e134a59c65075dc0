// Ranks with a GPU each iterate in graphs: the same bits as with single launches on one rank.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/minres.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

extern "C" int cudaGetDeviceCount(int* count);

namespace heddle::test::rank_graphs_gpu {
namespace {

constexpr Index rows = 40 * 256 + 77;  // each of several ranks gets groups of these

std::vector<Device> all_gpus() {
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), 0);
  std::vector<Device> devices;
  for (int gpu = 0; gpu < count; ++gpu) devices.push_back(Device::cuda(gpu));
  return devices;
}
Plan in_graphs(Plan plan = {}) {
  plan.loop.form = LoopForm::graph;
  return plan;
}

class RankGraphsOnGpu : public OnGpu {
 protected:
  /// Solves on one rank for each GPU, in all modes.
  template <template <class> class Solver, class E>
  void expect_bits_of_launches(const CsrMatrix<E>& matrix, Generator& generator,
                               const Plan& plan = {}, const SolverOptions& options = {}) const {
    const auto b = random_scalars<E>(matrix.rows(), generator);
    const auto expected = solve_on_ranks<Solver>(matrix, b, Partition::even(matrix.rows(), 1),
                                                 ExchangeMode::task, options, {device}, plan);
    EXPECT_EQ(expected.report.loop, "stepped");
    const std::vector<Device> gpus = all_gpus();
    if (gpus.size() < 2) GTEST_SKIP() << "one GPU is here";
    const auto most = static_cast<int>(gpus.size());
    for (int k = 0; k < 4; ++k) {
      const auto mode = static_cast<ExchangeMode>(k % 3);
      SCOPED_TRACE(std::string(name(mode)));
      const Partition partition = k == 3 ? random_owners(matrix.rows(), most, generator)
                                         : Partition::even(matrix.rows(), most);
      const auto found =
          solve_on_ranks<Solver>(matrix, b, partition, mode, options, gpus, in_graphs(plan));
      EXPECT_EQ(found.report.loop,
                plan.schedule.kind == ScheduleKind::dynamic ? "stepped" : "replay");
      expect_same(found, expected);
    }
  }
};

template <class E>
class RankGraphsOnGpuOf : public RankGraphsOnGpu {};
using Entries =
    ::testing::Types<real<float>, complex<double>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(RankGraphsOnGpuOf, Entries);

TYPED_TEST(RankGraphsOnGpuOf, HaveTheBitsOfLaunches) {
  Seed seed(191);
  const auto hermitian = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator).matrix;
  this->template expect_bits_of_launches<ConjugateGradient>(hermitian, seed.generator);
  this->template expect_bits_of_launches<Minres>(hermitian, seed.generator);
  const auto any = random_system<TypeParam>(rows, 2, 0.2, 0.6, seed.generator).matrix;
  this->template expect_bits_of_launches<BiCGStab>(any, seed.generator);
}

TEST_F(RankGraphsOnGpu, HaveThoseBitsUnderOtherPlans) {
  Seed seed(192);
  const auto matrix = dirac(7000);
  for (const char* text : {"block-size=64", "C=48", "C=32,T=2", "C=32,sigma=256",
                           "schedule=dynamic,chunk=2", "cg=single-reduction"}) {
    SCOPED_TRACE(text);
    expect_bits_of_launches<ConjugateGradient>(matrix, seed.generator,
                                               distributed_plan(parse_plan(text)));
  }
}

/// Kernels and copies of several GPUs overlap, and the last partition has more subtrees than fit in
/// shared memory.
TEST_F(RankGraphsOnGpu, HaveThoseBitsOnMeshes) {
  Seed seed(193);
  SolverOptions options;
  options.max_iterations = 60;
  expect_bits_of_launches<ConjugateGradient>(poisson(600'000), seed.generator, {}, options);
}

/// A basis sums more numbers at once than a graph does: the memory that the graph uses stays in
/// place.
TEST_F(RankGraphsOnGpu, HoldTheirPlacesWhereOtherSumsGrow) {
  const std::vector<Device> gpus = all_gpus();
  if (gpus.size() < 2) GTEST_SKIP() << "one GPU is here";
  Seed seed(194);
  const auto matrix = poisson(300'000);  // subtrees of several tiles
  const auto b = random_scalars<real<double>>(matrix.rows(), seed.generator);
  const Partition partition = Partition::even(matrix.rows(), 2);
  run_on_ranks(2, [&](Communicator& ranks) {
    const Device& gpu = gpus[static_cast<std::size_t>(ranks.rank())];
    const auto A = part_of(matrix, partition, ranks, in_graphs(), ExchangeMode::task, gpu);
    const std::vector<double> own = take_rows(b, 1, partition, ranks.rank());
    std::vector<double> first(own.size()), between(own.size()), again(own.size());
    const auto solve = [&](auto& solver, std::vector<double>& x) {
      return solver.solve(FieldView<const double>(own.data(), A->rows(), 1),
                          FieldView<double>(x.data(), A->rows(), 1));
    };
    ConjugateGradient<double> cg(A, A->jacobi(), {.max_iterations = 40});
    Gmres<double> gmres(A, A->jacobi(), {.max_iterations = 40, .restart = 20});
    EXPECT_EQ(solve(cg, first).loop, "replay");
    EXPECT_EQ(solve(gmres, between).loop, "stepped");
    solve(cg, again);
    EXPECT_EQ(first, again);
  });
}

/// Preconditioners that multiply by their own matrices exchange within the graph too.
TEST_F(RankGraphsOnGpu, HoldProductsOfInverses) {
  const std::vector<Device> gpus = all_gpus();
  if (gpus.size() < 2) GTEST_SKIP() << "one GPU is here";
  Seed seed(195);
  const auto matrix = poisson(30'000);
  const auto b = random_scalars<real<double>>(matrix.rows(), seed.generator);
  for (const PreconditionerChoice& choice :
       {PreconditionerChoice(PreconditionerKind::fsai, 2),
        PreconditionerChoice(PreconditionerKind::isai),
        PreconditionerChoice(PreconditionerKind::block_jacobi, 7)}) {
    SCOPED_TRACE(choice.text());
    const auto solve = [&](int count, ExchangeMode mode) {
      SolveOutcome<double> made{std::vector<double>(b.size()), {}, {}};
      const Partition partition = Partition::even(matrix.rows(), count);
      run_on_ranks(count, [&](Communicator& ranks) {
        const auto A = part_of(matrix, partition, ranks, in_graphs(), mode,
                               gpus[static_cast<std::size_t>(ranks.rank())]);
        SolverOptions options;
        options.record_history = true;
        BiCGStab<double> solver(std::shared_ptr<const LinearOperator<double>>(A),
                                A->make_inverse(choice), options);
        const std::vector<double> own_b = take_rows(b, 1, partition, ranks.rank());
        std::vector<double> own_x(own_b.size());
        const Report report = solver.solve(FieldView<const double>(own_b.data(), A->rows(), 1),
                                           FieldView<double>(own_x.data(), A->rows(), 1));
        put_rows(own_x, 1, partition, ranks.rank(), made.x);
        if (ranks.rank() != 0) return;
        made.report = report;
        made.history = solver.history();
      });
      return made;
    };
    const auto expected = solve(1, ExchangeMode::task);
    EXPECT_TRUE(expected.report.converged());
    for (const auto mode : {ExchangeMode::vector, ExchangeMode::task}) {
      const auto found = solve(static_cast<int>(gpus.size()), mode);
      EXPECT_EQ(found.report.loop, "replay");
      expect_same(found, expected);
    }
  }
}

}  // namespace
}  // namespace heddle::test::rank_graphs_gpu
