// Conjugate gradients for several right-hand sides at once (Dubrulle 2001).
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"
#include "heddle/system_solver.hpp"

namespace heddle {

namespace detail {
template <class S>
class BlockSolve;
}

/// Solves A x_j = b_j for 1 to `max_columns` right-hand sides, A Hermitian positive definite. All
/// columns share one Krylov space, so that one iteration, with one product per column, gains more
/// than one iteration of k separate solves. Its coefficients are matrices over the operator's ring,
/// which act from the right. Right-hand sides may depend on one another, be equal or zero, and
/// differ in size: directions that depend on others are left out, and cost no product.
///
/// The preconditioner must be constant, Hermitian and positive definite. Products are those of the
/// matrix as given, even if it has a copy in floats. Refuses operators whose entries have no
/// adjoint. A solver object serves one thread at a time. It keeps operator and preconditioner as
/// `KrylovSolver` does.
template <class S>
class HEDDLE_EXPORT BlockConjugateGradient : public SystemSolver<S> {
 public:
  static constexpr int max_columns = 16;

  /// Null for no preconditioner. Throws `Error`: usage for options out of their range,
  /// size_mismatch or usage for a preconditioner of other fields, unsupported for entries without
  /// adjoint and for a preconditioner that varies or is not Hermitian.
  BlockConjugateGradient(OperatorReference<S> matrix,
                         std::shared_ptr<Preconditioner<S>> preconditioner,
                         SolverOptions options = {});
  explicit BlockConjugateGradient(OperatorReference<S> matrix, SolverOptions options = {})
      : BlockConjugateGradient(std::move(matrix), nullptr, std::move(options)) {}
  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  BlockConjugateGradient(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : BlockConjugateGradient(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                               std::move(options)) {}

  ~BlockConjugateGradient() override;
  BlockConjugateGradient(const BlockConjugateGradient&) = delete;
  BlockConjugateGradient& operator=(const BlockConjugateGradient&) = delete;

  /// x: guesses on entry, solutions on return. There are as many fields as in b; they share no
  /// memory with one another or with b, and lie in the user's order or the operator's basis, in the
  /// GPU's memory or the host's. Returns a report for each column; its residual is the true one of
  /// the returned x, which has the least true residual among the guess, the iterates that ended a
  /// run, and those at the last tenfold drop of the residual in a run.
  ///
  /// A column that is not finite ends as `not_finite` by itself and keeps its guess. A matrix or
  /// preconditioner that is not definite, a limit, and the observer end all columns that have not
  /// converged by then. The iterations of a column are those of the block up to the last run that
  /// the column took part in; its bytes are its share of the bytes that the block moves. The
  /// observer sees the largest relative residual of the unconverged columns. The bits are the same
  /// for any number of threads. Throws `Error` for fields that do not fit, and memory, before
  /// anything is allocated, if the fields of the block do not fit: the first solve allocates for
  /// its number of columns, a later one with more columns allocates again.
  std::vector<Report> solve(std::span<const FieldView<const S>> b,
                            std::span<const FieldView<S>> x) override;
  /// Solves for one column.
  Report solve(const FieldView<const S>& b, const FieldView<S>& x) override {
    return solve(std::span(&b, 1), std::span(&x, 1)).front();
  }

  /// Relative residuals by the recurrence of a column of the last solve (columns count from 0),
  /// from iteration 0, if the options ask for them. During a solve it holds those of the runs that
  /// have ended.
  const std::vector<double>& history(std::size_t column = 0) const override;
  /// Throws `Error` (unsupported): a block has no null space.
  void set_null_space(const std::vector<FieldView<const S>>& vectors) override;

  /// Bytes that it has allocated, excluding the preconditioner's.
  long long memory() const;

  const SolverOptions& options() const override;
  /// Throws `Error` (usage) for options out of their range.
  void set_options(SolverOptions options) override;

 private:
  std::unique_ptr<detail::BlockSolve<S>> loop_;
};

template <class M>
BlockConjugateGradient(M&&) -> BlockConjugateGradient<operator_scalar_t<M>>;
template <class M>
BlockConjugateGradient(M&&, SolverOptions) -> BlockConjugateGradient<operator_scalar_t<M>>;
template <class M, class P>
BlockConjugateGradient(M&&, P&&, SolverOptions = {})
    -> BlockConjugateGradient<operator_scalar_t<M>>;

extern template class BlockConjugateGradient<float>;
extern template class BlockConjugateGradient<double>;
extern template class BlockConjugateGradient<long double>;

}  // namespace heddle
