// Solves on ranks, for tests: the x of all of them, and the report of rank 0.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "heddle/report.hpp"
#include "support/on_ranks.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {

template <class S>
struct SolveOutcome {
  std::vector<S> x;
  Report report;
  std::vector<double> history;
};

template <class S>
void expect_same(const SolveOutcome<S>& found, const SolveOutcome<S>& expected) {
  EXPECT_EQ(found.x, expected.x);
  EXPECT_EQ(found.report.status, expected.report.status);
  EXPECT_EQ(found.report.iterations, expected.report.iterations);
  EXPECT_EQ(found.report.restarts, expected.report.restarts);
  EXPECT_EQ(found.report.residual, expected.report.residual);
  EXPECT_EQ(found.history, expected.history);
}

/// Solves with Jacobi. Ranks take turns on the devices.
template <template <class> class Solver, class E, class S = vector_scalar_t<E>>
SolveOutcome<S> solve_on_ranks(const CsrMatrix<E>& matrix, const std::vector<S>& b,
                               const Partition& partition, ExchangeMode mode,
                               SolverOptions options = {},
                               const std::vector<Device>& devices = {Device::cpu(1)},
                               const Plan& plan = {}) {
  options.record_history = true;
  SolveOutcome<S> made{std::vector<S>(b.size()), {}, {}};
  run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
    const Device& device = devices[static_cast<std::size_t>(ranks.rank()) % devices.size()];
    const auto A = part_of(matrix, partition, ranks, plan, mode, device);
    Solver<S> solver(std::shared_ptr<const LinearOperator<S>>(A), A->jacobi(), options);
    const int width = A->row_components();
    const std::vector<S> own_b = take_rows(b, width, partition, ranks.rank());
    std::vector<S> own_x(own_b.size());
    const Report report = solver.solve(FieldView<const S>(own_b.data(), A->rows(), width),
                                       FieldView<S>(own_x.data(), A->rows(), width));
    put_rows(own_x, width, partition, ranks.rank(), made.x);
    if (ranks.rank() != 0) return;
    made.report = report;
    made.history = solver.history();
  });
  return made;
}

/// Scalars uniform in [-1, 1), one for each component of `rows` rows.
template <class E>
std::vector<vector_scalar_t<E>> random_scalars(Index rows, Generator& generator) {
  std::vector<vector_scalar_t<E>> scalars(static_cast<std::size_t>(rows) *
                                          vector_entry_t<E>::components);
  for (auto& c : scalars) c = static_cast<vector_scalar_t<E>>(uniform(generator));
  return scalars;
}

}  // namespace heddle::test
