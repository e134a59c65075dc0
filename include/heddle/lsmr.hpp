// Least squares by LSMR (Fong and Saunders 2011), for rectangular and singular operators.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/report.hpp"

namespace heddle {

namespace detail {
template <class S>
class LsmrLoop;
}

/// Its `relative_residual` is the recurrence's |A* r - d^2 x| / (|A| |r|), to which the tolerance
/// applies.
struct HEDDLE_EXPORT LeastSquaresProgress : SolveProgress {
  double residual = 0;  // |r| / |b|; with damping |r| includes d x
};

/// Both from the recurrence, starting at iteration 0.
struct HEDDLE_EXPORT LeastSquaresHistory {
  std::vector<double> residuals, gradients;
};

struct HEDDLE_EXPORT LeastSquaresOptions {
  static constexpr double by_precision = -1;

  /// d of min |A x - b|^2 + d^2 |x|^2, 0 or more. A solver keeps the value from its construction.
  double damping = 0;
  /// A solve has converged if |A* r - d^2 x| is at most this times |A| |r|, or |r| at most this
  /// times |b| + |A| |x|; with damping, |r| includes d x, and |A| includes d. `by_precision` is
  /// 1e-8 in double and long double, 1e-5 in single.
  double tolerance = by_precision;
  long long max_iterations = 10000;
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  /// Called before each iteration; false cancels.
  std::function<bool(const LeastSquaresProgress&)> observer = {};
  /// Keep the values of `LeastSquaresProgress` for every iteration, see `Lsmr::history`.
  bool record_history = false;
};

/// The result of one solve. Norms are 2-norms over all components; r = b - A x.
struct HEDDLE_EXPORT LeastSquaresReport {
  Status status = Status::converged;
  std::string_view detail;  // details, if the status alone does not give them
  long long iterations = 0;
  /// True values for the returned x: |r|, and |A* r - d^2 x|, the gradient of half the minimized
  /// function.
  double residual_norm = 0, gradient_norm = 0;
  /// |r| / |b|, and the gradient over |A| |r|, where |r| includes d x: the value the tolerance
  /// applies to.
  double residual = 0, gradient = 0;
  double right_hand_side_norm = 0, solution_norm = 0;
  /// A lower bound of |A|: the largest |A v| of the recurrence's unit vectors. And an estimate of
  /// the condition number. With damping both are of A over d.
  double matrix_norm = 0, condition = 0;
  int restarts = 0;  // restarts from the true residual, which the recurrence had left
  double permute_seconds = 0, iterate_seconds = 0;
  long long bytes_per_iteration = 0;  // modelled; 0 = unknown

  bool converged() const { return status == Status::converged; }
  /// Converged, or as close to it as x can be in its precision.
  bool solved() const { return converged() || status == Status::accuracy_limit; }
};

/// Minimizes |A x - b|^2 + d^2 |x|^2 for any A with an adjoint: with more rows than columns, with
/// fewer, or singular. Coefficients are real for every entry. |A* r| falls in every iteration, and
/// so does |r|. From x = 0 it finds the x of least norm. Each iteration takes one product with A
/// and one with A*. There is no preconditioner: to scale columns, solve with `product(A, D)` for y,
/// where x = D y.
///
/// Keeps operators as `KrylovSolver` does. A solver object serves one thread at a time.
template <class S>
class HEDDLE_EXPORT Lsmr {
 public:
  /// Uses the operator's own `adjoint()`. Throws `Error`: unsupported if there is none, usage for
  /// options out of their range, memory, before anything is allocated, if fields do not fit.
  explicit Lsmr(OperatorReference<S> matrix, LeastSquaresOptions options = {});
  /// Uses another operator for A*. Also throws `Error` (size_mismatch) for one of other sizes,
  /// bases or layout.
  Lsmr(OperatorReference<S> matrix, OperatorReference<S> adjoint, LeastSquaresOptions options = {});

  ~Lsmr();
  Lsmr(const Lsmr&) = delete;
  Lsmr& operator=(const Lsmr&) = delete;

  /// b has the operator's rows, x its columns and the guess on entry: both in the user's order or
  /// the operator's bases, in the GPU's memory or the host's. Throws `Error` for fields that do not
  /// fit; events during the iterations are the status. Repeats its bits, for any number of threads.
  LeastSquaresReport solve(const FieldView<const S>& b, const FieldView<S>& x);

  /// The history of the last solve, if the options ask for it; during a solve, that of the runs
  /// that have ended.
  const LeastSquaresHistory& history() const;

  /// Bytes that it has allocated, excluding those of A*.
  long long memory() const;

 private:
  std::unique_ptr<detail::LsmrLoop<S>> loop_;
};

template <class M>
Lsmr(M&&) -> Lsmr<operator_scalar_t<M>>;
template <class M>
Lsmr(M&&, LeastSquaresOptions) -> Lsmr<operator_scalar_t<M>>;
template <class M, class N>
Lsmr(M&&, N&&, LeastSquaresOptions = {}) -> Lsmr<operator_scalar_t<M>>;

extern template class Lsmr<float>;
extern template class Lsmr<double>;
extern template class Lsmr<long double>;

}  // namespace heddle
