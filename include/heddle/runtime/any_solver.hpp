// Any solver of A x = b over entries that are chosen at run time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/method_info.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/any_operator.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

namespace detail {

template <class S>
struct SolverParts {
  std::shared_ptr<SystemSolver<S>> system;
  KrylovSolver<S>* krylov = nullptr;  // `system` itself, or the one it refines; null for a block
};

}  // namespace detail

/// Any solver of A x = b: one of the table of methods, or block conjugate gradient, over fields of
/// the operator's precision or, once it is refined, over floats.
class HEDDLE_EXPORT AnySolver {
 public:
  /// `method`: a row of `method_table()`, or `block_conjugate_gradient_info`. With a nonzero
  /// `shift` it solves with `shifted(A, shift)`, and throws `Error` (usage) for a preconditioner
  /// that needs a stored matrix.
  AnySolver(const AnyLinearOperator& matrix, const MethodInfo& method,
            const ComposedChoice& preconditioner, const SolverOptions& options, double shift = 0);
  /// Uses an existing preconditioner; null for none. S is float or double.
  template <class S>
  AnySolver(OperatorReference<S> matrix, const MethodInfo& method,
            std::shared_ptr<Preconditioner<S>> preconditioner, const SolverOptions& options);

  /// From now on every field of the iterations is in floats, and so is the matrix. The matrix in
  /// floats is made from `matrix`, the one that this solver uses, on its pattern, and made again
  /// from new values at the next solve; see `RefinedSolver`. It takes 4 bytes more per component,
  /// and 2 if the plan has a copy of 16 bits. `preconditioner` is made from it. Throws `Error`:
  /// unsupported for a matrix in single precision and for block conjugate gradient, bad_plan if an
  /// entry is beyond the range of floats, as a later solve does for new values.
  void refine(const AnyOperator& matrix, const ComposedChoice& preconditioner);

  /// `SystemSolver::solve` on fields of the operator's precision.
  Report solve(const AnyField& b, AnyField& x);
  std::vector<Report> solve(std::span<const AnyField> b, std::span<AnyField> x);
  const std::vector<double>& history(std::size_t system = 0) const;
  const SolverOptions& options() const;
  /// Takes effect from the next solve on; the options of the refining solver over floats follow.
  /// Throws `Error` (usage) for options out of their range.
  void set_options(SolverOptions options);

  /// The report of the multigrid in the preconditioner; none without one.
  std::optional<MultigridReport> multigrid() const {
    return facts_.multigrid ? std::optional(facts_.multigrid()) : std::nullopt;
  }
  /// Bytes of the entries that the preconditioner keeps in sliced storage, if the matrix has
  /// another.
  long long copied_bytes() const { return facts_.copied_bytes; }
  /// Bytes of the matrix in floats that `refine` has made; 0 without it.
  long long narrow_memory() const { return narrow_memory_; }
  bool is_refined() const { return is_refined_; }
  /// False for block conjugate gradient, which is no `KrylovSolver`.
  bool has_krylov() const {
    return std::visit([](const auto& parts) { return parts.krylov != nullptr; }, parts_);
  }

  /// Calls `f` with the `SystemSolver<S>`.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit([&](const auto& parts) -> decltype(auto) { return f(*parts.system); },
                      parts_);
  }
  /// Calls `f` with the `KrylovSolver<S>`, which must exist: in a refined solver the one over
  /// doubles.
  template <class F>
  decltype(auto) visit_krylov(F&& f) const {
    return std::visit([&](const auto& parts) -> decltype(auto) { return f(*parts.krylov); },
                      parts_);
  }
  /// The same for its other functions, such as solves in stream order. Throws `Error`:
  /// size_mismatch unless S is the operator's scalar, unsupported for block conjugate gradient.
  template <class S>
  KrylovSolver<S>& solver() {
    KrylovSolver<S>* const krylov = detail::of_precision<Parts<S>>(parts_).krylov;
    if (krylov == nullptr) refuse_block();
    return *krylov;
  }

 private:
  template <class S>
  using Parts = detail::SolverParts<S>;
  template <class S>
  static Parts<S> make(OperatorReference<S> matrix, const MethodInfo& method,
                       std::shared_ptr<Preconditioner<S>> preconditioner,
                       const SolverOptions& options);
  [[noreturn]] static void refuse_block();

  PreconditionerFacts facts_;
  std::variant<Parts<float>, Parts<double>> parts_;
  long long narrow_memory_ = 0;
  bool is_refined_ = false;
};

}  // namespace heddle
