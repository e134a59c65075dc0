// Solves for blocks of fields on ranks, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/lsmr.hpp"
#include "support/on_ranks.hpp"

namespace heddle::test {

template <class S>
using Fields = std::vector<std::vector<S>>;

template <class S, class T = S>
std::vector<FieldView<T>> views_of(Fields<S>& fields, Index rows, int width) {
  std::vector<FieldView<T>> views;
  for (std::vector<S>& field : fields) views.push_back({field.data(), rows, width});
  return views;
}

/// The result of a solve: its fields, and numbers of its report on which all ranks agree.
template <class S>
struct Found {
  Fields<S> x;
  std::vector<double> numbers;
};

/// `solve(A, jacobi, fields, x)` returns the numbers. Ranks take turns on the devices.
template <class E, class Solve, class S = vector_scalar_t<E>>
Found<S> on_ranks(const CsrMatrix<E>& matrix, const Fields<S>& fields, const Partition& partition,
                  ExchangeMode mode, const std::vector<Device>& devices, const Solve& solve) {
  Found<S> found{Fields<S>(fields.size(), std::vector<S>(fields.front().size())), {}};
  run_on_ranks(partition.ranks(), [&](Communicator& ranks) {
    const int rank = ranks.rank();
    const Device& device = devices[static_cast<std::size_t>(rank) % devices.size()];
    const auto A = part_of(matrix, partition, ranks, Plan{}, mode, device);
    if constexpr (requires { Solve::by_adjoint; }) {
      const PartOfRank<E> part = rows_of_rank(matrix, partition, rank);
      A->keep_adjoint(part.rows, std::as_bytes(std::span(part.values)));
    }
    const int width = A->row_components();
    Fields<S> own;
    for (const std::vector<S>& field : fields) {
      own.push_back(take_rows(field, width, partition, rank));
    }
    Fields<S> x = own;
    for (std::vector<S>& field : x) field.assign(field.size(), S(0));
    auto numbers =
        solve(OperatorReference<S>(std::shared_ptr<const LinearOperator<S>>(A)), A->jacobi(),
              views_of<S, const S>(own, A->rows(), width), views_of(x, A->rows(), width));
    for (std::size_t k = 0; k < x.size(); ++k) {
      put_rows(x[k], width, partition, rank, found.x[k]);
    }
    if (rank == 0) found.numbers = std::move(numbers);
  });
  return found;
}

/// Solves of blocks; x has as many fields as b.
struct SolveByBlocks {
  template <class S>
  std::vector<double> operator()(const OperatorReference<S>& A,
                                 std::shared_ptr<Preconditioner<S>> jacobi,
                                 const std::vector<FieldView<const S>>& b,
                                 const std::vector<FieldView<S>>& x) const {
    BlockConjugateGradient<S> solver(A, std::move(jacobi));
    std::vector<double> numbers;
    for (const Report& report : solver.solve(b, x)) {
      EXPECT_TRUE(report.converged()) << report;
      numbers.push_back(static_cast<double>(report.iterations));
      numbers.push_back(report.residual);
    }
    return numbers;
  }
};
struct SolveLeastSquares {
  static constexpr bool by_adjoint = true;

  template <class S>
  std::vector<double> operator()(const OperatorReference<S>& A,
                                 const std::shared_ptr<Preconditioner<S>>&,
                                 const std::vector<FieldView<const S>>& b,
                                 const std::vector<FieldView<S>>& x) const {
    LeastSquaresOptions options;
    options.damping = 0.01;
    const LeastSquaresReport report = Lsmr<S>(A, options).solve(b.front(), x.front());
    EXPECT_TRUE(report.status == Status::converged || report.status == Status::accuracy_limit)
        << report.detail;
    return {static_cast<double>(report.iterations), report.residual_norm, report.gradient_norm,
            report.condition};
  }
};
struct SolveForEigenpairs {
  template <class S>
  std::vector<double> operator()(const OperatorReference<S>& A,
                                 std::shared_ptr<Preconditioner<S>> jacobi,
                                 const std::vector<FieldView<const S>>&,
                                 const std::vector<FieldView<S>>& x) const {
    EigenOptions options;
    options.count = static_cast<int>(x.size());
    options.max_iterations = 15;
    const EigenReport report = Lobpcg<S>(A, {}, std::move(jacobi), options).solve(x);
    EXPECT_EQ(report.status, Status::iteration_limit) << report.detail;
    std::vector<double> numbers = report.eigenvalues;
    numbers.insert(numbers.end(), report.residuals.begin(), report.residuals.end());
    return numbers;
  }
};

}  // namespace heddle::test
