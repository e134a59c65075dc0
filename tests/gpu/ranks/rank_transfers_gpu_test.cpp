// Ranks on GPUs exchange through NCCL or through messages between hosts: the bits of one rank.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "distributed/communicators/nccl_library.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "heddle/transfer.hpp"
#include "support/expect_error.hpp"
#include "support/own_streams.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

extern "C" int cudaGetDeviceCount(int* count);

namespace heddle::test::rank_transfers_gpu {
namespace {

constexpr Index rows = 5 * 256 + 77;

/// Like `solve_on_ranks`, with several partitions and modes, on ranks that are linked once.
template <template <class> class Solver, class E, class S = vector_scalar_t<E>>
std::vector<SolveOutcome<S>> solve_by(Transfer transfer, const CsrMatrix<E>& matrix,
                                      const std::vector<S>& b,
                                      const std::vector<Partition>& partitions,
                                      const std::vector<Device>& devices,
                                      SolverOptions options = {}) {
  options.record_history = true;
  std::vector<SolveOutcome<S>> all(partitions.size(), {std::vector<S>(b.size()), {}, {}});
  run_on_ranks(partitions.front().ranks(), [&](Communicator& threads) {
    const Device& device = devices[static_cast<std::size_t>(threads.rank()) % devices.size()];
    const auto ranks = with_transfer(threads, transfer, device);
    EXPECT_EQ(transfer_of(*ranks), transfer);
    for (std::size_t k = 0; k < partitions.size(); ++k) {
      const Partition& partition = partitions[k];
      const auto mode = static_cast<ExchangeMode>(k % 3);
      const auto A = part_of(matrix, partition, *ranks, Plan{}, mode, device);
      Solver<S> solver(std::shared_ptr<const LinearOperator<S>>(A), A->jacobi(), options);
      const int width = A->row_components();
      const std::vector<S> own_b = take_rows(b, width, partition, ranks->rank());
      std::vector<S> own_x(own_b.size());
      const Report report = solver.solve(FieldView<const S>(own_b.data(), A->rows(), width),
                                         FieldView<S>(own_x.data(), A->rows(), width));
      put_rows(own_x, width, partition, ranks->rank(), all[k].x);
      if (ranks->rank() != 0) continue;
      all[k].report = report;
      all[k].history = solver.history();
    }
  });
  return all;
}

/// Streams of one GPU for `staged`, and all GPUs for `nccl`, or none if it is unavailable.
class RankTransfersOnGpu : public OnGpu {
 protected:
  static std::vector<Device> gpus_of_nccl() {
    int count = 0;
    EXPECT_EQ(cudaGetDeviceCount(&count), 0);
    std::vector<Device> devices;
    for (int gpu = 0; gpu < count; ++gpu) devices.push_back(Device::cuda(gpu));
    if (count < 2) return {};
    try {
      cuda::nccl();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_device) throw;
      return {};
    }
    return devices;
  }

  template <template <class> class Solver, class E>
  void expect_bits_of_one_rank(Transfer transfer, const CsrMatrix<E>& matrix, Generator& generator,
                               const std::vector<Device>& devices,
                               const SolverOptions& options = {}) const {
    const auto b = random_scalars<E>(matrix.rows(), generator);
    const auto expected = solve_on_ranks<Solver>(matrix, b, Partition::even(matrix.rows(), 1),
                                                 ExchangeMode::task, options, {device});
    EXPECT_TRUE(expected.report.solved()) << name(expected.report.status);
    const auto most = static_cast<int>(devices.size());
    std::vector<Partition> partitions(3, Partition::even(matrix.rows(), most));
    partitions.push_back(random_owners(matrix.rows(), most, generator));
    for (const auto& found : solve_by<Solver>(transfer, matrix, b, partitions, devices, options)) {
      SCOPED_TRACE(name(transfer));
      expect_same(found, expected);
    }
  }
};

template <class E>
class RankTransfersOnGpuOf : public RankTransfersOnGpu {};
using Entries = ::testing::Types<real<double>, real<float>, complex<float>, complex<double>,
                                 quaternion<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(RankTransfersOnGpuOf, Entries);

TYPED_TEST(RankTransfersOnGpuOf, SolveByMessagesWithTheBitsOfOneRank) {
  Seed seed(211);
  const auto matrix = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator).matrix;
  const OwnStreams streams;
  const Devices all = streams.devices();
  this->template expect_bits_of_one_rank<ConjugateGradient>(
      Transfer::staged, matrix, seed.generator, {all.begin(), all.begin() + 3});
}

TYPED_TEST(RankTransfersOnGpuOf, SolveByNcclWithTheBitsOfOneRank) {
  const std::vector<Device> gpus = this->gpus_of_nccl();
  if (gpus.empty()) GTEST_SKIP() << "no two GPUs and libnccl are here";
  Seed seed(212);
  const auto matrix = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator).matrix;
  this->template expect_bits_of_one_rank<ConjugateGradient>(Transfer::nccl, matrix, seed.generator,
                                                            gpus);
}

using E = quaternion<double>;

TEST_F(RankTransfersOnGpu, HaveThoseBitsOnMeshes) {
  Seed seed(213);
  const std::vector<Device> gpus = gpus_of_nccl();
  const OwnStreams streams;
  const Devices all = streams.devices();
  const Devices two{all.begin(), all.begin() + 2};
  for (const bool by_nccl : {false, true}) {
    if (by_nccl && gpus.empty()) continue;
    const Transfer transfer = by_nccl ? Transfer::nccl : Transfer::staged;
    const Devices& devices = by_nccl ? gpus : two;
    expect_bits_of_one_rank<ConjugateGradient>(transfer, poisson(60'000), seed.generator, devices);
    expect_bits_of_one_rank<ConjugateGradient>(transfer, elasticity(5000), seed.generator, devices);
    SolverOptions options;
    options.restart = 7;
    expect_bits_of_one_rank<Gmres>(transfer, dirac(7000), seed.generator, devices, options);
  }
}

/// A rank that exchanges nothing, and one without rows.
TEST_F(RankTransfersOnGpu, SomeHaveNoRows) {
  Seed seed(214);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  const auto b = random_scalars<E>(rows, seed.generator);
  const auto expected = solve_on_ranks<ConjugateGradient>(matrix, b, Partition({0, rows}),
                                                          ExchangeMode::task, {}, {device});
  const OwnStreams streams;
  const auto expect = [&](Transfer transfer, const Partition& partition, const Devices& devices) {
    const auto found = solve_by<ConjugateGradient>(transfer, matrix, b, {partition}, devices);
    expect_same(found.front(), expected);
  };
  expect(Transfer::staged, Partition({0, 0, 512, 512, rows}), streams.devices());
  const std::vector<Device> gpus = gpus_of_nccl();
  if (gpus.empty()) return;
  const Devices two(gpus.begin(), gpus.begin() + 2);
  expect(Transfer::nccl, Partition({0, 0, rows}), two);
  // One rank without rows among ranks that exchange.
  if (gpus.size() < 3) return;
  expect(Transfer::nccl, Partition({0, 512, 512, rows}), {gpus.begin(), gpus.begin() + 3});
}

TEST_F(RankTransfersOnGpu, AnErrorOfOneRankEndsAll) {
  Seed seed(215);
  const auto matrix = poisson(60'000);
  const auto b = random_scalars<real<double>>(matrix.rows(), seed.generator);
  const std::vector<Device> gpus = gpus_of_nccl();
  const OwnStreams streams;
  for (const bool by_nccl : {false, true}) {
    if (by_nccl && gpus.empty()) continue;
    const Devices devices = by_nccl ? gpus : streams.devices();
    const Transfer transfer = by_nccl ? Transfer::nccl : Transfer::staged;
    for (const ExchangeMode mode :
         {ExchangeMode::vector, ExchangeMode::naive, ExchangeMode::task}) {
      expect_error(ErrorKind::internal, "the second rank's observer", [&] {
        run_on_ranks(2, [&](Communicator& threads) {
          const Device& on = devices[static_cast<std::size_t>(threads.rank())];
          const auto ranks = with_transfer(threads, transfer, on);
          const Partition partition = Partition::even(matrix.rows(), 2);
          const auto A = part_of(matrix, partition, *ranks, Plan{}, mode, on);
          SolverOptions options;
          if (ranks->rank() == 1) {
            options.observer = [](const SolveProgress& now) -> bool {
              if (now.iteration < 5) return true;
              throw Error(ErrorKind::internal, "the second rank's observer");
            };
          }
          ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A),
                                           A->jacobi(), options);
          const auto own = take_rows(b, 1, partition, ranks->rank());
          std::vector<double> x(own.size());
          solver.solve(FieldView<const double>(own.data(), A->rows()),
                       FieldView<double>(x.data(), A->rows()));
        });
      });
    }
  }
}

TEST_F(RankTransfersOnGpu, NcclWantsAGpuForEachRank) {
  const std::vector<Device> gpus = gpus_of_nccl();
  if (gpus.empty()) GTEST_SKIP() << "no two GPUs and libnccl are here";
  expect_error(
      ErrorKind::unsupported, "NCCL needs a GPU for each rank, but ranks 0 and 2 share one", [&] {
        run_on_ranks(3, [&](Communicator& ranks) {
          with_transfer(ranks, Transfer::nccl, gpus[static_cast<std::size_t>(ranks.rank() % 2)]);
        });
      });
}

}  // namespace
}  // namespace heddle::test::rank_transfers_gpu
