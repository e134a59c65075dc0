// Operators, fields and solvers over entries that are chosen at run time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/method_info.hpp"
#include "heddle/plan.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

namespace detail {

[[noreturn]] HEDDLE_EXPORT void refuse_precision(Precision given);

/// The alternative T of single and double precision. Throws `Error` (size_mismatch) where the other
/// one is there.
template <class T, class Variant>
auto& of_precision(Variant& either) {
  auto* const wanted = std::get_if<T>(&either);
  if (wanted == nullptr) {
    refuse_precision(either.index() == 0 ? Precision::single_precision
                                         : Precision::double_precision);
  }
  return *wanted;
}

/// What is known of a matrix's entries, whether a type or a definition states them.
using AnyEntryTable = std::variant<EntryTableHandle<float>, EntryTableHandle<double>>;
HEDDLE_EXPORT AnyEntryTable entry_table_of(const AnyMatrix& matrix);

}  // namespace detail

/// An AoS field in the user's order and the host's memory, in single or double precision; `device`
/// says how many threads make it. Without rows when moved from.
class HEDDLE_EXPORT AnyField {
 public:
  /// Throws `Error` (size_mismatch) for sizes that no field has.
  AnyField(Index rows, int components, Precision precision, const Device& device);

  /// As `read_field<E>` with the entry and precision that are named.
  static AnyField read(const std::string& path, const AnyEntry& entry, Precision precision,
                       const Device& device = Device::cpu(), Progress* progress = nullptr);
  /// An array file of one entry a row; complex numbers where the entries are built-in ones over
  /// them.
  void write(const std::string& path, const AnyEntry& entry, Progress* progress = nullptr) const;

  Index rows() const;
  int components() const { return components_; }
  Precision precision() const {
    return scalars_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }

  double get(Offset scalar) const;
  void set(Offset scalar, double value);

  /// Throws `Error` (size_mismatch) unless S is the field's scalar.
  template <class S>
  FieldView<S> view();
  template <class S>
  FieldView<const S> view() const;

 private:
  int components_;
  std::variant<Array<float>, Array<double>> scalars_;
};

/// A handle, as `Operator<E>` is; one that was moved from throws `Error` (usage).
class HEDDLE_EXPORT AnyOperator {
 public:
  using Matrix = std::variant<detail::SlicedOperator<float>, detail::SlicedOperator<double>>;

  /// A handle of a matrix of such entries.
  AnyOperator(AnyEntry entry, Matrix matrix)
      : entry_(std::move(entry)), matrix_(std::move(matrix)) {}
  AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device);

  /// As `Operator<E>::scheduled`.
  AnyOperator scheduled(const Plan& plan) const;

  /// As `Operator<E>::update_values`, of values in the matrix's precision: all components of an
  /// entry, one entry after the other. Throws `Error` (size_mismatch) for the other precision.
  template <class S>
  void update_values(std::span<const S> values) {
    detail::of_precision<detail::SlicedOperator<S>>(matrix_).update_values(std::as_bytes(values));
  }

  const AnyEntry& entry() const {
    static_cast<void>(rows());  // throws for a handle that was moved from
    return entry_;
  }
  EntryKind kind() const { return entry().kind(); }
  Precision precision() const {
    static_cast<void>(rows());
    return matrix_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }
  /// Calls `f` with the operator as a `LinearOperator<S>` that also tells its pattern and values.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), matrix_);
  }

  Index rows() const {
    return visit([](const auto& A) { return A.rows(); });
  }
  Index columns() const {
    return visit([](const auto& A) { return A.columns(); });
  }
  const Plan& plan() const {
    return visit([](const auto& A) -> const Plan& { return A.plan(); });
  }
  const MemoryUse& memory() const {
    return visit([](const auto& A) -> const MemoryUse& { return A.memory(); });
  }
  /// Of a product as iterations make it, see `LinearOperator::iterated`.
  long long compulsory_bytes() const {
    return visit([](const auto& A) { return A.compulsory_bytes(); });
  }
  long long bytes_of_product() const {
    return visit([](const auto& A) { return A.iterated().bytes_of_product(); });
  }

  /// Fields in the user's order for y (rows) and x (columns).
  AnyField row_field() const;
  AnyField column_field() const;

  /// y = A x, both in the user's order.
  void apply(const AnyField& x, AnyField& y) const;

 private:
  AnyEntry entry_;
  Matrix matrix_;
};

/// Any operator with the entry of its fields; copies share it.
class HEDDLE_EXPORT AnyLinearOperator {
 public:
  using Matrix = std::variant<std::shared_ptr<const LinearOperator<float>>,
                              std::shared_ptr<const LinearOperator<double>>>;

  AnyLinearOperator(AnyEntry entry, Matrix matrix)
      : entry_(std::move(entry)), matrix_(std::move(matrix)) {}
  AnyLinearOperator(const AnyOperator& matrix)
      : AnyLinearOperator(matrix.entry(),
                          matrix.visit([](const auto& A) -> Matrix { return A.handle(); })) {}

  const AnyEntry& entry() const { return entry_; }
  Precision precision() const {
    return matrix_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }
  /// Calls `f` with a `std::shared_ptr<const LinearOperator<S>>`.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), matrix_);
  }

  Index rows() const {
    return visit([](const auto& A) { return A->rows(); });
  }
  Index columns() const {
    return visit([](const auto& A) { return A->columns(); });
  }
  /// Fields in the user's order for y (rows) and x (columns).
  AnyField row_field() const;
  AnyField column_field() const;
  /// y = A x, both in the user's order.
  void apply(const AnyField& x, AnyField& y) const;

 private:
  AnyEntry entry_;
  Matrix matrix_;
};

namespace detail {

template <class S>
struct SolverParts {
  std::shared_ptr<SystemSolver<S>> system;
  KrylovSolver<S>* krylov = nullptr;  // `system` itself, or what that refines; null for a block
};

}  // namespace detail

/// Any solver of A x = b: one of the table of methods, or block conjugate gradient, over fields of
/// the operator's precision or, once it is refined, over floats.
class HEDDLE_EXPORT AnySolver {
 public:
  /// `method`: a row of `method_table()`, or `block_conjugate_gradient_info`. With a `shift` other
  /// than 0 the system is that of `shifted(A, shift)`; throws `Error` (usage) for a preconditioner
  /// that needs a stored matrix.
  AnySolver(const AnyOperator& matrix, const MethodInfo& method,
            const ComposedChoice& preconditioner, const SolverOptions& options, double shift = 0);
  /// The same of any operator. Its preconditioner is made of `entries`, a sliced matrix in the
  /// user's order of the operator's entries: all, or those on the diagonal where these suffice
  /// (`needed_entries`). Throws `Error` (size_mismatch) for precisions that differ.
  AnySolver(const AnyLinearOperator& matrix, const AnyOperator& entries, const MethodInfo& method,
            const ComposedChoice& preconditioner, const SolverOptions& options, double shift = 0);
  /// With a preconditioner that is there; null for none. S is float or double.
  template <class S>
  AnySolver(OperatorReference<S> matrix, const MethodInfo& method,
            std::shared_ptr<Preconditioner<S>> preconditioner, const SolverOptions& options);

  /// From now on every field of the iterations is in floats, and so is the matrix, which is made of
  /// `matrix`, the one that this solves with, on its pattern, and anew of new values at the next
  /// solve; see `RefinedSolver`. That takes 4 bytes a component more, and 2 where the plan has a
  /// copy of 16 bits. `preconditioner` is made of it. Throws `Error`: unsupported for a matrix in
  /// single precision and for block conjugate gradient, bad_plan where an entry is beyond the range
  /// of floats, as a later solve does of new values.
  void refine(const AnyOperator& matrix, const ComposedChoice& preconditioner);

  /// `SystemSolver::solve` on fields of the operator's precision.
  Report solve(const AnyField& b, AnyField& x);
  std::vector<Report> solve(std::span<const AnyField> b, std::span<AnyField> x);
  const std::vector<double>& history(std::size_t system = 0) const;

  /// Of the multigrid in the preconditioner; none without one.
  std::optional<MultigridReport> multigrid() const {
    return multigrid_ ? std::optional(multigrid_()) : std::nullopt;
  }
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
  /// Calls `f` with the `KrylovSolver<S>`: in a refined solver the one over doubles. There must be
  /// one.
  template <class F>
  decltype(auto) visit_krylov(F&& f) const {
    return std::visit([&](const auto& parts) -> decltype(auto) { return f(*parts.krylov); },
                      parts_);
  }
  /// The same for all else that it does: solves in stream order, other options. Throws `Error`:
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

  std::function<MultigridReport()> multigrid_;
  std::variant<Parts<float>, Parts<double>> parts_;
  long long narrow_memory_ = 0;
  bool is_refined_ = false;
};

}  // namespace heddle
