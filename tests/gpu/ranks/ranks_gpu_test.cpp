// Ranks on GPUs, as threads of this process: the bits of one rank for any number of ranks, on one
// GPU or several.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/multiply.hpp"
#include "heddle/operator.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/problems.hpp"
#include "support/blocks_on_ranks.hpp"
#include "support/own_streams.hpp"
#include "support/random_matrix.hpp"
#include "support/solve_on_ranks.hpp"
#include "support/systems/systems.hpp"

extern "C" int cudaGetDeviceCount(int* count);

namespace heddle::test::ranks_gpu {
namespace {

constexpr Index rows = 5 * 256 + 77;

class RanksOnGpu : public OnGpu {
 protected:
  template <template <class> class Solver, class E>
  void expect_bits_of_one_rank(const CsrMatrix<E>& matrix, Generator& generator,
                               const SolverOptions& options = {}) const {
    using S = vector_scalar_t<E>;
    const auto b = random_scalars<E>(matrix.rows(), generator);
    const OwnStreams streams;
    const auto on = [&](int ranks, ExchangeMode mode) {
      const Partition partition = ranks == 3 ? random_owners(matrix.rows(), ranks, generator)
                                             : Partition::even(matrix.rows(), ranks);
      return solve_on_ranks<Solver>(matrix, b, partition, mode, options, streams.devices());
    };
    const auto expected = on(1, ExchangeMode::task);
    EXPECT_TRUE(expected.report.solved()) << name(expected.report.status);
    EXPECT_EQ(expected.report.loop, "stepped");
    for (const int ranks : {2, 3, 4}) {
      const auto mode = static_cast<ExchangeMode>(ranks % 3);
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::string(name(mode)));
      expect_same(on(ranks, mode), expected);
    }
    // Compare with the CPU, whose sums have other trees.
    const auto on_cpu = solve_on_ranks<Solver>(matrix, b, Partition::even(matrix.rows(), 2),
                                               ExchangeMode::task, options, all_on(Device::cpu(1)));
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      difference += std::pow(double(expected.x[i]) - double(on_cpu.x[i]), 2);
      size += std::pow(double(on_cpu.x[i]), 2);
    }
    const double bound = std::is_same_v<S, float> ? 1e-3 : 1e-7;
    EXPECT_LE(std::sqrt(difference / size), bound);
  }
};

template <class E>
class RanksOnGpuOf : public RanksOnGpu {};
using Entries = ::testing::Types<real<double>, real<float>, complex<float>, complex<double>,
                                 quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(RanksOnGpuOf, Entries);

/// The reference is in double on the host, also for entries in floats.
TYPED_TEST(RanksOnGpuOf, MultiplyAsTheRowsSay) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(171);
  const auto matrix = random_system<E>(rows, 3, 0.1, 0.4, seed.generator).matrix;
  const auto x = random_scalars<E>(rows, seed.generator);
  constexpr int width = vector_entry_t<E>::components;
  std::vector<double> expected(x.size()), sizes(x.size());
  for (Index row = 0; row < rows; ++row) {
    for (Offset k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
      const Eigen::MatrixXd tile = tile_of(matrix.entry(k));
      for (int i = 0; i < width; ++i) {
        for (int j = 0; j < width; ++j) {
          const double term =
              tile(i, j) * double(x[static_cast<std::size_t>(matrix.column()[k] * width + j)]);
          expected[static_cast<std::size_t>(row * width + i)] += term;
          sizes[static_cast<std::size_t>(row * width + i)] += std::abs(term);
        }
      }
    }
  }
  const OwnStreams streams;
  const Devices devices = streams.devices();
  // More than two products, since buffers alternate; each has another x, with no wait in between.
  constexpr std::size_t products = 5;
  for (const int count : {1, 2, 5}) {
    for (int kind = 0; kind < 6; ++kind) {
      const auto mode = static_cast<ExchangeMode>(kind % 3);
      const auto boundary = static_cast<BoundaryStorage>(kind / 3);
      const Partition partition = Partition::even(rows, count);
      std::vector<std::vector<S>> y(products, std::vector<S>(x.size()));
      run_on_ranks(count, [&](Communicator& ranks) {
        const auto A = part_of(matrix, partition, ranks, Plan{}, mode,
                               devices[static_cast<std::size_t>(ranks.rank())], boundary);
        std::vector<S> own = take_rows(x, width, partition, ranks.rank());
        std::vector<Array<S>> own_x, own_y;
        for (std::size_t k = 0; k < products; ++k) {
          own_x.emplace_back(std::span<const S>(own), A->device());
          own_y.emplace_back(own.size(), A->device());
          for (S& scalar : own) scalar *= 2;
        }
        for (std::size_t k = 0; k < products; ++k) {
          multiply<S>(*A, FieldView<const S>(own_x[k].data(), A->rows(), width),
                      FieldView<S>(own_y[k].data(), A->rows(), width));
        }
        A->device().synchronize();
        for (std::size_t k = 0; k < products; ++k) {
          put_rows(own_y[k].to_host(), width, partition, ranks.rank(), y[k]);
        }
      });
      constexpr double rounding = std::is_same_v<S, float> ? 1e-6 : 1e-14;
      for (std::size_t k = 0; k < products; ++k) {
        const double factor = std::exp2(static_cast<double>(k));
        for (std::size_t i = 0; i < x.size(); ++i) {
          ASSERT_LE(std::abs(double(y[k][i]) - factor * expected[i]),
                    factor * rounding * (1 + sizes[i]))
              << count << " ranks, " << name(mode) << ", " << name(boundary) << ", product " << k
              << ", scalar " << i;
        }
      }
    }
  }
}

TYPED_TEST(RanksOnGpuOf, HermitianMethodsHaveTheBitsOfOneRank) {
  Seed seed(165);
  const auto system = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator);
  this->template expect_bits_of_one_rank<ConjugateGradient>(system.matrix, seed.generator);
  this->template expect_bits_of_one_rank<Minres>(system.matrix, seed.generator);
}

TYPED_TEST(RanksOnGpuOf, BiCGStabHasTheBitsOfOneRank) {
  Seed seed(166);
  const auto system = random_system<TypeParam>(rows, 2, 0.2, 0.6, seed.generator);
  this->template expect_bits_of_one_rank<BiCGStab>(system.matrix, seed.generator);
}

/// A cycle ends and the next one begins: the last group of rows is a short one.
TYPED_TEST(RanksOnGpuOf, MethodsWithABasisHaveTheBitsOfOneRank) {
  Seed seed(187);
  const auto system = random_system<TypeParam>(rows, 2, 0.2, 0.6, seed.generator);
  SolverOptions options;
  options.restart = 7;
  if (std::is_same_v<vector_scalar_t<TypeParam>, double>) options.tolerance = 1e-9;
  this->template expect_bits_of_one_rank<Gmres>(system.matrix, seed.generator, options);
  options.basis_precision = StoredScalar::single;
  this->template expect_bits_of_one_rank<Fgmres>(system.matrix, seed.generator, options);
}

TYPED_TEST(RanksOnGpuOf, BlocksHaveTheBitsOfOneRank) {
  Seed seed(167);
  using S = vector_scalar_t<TypeParam>;
  const auto matrix = random_system<TypeParam>(rows, 2, 0.05, 0, seed.generator).matrix;
  const OwnStreams streams;
  const auto expect = [&](int count, bool compares, const auto& solve) {
    Fields<S> fields;
    for (int k = 0; k < count; ++k) {
      fields.push_back(random_scalars<TypeParam>(rows, seed.generator));
    }
    const auto on = [&](int ranks) {
      const Partition partition =
          ranks == 3 ? random_owners(rows, ranks, seed.generator) : Partition::even(rows, ranks);
      return on_ranks(matrix, fields, partition, static_cast<ExchangeMode>(ranks % 3),
                      streams.devices(), solve);
    };
    const Found<S> expected = on(1);
    for (const int ranks : {2, 3, 4}) {
      const Found<S> found = on(ranks);
      EXPECT_EQ(found.x, expected.x) << ranks;
      EXPECT_EQ(found.numbers, expected.numbers) << ranks;
    }
    const Found<S> on_cpu = on_ranks(matrix, fields, Partition::even(rows, 2), ExchangeMode::task,
                                     {Device::cpu(1)}, solve);
    // Solutions only: the length and sign of eigenvectors are arbitrary.
    for (std::size_t k = 0; compares && k < fields.size(); ++k) {
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < fields[k].size(); ++i) {
        difference += std::pow(double(expected.x[k][i]) - double(on_cpu.x[k][i]), 2);
        size += std::pow(double(on_cpu.x[k][i]), 2);
      }
      constexpr double bound = std::is_same_v<S, float> ? 1e-3 : 1e-6;
      EXPECT_LE(std::sqrt(difference / size), bound) << k;
    }
    if (compares) return;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      EXPECT_NEAR(expected.numbers[k], on_cpu.numbers[k],
                  (std::is_same_v<S, float> ? 1e-2 : 1e-6) * std::abs(on_cpu.numbers[k]));
    }
  };
  expect(3, true, SolveByBlocks());
  expect(1, true, SolveLeastSquares());
  expect(2, false, SolveForEigenpairs());
}

using E = quaternion<double>;

/// Interior rows hide the exchange of the others.
TEST_F(RanksOnGpu, MeshesHaveTheBitsOfOneRank) {
  Seed seed(179);
  expect_bits_of_one_rank<ConjugateGradient>(poisson(9000), seed.generator);
  expect_bits_of_one_rank<ConjugateGradient>(dirac(7000), seed.generator);
  expect_bits_of_one_rank<ConjugateGradient>(elasticity(5000), seed.generator);
}

/// Compared with the tree of one process: nodes of one tile, of many, and of more than a block's
/// threads. Sums of split rows are formed after both parts, and residuals in double.
TEST_F(RanksOnGpu, SolveWithSplitRows) {
  Seed seed(168);
  const auto matrix = dirac(7000);
  const auto b = random_scalars<E>(matrix.rows(), seed.generator);
  const OwnStreams streams;
  const std::vector<Device> devices = streams.devices();
  run_on_ranks(3, [&](Communicator& ranks) {
    const Partition partition = Partition::even(matrix.rows(), 3);
    const auto A = part_of(matrix, partition, ranks, {}, ExchangeMode::task,
                           devices[static_cast<std::size_t>(ranks.rank())], BoundaryStorage::split);
    ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A), A->jacobi());
    const auto own = take_rows(b, 4, partition, ranks.rank());
    std::vector<double> x(own.size());
    const Report report = solver.solve(FieldView<const double>(own.data(), A->rows(), 4),
                                       FieldView<double>(x.data(), A->rows(), 4));
    EXPECT_TRUE(report.converged()) << report;
  });
}

TEST_F(RanksOnGpu, PreconditionByProducts) {
  Seed seed(173);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  const auto b = random_scalars<E>(rows, seed.generator);
  std::vector<std::vector<double>> found;
  for (const int count : {1, 3}) {
    const Partition partition = Partition::even(rows, count);
    std::vector<double> x(b.size());
    run_on_ranks(count, [&](Communicator& ranks) {
      const std::shared_ptr<const LinearOperator<double>> A =
          part_of(matrix, partition, ranks, Plan{}, ExchangeMode::task, device);
      ConjugateGradient<double> solver(A, std::make_shared<Chebyshev<double>>(A));
      const FieldView<const double> all_b(b.data(), rows, 4);
      const FieldView<double> all_x(x.data(), rows, 4);
      const Report report = solver.solve(rows_of(all_b, partition, ranks.rank()),
                                         rows_of(all_x, partition, ranks.rank()));
      EXPECT_TRUE(report.solved()) << name(report.status);
    });
    found.push_back(std::move(x));
  }
  EXPECT_EQ(found[1], found[0]);
}

/// Products with one thread per row leave the sums of a group of rows in up to four parts.
TEST_F(RanksOnGpu, PlansHaveTheBitsOfOneRank) {
  Seed seed(183);
  const auto matrix = dirac(7000);
  const auto b = random_scalars<E>(matrix.rows(), seed.generator);
  const OwnStreams streams;
  for (const char* text : {"block-size=64", "block-size=192,C=32", "C=48", "block-size=512",
                           "C=32,T=2", "C=32,sigma=256", "block-size=1024,schedule=dynamic,chunk=2",
                           "C=32,block-size=128,entry-layout=aosoa", "cg=single-reduction"}) {
    SCOPED_TRACE(text);
    const Plan plan = distributed_plan(parse_plan(text));
    const auto on = [&](const Partition& partition, ExchangeMode mode) {
      return solve_on_ranks<ConjugateGradient>(matrix, b, partition, mode, {}, streams.devices(),
                                               plan);
    };
    const auto expected = on(Partition::even(matrix.rows(), 1), ExchangeMode::vector);
    EXPECT_TRUE(expected.report.solved()) << name(expected.report.status);
    expect_same(on(Partition::even(matrix.rows(), 2), ExchangeMode::task), expected);
    expect_same(on(random_owners(matrix.rows(), 3, seed.generator), ExchangeMode::naive), expected);
  }
}

/// More subtrees than fit in shared memory.
TEST_F(RanksOnGpu, JoinManySubtreesInLoops) {
  Seed seed(184);
  const auto matrix = poisson(600'000);
  const auto b = random_scalars<real<double>>(matrix.rows(), seed.generator);
  SolverOptions options;
  options.max_iterations = 20;
  const auto on = [&](const Partition& partition) {
    return solve_on_ranks<ConjugateGradient>(matrix, b, partition, ExchangeMode::task, options,
                                             all_on(device));
  };
  expect_same(on(random_owners(matrix.rows(), 3, seed.generator)),
              on(Partition::even(matrix.rows(), 1)));
}

TEST_F(RanksOnGpu, SomeHaveNoRows) {
  Seed seed(177);
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  const auto b = random_scalars<E>(rows, seed.generator);
  const auto expect_bits = [&]<template <class> class Solver>() {
    const auto on = [&](const Partition& partition) {
      return solve_on_ranks<Solver>(matrix, b, partition, ExchangeMode::task, {}, all_on(device));
    };
    expect_same(on(Partition({0, 0, 512, 512, rows})), on(Partition({0, rows})));
  };
  expect_bits.template operator()<ConjugateGradient>();
  expect_bits.template operator()<Gmres>();
}

TEST_F(RanksOnGpu, SeveralGpusHaveTheBitsOfOne) {
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), 0);
  if (gpus < 2) GTEST_SKIP() << "one GPU is here";
  Devices devices;
  for (int g = 0; g < gpus; ++g) devices.push_back(Device::cuda(g));
  Seed seed(178);
  const auto expect_bits_of_one_gpu = [&](const auto& matrix, const auto& b) {
    const auto on = [&](int ranks, ExchangeMode mode, const Devices& of_ranks) {
      return solve_on_ranks<ConjugateGradient>(matrix, b, Partition::even(matrix.rows(), ranks),
                                               mode, {}, of_ranks);
    };
    const auto expected = on(1, ExchangeMode::task, all_on(device));
    EXPECT_TRUE(expected.report.solved()) << name(expected.report.status);
    for (const ExchangeMode mode :
         {ExchangeMode::vector, ExchangeMode::naive, ExchangeMode::task}) {
      SCOPED_TRACE(std::string(name(mode)));
      expect_same(on(gpus, mode, devices), expected);
    }
  };
  const auto matrix = random_system<E>(rows, 2, 0.05, 0, seed.generator).matrix;
  expect_bits_of_one_gpu(matrix, random_scalars<E>(rows, seed.generator));
  // Large enough for kernels and copies of several GPUs to overlap.
  const auto mesh = poisson(100'000);
  expect_bits_of_one_gpu(mesh, random_scalars<real<double>>(mesh.rows(), seed.generator));
}

}  // namespace
}  // namespace heddle::test::ranks_gpu
