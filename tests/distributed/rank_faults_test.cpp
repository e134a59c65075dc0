// A fault on one rank ends all ranks, with one error or one status.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/operator.hpp"
#include "heddle/transfer.hpp"
#include "heddle/vector_operations.hpp"
#include "support/expect_error.hpp"
#include "support/on_ranks.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::rank_faults {
namespace {

using E = real<double>;
constexpr Index rows = 4 * 256;

CsrMatrix<E> matrix_for_tests() {
  Seed seed(69);
  return random_system<E>(rows, 2, 0.01, 0, seed.generator).matrix;
}

/// The report of each rank, with an observer of its own.
std::array<Report, 3> solve(ExchangeMode mode,
                            const std::function<void(int, SolverOptions&)>& set) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  const Partition partition = Partition::even(rows, 3);
  std::array<Report, 3> reports;
  run_on_ranks(3, [&](Communicator& ranks) {
    const auto A = part_of(matrix, partition, ranks, Plan{}, mode);
    SolverOptions options;
    set(ranks.rank(), options);
    ConjugateGradient<double> solver(std::shared_ptr<const LinearOperator<double>>(A), options);
    const auto count = static_cast<std::size_t>(A->rows());
    std::vector<double> b(count, 1), x(count);
    reports[static_cast<std::size_t>(ranks.rank())] = solver.solve(
        FieldView<const double>(b.data(), A->rows()), FieldView<double>(x.data(), A->rows()));
  });
  return reports;
}

class RankFaults : public ::testing::TestWithParam<ExchangeMode> {};

TEST_P(RankFaults, AnExceptionOnOneRankReachesTheCaller) {
  expect_error(ErrorKind::internal, "the second rank's observer", [&] {
    solve(GetParam(), [](int rank, SolverOptions& options) {
      if (rank != 1) return;
      options.observer = [](const SolveProgress& now) {
        if (now.iteration == 3) throw std::runtime_error("the second rank's observer");
        return true;
      };
    });
  });
}

TEST_P(RankFaults, OneObserverCancelsAll) {
  const auto reports = solve(GetParam(), [](int rank, SolverOptions& options) {
    if (rank == 2) options.observer = [](const SolveProgress& now) { return now.iteration < 5; };
  });
  for (const Report& report : reports) {
    EXPECT_EQ(report.status, Status::cancelled);
    EXPECT_EQ(report.iterations, reports[0].iterations);
    EXPECT_EQ(report.residual, reports[0].residual);
  }
}

TEST_P(RankFaults, OneClockEndsAll) {
  const auto reports = solve(GetParam(), [](int rank, SolverOptions& options) {
    if (rank == 1) options.time_limit = 0;
  });
  for (const Report& report : reports) {
    EXPECT_EQ(report.status, Status::time_limit);
    EXPECT_EQ(report.iterations, reports[0].iterations);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RankFaults,
                         ::testing::Values(ExchangeMode::vector, ExchangeMode::naive,
                                           ExchangeMode::task),
                         [](const auto& info) { return std::string(name(info.param)); });

/// All ranks throw the error that `make` throws on some of them.
void expect_on_all(ErrorKind kind, const std::string& message,
                   const std::function<void(Communicator&)>& make) {
  std::atomic<int> caught = 0;
  run_on_ranks(3, [&](Communicator& ranks) {
    expect_error(kind, message, [&] { make(ranks); });
    ++caught;
  });
  EXPECT_EQ(caught, 3);
}

TEST(RankDisagreement, EndsAllWithOneError) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  const Partition even = Partition::even(rows, 3);
  expect_on_all(ErrorKind::size_mismatch,
                "ranks disagree about the partition of rows: rank 0 and rank 1",
                [&](Communicator& ranks) {
                  part_of(matrix, ranks.rank() == 1 ? Partition({0, 256, 512, rows}) : even, ranks);
                });
  expect_on_all(ErrorKind::usage, "ranks disagree about the mode of exchange: rank 0 and rank 2",
                [&](Communicator& ranks) {
                  part_of(matrix, even, ranks, Plan{},
                          ranks.rank() == 2 ? ExchangeMode::naive : ExchangeMode::task);
                });
  expect_on_all(ErrorKind::usage,
                "ranks disagree about the transfer between GPUs: rank 0 and rank 1",
                [&](Communicator& ranks) {
                  const auto staged = with_transfer(ranks, Transfer::staged, Device::cpu(1));
                  part_of(matrix, even, ranks.rank() == 1 ? *staged : ranks);
                });
  expect_on_all(ErrorKind::usage, "ranks disagree about the plan: rank 0 and rank 1",
                [&](Communicator& ranks) {
                  part_of(matrix, even, ranks, parse_plan(ranks.rank() == 1 ? "Sl-16" : "CSR"));
                });
  expect_on_all(ErrorKind::usage, "the partition is for 2 ranks, but there are 3",
                [&](Communicator& ranks) {
                  const Partition two = Partition::even(rows, 2);
                  distribute<E>(ranks, two, {}, std::span<const E>());
                });
  expect_on_all(ErrorKind::size_mismatch,
                "rank 2 has 256 rows in the partition: it needs one more offset than rows, "
                "ascending from 0 to the number of its entries",
                [&](Communicator& ranks) {
                  if (ranks.rank() != 2) return void(part_of(matrix, even, ranks));
                  distribute<E>(ranks, even, {}, std::span<const E>());
                });
  expect_on_all(ErrorKind::out_of_range,
                "rank 1 has an entry in column 1024 of a matrix of 1024 columns",
                [&](Communicator& ranks) {
                  RankRows part;
                  part.offsets.assign(static_cast<std::size_t>(even.rows_of(ranks.rank())) + 1, 0);
                  std::vector<E> values;
                  if (ranks.rank() == 1) {
                    part.offsets.back() = 1;
                    part.columns = {rows};
                    values.push_back(E{{1}});
                  }
                  distribute<E>(ranks, even, part, values);
                });
}

TEST(RankDisagreement, ADiagonalEntryThatIsNotFiniteIsNamed) {
  const Partition even = Partition::even(rows, 3);
  expect_on_all(
      ErrorKind::singular,
      "rank 1, whose rows begin at 256: Jacobi: the diagonal entry of row 7 (counted from "
      "0) is not finite",
      [&](Communicator& ranks) {
        RankRows part;
        std::vector<E> values;
        const long long first = even.first_row(ranks.rank());
        for (long long row = first; row < first + even.rows_of(ranks.rank()); ++row) {
          part.columns.push_back(row);
          values.push_back(E{{row == 263 ? std::nan("") : 1.0}});
          part.offsets.push_back(static_cast<Offset>(values.size()));
        }
        distribute<E>(ranks, even, part, values)->jacobi();
      });
}

TEST(RankDisagreement, InAPlanThatDistributesNothingIsNamed) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  const Plan sorted = parse_plan("pJDS");
  EXPECT_THROW(run_on_ranks(2,
                            [&](Communicator& ranks) {
                              part_of(matrix, Partition::even(rows, 2), ranks, sorted);
                            }),
               Error);
  EXPECT_EQ(distributed_plan(distributed_plan(sorted)), distributed_plan(sorted));
}

TEST(RankDisagreement, TakesNoErrorForSuccess) {
  expect_on_all(ErrorKind::usage, "an error without a message", [](Communicator& ranks) {
    together(ranks, [&] {
      if (ranks.rank() == 1) throw Error(ErrorKind::usage, "");
    });
  });
  expect_on_all(ErrorKind::internal, "an exception that is not a std::exception",
                [](Communicator& ranks) {
                  together(ranks, [&] {
                    if (ranks.rank() == 2) throw 5;
                  });
                });
}

/// Rank 1 may copy from a field of rank 0 while rank 2 ends both.
TEST(RankFault, LeavesNobodyWithTheMemoryOfARankThatLeft) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> copies = false;
    expect_error(ErrorKind::internal, "the third rank", [&] {
      run_on_ranks(3, [&](Communicator& ranks) {
        if (ranks.rank() == 2) {
          while (!copies) std::this_thread::yield();
          throw std::runtime_error("the third rank");
        }
        std::vector<std::byte> bytes(std::size_t{16} << 20);
        const Message<const std::byte> send{1, bytes};
        const Message<std::byte> receive{0, bytes};
        if (ranks.rank() == 0) {
          ranks.begin_exchange({&send, 1}, {});
        } else {
          ranks.begin_exchange({}, {&receive, 1});
          copies = true;
        }
        ranks.end_exchange();
        gather(ranks, 0);
      });
    });
  }
}

/// Same as in conjugate gradient: the decision of one rank's observer ends all ranks.
TEST(BlocksOfRanks, EndTogether) {
  const CsrMatrix<E> matrix = matrix_for_tests();
  std::array<Status, 3> of_block, of_pairs;
  std::array<long long, 3> iterations;
  run_on_ranks(3, [&](Communicator& ranks) {
    const auto A = part_of(matrix, Partition::even(rows, 3), ranks);
    const OperatorReference<double> matrix_of_rank(
        std::shared_ptr<const LinearOperator<double>>{A});
    const auto rank = static_cast<std::size_t>(ranks.rank());
    std::vector<double> b(static_cast<std::size_t>(A->rows()), 1), x(b.size());
    const FieldView<const double> right(b.data(), A->rows());
    const FieldView<double> field(x.data(), A->rows());
    SolverOptions options;
    options.tolerance = 0;
    if (rank == 1) options.observer = [](const SolveProgress& now) { return now.iteration < 3; };
    BlockConjugateGradient<double> block(matrix_of_rank, nullptr, options);
    const Report report = block.solve(std::span(&right, 1), std::span(&field, 1)).front();
    of_block[rank] = report.status;
    iterations[rank] = report.iterations;
    EigenOptions pairs;
    pairs.count = 1;
    pairs.tolerance = 0;
    if (rank == 2) pairs.time_limit = 0;
    of_pairs[rank] = Lobpcg<double>(matrix_of_rank, {}, nullptr, pairs).solve({&field, 1}).status;
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(of_block[rank], Status::cancelled);
    EXPECT_EQ(iterations[rank], 4);
    EXPECT_EQ(of_pairs[rank], Status::time_limit);
  }
}

/// The second half's rows stand alone, and the first half's need them: the basis begins with the
/// second.
TEST(SumsOfRanks, WantFieldsInTheBasis) {
  constexpr Index count = 4 * 256;
  run_on_ranks(2, [&](Communicator& ranks) {
    const Partition halves = Partition::even(count, 2);
    RankRows part;
    std::vector<E> values;
    const long long first = halves.first_row(ranks.rank());
    for (long long row = first; row < first + 512; ++row) {
      const bool is_boundary = row - first < 256;
      part.columns.push_back(is_boundary ? (row + 512) % count : row);
      values.push_back(E{{1}});
      part.offsets.push_back(static_cast<Offset>(values.size()));
    }
    const auto A = distribute<E>(ranks, halves, part, values, {}, ExchangeMode::vector);
    ASSERT_FALSE(A->row_basis()->is_natural());
    std::vector<double> x(512, 1), y(x);
    const FieldView<double> natural(x.data(), 512);
    const FieldView<double> field(y.data(), 512, 1, VectorLayout::aos, A->row_basis());
    const Device device = A->device();
    const std::string why =
        ": the field is in natural order, but the operator that shares its rows has a basis; "
        "`permute` takes it there";
    expect_error(ErrorKind::usage, "dot" + why,
                 [&] { dot<double>(natural, natural, device.stream()); });
    expect_error(ErrorKind::usage, "randomize" + why,
                 [&] { randomize<double>(natural, 1, device.stream()); });
    expect_error(ErrorKind::size_mismatch, "dot: a field of 256 rows, but this rank has 512", [&] {
      const FieldView<double> few(x.data(), 256);
      dot<double>(few, few, device.stream());
    });
    expect_error(ErrorKind::usage,
                 "the reduction joins ranks other than those of the fields' stream", [&] {
                   Reduction<double> reduction(512, Device::cpu(1));
                   real_dot<double>(field, field, reduction, device.stream());
                 });
    EXPECT_EQ(dot<double>(field, field, device.stream()), count);
    expect_error(ErrorKind::usage,
                 "the stream names no ranks: use that of the distributed operator's device(), "
                 "which an operator around it also returns",
                 [&] {
                   std::vector<double> z(512);
                   const FieldView<double> image(z.data(), 512, 1, VectorLayout::aos,
                                                 A->row_basis());
                   A->apply(1, field, 0, image, Device::cpu(1).stream());
                 });
    expect_error(ErrorKind::unsupported,
                 "a matrix whose rows several ranks share has no product with its adjoint "
                 "unless it keeps the adjoint: call keep_adjoint",
                 [&] { A->adjoint(); });
  });
}

TEST(Partitions, RefuseWhatIsNone) {
  const auto refused = [](std::vector<long long> first_rows, const char* why) {
    expect_error(ErrorKind::usage, std::string("partition: ") + why,
                 [&] { Partition{std::move(first_rows)}; });
  };
  refused({}, "needs the first row of each rank, from 0 on, then the number of all rows");
  refused({256, 512}, "needs the first row of each rank, from 0 on, then the number of all rows");
  refused({0, 512, 256, 1000}, "rank 2 begins at row 256, before the previous rank");
  refused({0, 100, 1000}, "rank 1 begins at row 100, which is not a multiple of 256");
  EXPECT_EQ(Partition({0, 0, 1000, 1000}).owner(999), 1);
  EXPECT_EQ(Partition::even(1000, 8).rows(), 1000);
  const std::array owners{1, 0, 1, 2};
  const Partition owned = Partition::by_owner(1000, 4, owners);
  EXPECT_FALSE(owned.is_of_ranges());
  EXPECT_EQ(owned.rows_of(1), 512);
  EXPECT_EQ(owned.rows_of(3), 0);
  for (long long row = 0; row < 1000; ++row) {
    EXPECT_EQ(owned.row(owned.number(row)), row);
    EXPECT_EQ(owned.owner(row), owners[static_cast<std::size_t>(row / 256)]);
  }
  EXPECT_EQ(Partition::by_owner(1000, 2, std::array{0, 0, 1, 1}), Partition({0, 512, 1000}));
  expect_error(ErrorKind::usage,
               "partition: row group 1 belongs to rank 2, but the number of ranks is 2",
               [] { Partition::by_owner(500, 2, std::array{0, 2}); });
  expect_error(ErrorKind::size_mismatch, "partition: 2 owners for 3 groups of rows",
               [] { Partition::by_owner(513, 2, std::array{0, 1}); });
  const std::array<Offset, 3> offsets{0, 1, 2};
  const std::array<Index, 2> columns{0, 299};
  for (const auto partition : {&Partition::by_metis, &Partition::by_scotch}) {
    try {
      partition({2, 300, offsets.data(), columns.data()}, 2);
      FAIL() << "a matrix that is not square has a partition";
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unsupported) continue;  // builds without these libraries
      EXPECT_NE(
          std::string(error.what()).find("square matrices, not one of 2 rows and 300 columns"),
          std::string::npos);
    }
  }
  const std::vector<long long> weights{100, 1, 1, 98};
  EXPECT_EQ(Partition::by_weight(1000, 2, weights).first_row(1), 256);
}

TEST(Communicators, SayWhenNumbersOfBytesDiffer) {
  EXPECT_THROW(run_on_ranks(2,
                            [](Communicator& ranks) {
                              const std::vector<int> sizes{8, 8};
                              const std::vector<std::byte> mine(ranks.rank() == 0 ? 8 : 16);
                              std::vector<std::byte> all(16);
                              ranks.all_gather(mine, all, sizes);
                            }),
               Error);
  expect_error(ErrorKind::usage, "the number of ranks is 1 to 1024, not 0",
               [] { run_on_ranks(0, [](Communicator&) {}); });
}

/// A rank returns while others wait for it, in a gather or for a message.
TEST(Communicators, EndWithTheNameOfARankThatHasEnded) {
  const auto message_of = [](const std::function<void(Communicator&)>& of_others) {
    try {
      run_on_ranks(3, [&](Communicator& ranks) {
        if (ranks.rank() != 1) of_others(ranks);
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string why = " waits for it: every rank must make the same calls in the same order";
  const std::string of_all = message_of([](Communicator& ranks) { gather(ranks, 0); });
  EXPECT_TRUE(of_all == "rank 1 has ended, but rank 0" + why ||
              of_all == "rank 1 has ended, but rank 2" + why)
      << of_all;
  std::byte byte{};
  for (const bool sends : {false, true}) {
    EXPECT_EQ(message_of([&](Communicator& ranks) {
                if (ranks.rank() == 0) return;
                const Message<const std::byte> sent{1, {&byte, 1}};
                const Message<std::byte> received{1, {&byte, 1}};
                if (sends) {
                  ranks.begin_exchange({&sent, 1}, {});
                } else {
                  ranks.begin_exchange({}, {&received, 1});
                }
                ranks.end_exchange();
              }),
              "rank 1 has ended, but rank 2" + why);
  }
}

/// No rank waits for rank 1 any more, and the data that it sent before it ended are used.
TEST(Communicators, GoOnWithoutARankThatIsDone) {
  for (int round = 0; round < 50; ++round) {
    std::array<int, 3> received{};
    run_on_ranks(3, [&](Communicator& ranks) {
      const int rank = ranks.rank();
      gather(ranks, rank);
      for (const int from : {1, 0}) {  // 1 to 0, then 0 to 2
        const int to = from == 1 ? 0 : 2;
        const int mine = 10 + from;
        const Message<const std::byte> sent{to, std::as_bytes(std::span(&mine, 1))};
        const Message<std::byte> buffer{
            from, std::as_writable_bytes(std::span(&received[static_cast<std::size_t>(rank)], 1))};
        ranks.begin_exchange({&sent, rank == from ? 1U : 0U}, {&buffer, rank == to ? 1U : 0U});
        ranks.end_exchange();
        if (rank == 1) return;
      }
    });
    EXPECT_EQ(received, (std::array{11, 0, 10}));
  }
}

}  // namespace
}  // namespace heddle::test::rank_faults
