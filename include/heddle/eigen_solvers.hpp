// Replacements for Eigen's iterative solvers: heddle::eigen::ConjugateGradient and
// heddle::eigen::BiCGSTAB stand in for Eigen::ConjugateGradient and Eigen::BiCGSTAB.
#pragma once

#include <Eigen/IterativeLinearSolvers>
#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "heddle/bicgstab.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/eigen.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"

namespace heddle::eigen {

/// The common part of both solvers. `Method` is heddle's solver; `UpLo` is as in Eigen's conjugate
/// gradient. Unlike Eigen's, the tolerance applies to the true residual |b - A x| / |b| and
/// defaults to 1e-10 (in single precision 1e-5), and a diagonal entry that is not finite is a
/// NumericalIssue.
template <template <class> class Method, class MatrixType, int UpLo, class Preconditioner, class E>
class IterativeSolver {
 public:
  using Scalar = typename MatrixType::Scalar;
  using RealScalar = typename Eigen::NumTraits<Scalar>::Real;
  using StorageIndex = typename MatrixType::StorageIndex;
  static constexpr bool has_jacobi =
      std::is_same_v<Preconditioner, Eigen::DiagonalPreconditioner<Scalar>>;
  static_assert(has_jacobi || std::is_same_v<Preconditioner, Eigen::IdentityPreconditioner>,
                "heddle supports only Eigen's DiagonalPreconditioner and IdentityPreconditioner");

  /// Solves on a GPU if given `Device::cuda()`; right-hand sides and solutions stay in the host's
  /// memory.
  explicit IterativeSolver(const Device& device = Device::cpu()) : device_(device) {}
  explicit IterativeSolver(const MatrixType& matrix, const Device& device = Device::cpu())
      : IterativeSolver(device) {
    compute(matrix);
  }

  /// Takes the pattern alone, which gives the places of values. `factorize` stores the values of a
  /// matrix of that pattern, any number of times.
  IterativeSolver& analyzePattern(const MatrixType& matrix) {
    system_.reset();
    if (matrix.rows() != matrix.cols()) {
      throw Error(ErrorKind::size_mismatch, "a solver needs a square matrix, this one is " +
                                                std::to_string(matrix.rows()) + " x " +
                                                std::to_string(matrix.cols()));
    }
    visit_whole(matrix, [&](const auto& whole) { assembled_ = assemble<E>(whole); });
    size_ = matrix.rows();
    info_ = Eigen::Success;
    return *this;
  }

  IterativeSolver& factorize(const MatrixType& matrix) {
    require(matrix.rows() == size_ && matrix.cols() == size_,
            "factorize: analyzePattern saw a different size");
    visit_whole(matrix, [&](const auto& whole) {
      assembled_.map.apply(whole, assembled_.matrix.values().span());
    });
    info_ = Eigen::Success;
    try {
      if (system_) {
        system_->matrix.update_values(assembled_.matrix);
        if (system_->preconditioner) system_->preconditioner->refresh();
      } else {
        system_ = std::make_unique<System>(assembled_.matrix, device_);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::singular) throw;
      info_ = Eigen::NumericalIssue;
      system_.reset();
    }
    return *this;
  }

  IterativeSolver& compute(const MatrixType& matrix) {
    analyzePattern(matrix);
    return factorize(matrix);
  }

  /// Starts from zero; b may have several columns, solved one after the other.
  template <class Rhs>
  auto solve(const Eigen::MatrixBase<Rhs>& b) {
    Solution<Rhs> x = Solution<Rhs>::Zero(size_, b.cols());
    solve_columns(b, x);
    return x;
  }
  template <class Rhs, class Guess>
  auto solveWithGuess(const Eigen::MatrixBase<Rhs>& b, const Eigen::MatrixBase<Guess>& guess) {
    Solution<Rhs> x = guess;
    solve_columns(b, x);
    return x;
  }

  IterativeSolver& setTolerance(const RealScalar& tolerance) {
    options_.tolerance = static_cast<double>(tolerance);
    return *this;
  }
  IterativeSolver& setMaxIterations(Eigen::Index iterations) {
    max_iterations_ = iterations;
    return *this;
  }
  RealScalar tolerance() const {
    if (options_.tolerance >= 0) return static_cast<RealScalar>(options_.tolerance);
    return static_cast<RealScalar>(std::is_same_v<RealScalar, float> ? 1e-5 : 1e-10);
  }
  /// Twice the number of columns by default.
  Eigen::Index maxIterations() const { return max_iterations_ < 0 ? 2 * size_ : max_iterations_; }

  Eigen::Index rows() const { return size_; }
  Eigen::Index cols() const { return size_; }

  /// Maxima over the columns of the last solve: iterations, and the relative residual.
  Eigen::Index iterations() const { return iterations_; }
  RealScalar error() const { return static_cast<RealScalar>(error_); }
  /// Success; NoConvergence if a column did not reach the tolerance; NumericalIssue if the method
  /// broke down, or a number was not finite.
  Eigen::ComputationInfo info() const { return info_; }
  /// The report of the last column.
  const Report& report() const { return report_; }

 private:
  using S = vector_scalar_t<E>;
  template <class Rhs>
  using Solution = Eigen::Matrix<Scalar, Eigen::Dynamic, Rhs::ColsAtCompileTime>;

  /// Kept at a fixed address, since the solver refers to the operator.
  struct System {
    System(const CsrMatrix<E>& given, const Device& device)
        : matrix(given, choose_plan(given, device), device),
          preconditioner(has_jacobi ? std::make_shared<Jacobi<E>>(matrix) : nullptr),
          solver(matrix, std::shared_ptr<heddle::Preconditioner<S>>(preconditioner)) {}

    Operator<E> matrix;
    std::shared_ptr<Jacobi<E>> preconditioner;
    Method<S> solver;
  };

  static void require(bool holds, const char* message) {
    if (!holds) throw Error(ErrorKind::size_mismatch, message);
  }

  /// Calls `visit(whole)` with the matrix, compressed, with both triangles if UpLo names one.
  template <class Visit>
  static void visit_whole(const MatrixType& matrix, const Visit& visit) {
    if constexpr (UpLo == Eigen::Lower || UpLo == Eigen::Upper) {
      MatrixType whole;
      whole = matrix.template selfadjointView<UpLo>();
      whole.makeCompressed();
      visit(whole);
    } else if (!matrix.isCompressed()) {
      MatrixType compressed = matrix;
      compressed.makeCompressed();
      visit(compressed);
    } else {
      visit(matrix);
    }
  }

  template <class Rhs, class X>
  void solve_columns(const Eigen::MatrixBase<Rhs>& b, X& x) {
    require(b.rows() == size_ && x.rows() == size_ && x.cols() == b.cols(),
            "solve: the right-hand side or the guess does not have the matrix's size");
    iterations_ = 0;
    error_ = 0;
    if (!system_) {
      if (info_ != Eigen::NumericalIssue) throw Error(ErrorKind::usage, "solve before compute");
      return;
    }
    options_.max_iterations = maxIterations();
    system_->solver.set_options(options_);
    info_ = Eigen::Success;
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> right;
    for (Eigen::Index column = 0; column < b.cols(); ++column) {
      right = b.col(column);
      auto solution = x.col(column);
      report_ = system_->solver.solve(field_view<E>(std::as_const(right)), field_view<E>(solution));
      iterations_ = std::max<Eigen::Index>(iterations_, report_.iterations);
      error_ = std::max(error_, report_.residual);
      note(report_.status);
    }
  }

  void note(Status status) {
    if (status == Status::converged || info_ == Eigen::NumericalIssue) return;
    const bool broke_down =
        status == Status::indefinite || status == Status::breakdown || status == Status::not_finite;
    info_ = broke_down ? Eigen::NumericalIssue : Eigen::NoConvergence;
  }

  Device device_;
  SolverOptions options_;
  Eigen::Index max_iterations_ = -1;
  Eigen::Index size_ = 0;
  EigenAssembled<E> assembled_;
  std::unique_ptr<System> system_;
  Eigen::ComputationInfo info_ = Eigen::InvalidInput;
  Eigen::Index iterations_ = 0;
  double error_ = 0;
  Report report_;
};

/// A number type of Eigen as an entry.
template <class Scalar>
using NumberEntry = typename detail::eigen_scalar<Scalar>::entry;

/// Replaces Eigen::ConjugateGradient, with its template arguments: `UpLo` says which triangle to
/// read, Lower | Upper for both. A fourth one names the entry that the matrix is folded into, for
/// example block<double, 3, 3>.
template <class MatrixType, int UpLo = Eigen::Lower,
          class Preconditioner = Eigen::DiagonalPreconditioner<typename MatrixType::Scalar>,
          class E = NumberEntry<typename MatrixType::Scalar>>
using ConjugateGradient =
    IterativeSolver<heddle::ConjugateGradient, MatrixType, UpLo, Preconditioner, E>;

/// Replaces Eigen::BiCGSTAB.
template <class MatrixType,
          class Preconditioner = Eigen::DiagonalPreconditioner<typename MatrixType::Scalar>,
          class E = NumberEntry<typename MatrixType::Scalar>>
using BiCGSTAB =
    IterativeSolver<heddle::BiCGStab, MatrixType, Eigen::Lower | Eigen::Upper, Preconditioner, E>;

}  // namespace heddle::eigen
