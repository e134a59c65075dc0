// How a solve stops, and its report.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string_view>

#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"

namespace heddle {

enum class Status {
  converged,  // |b - A x| was computed and is within the tolerance
  iteration_limit,
  time_limit,
  cancelled,   // by the observer, or by `cancel`
  indefinite,  // p* A p < 0 in conjugate gradient, or r* M^-1 r < 0
  breakdown,   // a coefficient of the recurrence is zero or not a number, though nothing overflowed
  stagnated,   // two restarts in a row did not halve the true residual
  not_finite,  // NaN or infinity in b, the guess or the iteration
  accuracy_limit,  // rounding of x keeps the residual above the tolerance
  out_of_range,    // the scalars of x cannot hold the solution: it overflows or underflows
  not_hermitian,   // so conjugate gradient must not be used
  not_symmetric    // so COCG must not be used
};
HEDDLE_EXPORT std::string_view name(Status status);

/// The x that a solve returns.
enum class Returned {
  last,  // the x of its last iteration; also x = 0 for b = 0
  best,  // the x of least true residual among those that were examined
  guess
};
HEDDLE_EXPORT std::string_view name(Returned returned);

/// The x returned by a solve that a limit of iterations or time, or the caller, ends. If the
/// recurrence itself failed, it is the best one.
enum class Keep { last, best };

/// The reference of the relative tolerance.
enum class Baseline { right_hand_side, initial_residual };

struct HEDDLE_EXPORT SolveProgress {
  long long iteration = 0;
  double relative_residual = 0;  // residual of the recurrence, relative to the baseline
  double seconds = 0;
  int system = 0;  // index among the systems that are solved together
  /// For a preconditioner that is a solver: iterations of its current application; `iteration` and
  /// `relative_residual` are the outer solver's. 0 when an outer iteration is over.
  long long inner_iterations = 0;
};

/// Bounds of the eigenvalues that a polynomial or an iteration is made for, 0 < lower < upper.
struct HEDDLE_EXPORT SpectralInterval {
  double lower = 0;
  double upper = 0;
};

struct HEDDLE_EXPORT SolverOptions {
  static constexpr double by_precision = -1;

  /// The relative tolerance; `by_precision` is 1e-10 in double and long double, 1e-5 in single.
  double tolerance = by_precision;
  Baseline baseline = Baseline::right_hand_side;
  /// A residual norm of at most this is enough, whatever the tolerance.
  double absolute_tolerance = 0;
  long long max_iterations = 10000;
  /// Iterations of GMRES between restarts, each of which keeps a field. A solver keeps the value
  /// from its construction.
  int restart = 30;
  /// The precision of the vectors that GMRES and FGMRES keep between restarts: `single` stores them
  /// as floats, which halves their memory in double. All else stays double, and b - A x decides; a
  /// cycle reduces the residual slightly less, by 6 digits at most. Refused in long double. A
  /// solver keeps the value from its construction.
  StoredScalar basis_precision = StoredScalar::own;
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  /// Methods that minimize a norm other than the residual's, as conjugate gradient does, approach
  /// the solution while the residual rises.
  Keep keep = Keep::last;
  /// Called after each iteration, including those of a preconditioner that is a solver; false
  /// cancels.
  std::function<bool(const SolveProgress&)> observer = {};
  /// Keep the relative residual of every iteration, see the solver's `history()`.
  bool record_history = false;
  /// Test if the matrix is Hermitian where the method needs that (two products in the first `solve`
  /// of a solver, two more to say how a complex one is refused, none in `enqueue`), and end where
  /// rounding leaves nothing to gain. Use false to measure iterations.
  bool checks = true;
  /// Interval of M^-1 A, for `ChebyshevIteration` and `Richardson` alone; without it, an estimate.
  std::optional<SpectralInterval> interval = std::nullopt;
  /// The step of `Richardson` alone, finite and not 0; without it, that of the interval.
  std::optional<double> omega = std::nullopt;
};

/// The result of one solve. Norms are 2-norms over all components, of the system as given.
struct HEDDLE_EXPORT Report {
  Status status = Status::converged;
  std::string_view detail;            // details, if the status alone does not give them
  std::string_view loop = "stepped";  // the form that ran, as plans name it
  std::string_view stored = "own";    // read by the last iterations: own, float, or as in plans
  std::string_view basis = "";  // form in which a method stores its basis, if any: own or float
  Returned returned = Returned::guess;
  long long iterations = 0;
  double residual = 0;       // |b - A x| / baseline, true, for the returned x
  double residual_norm = 0;  // |b - A x|
  double baseline_norm = 0;
  double target_norm = 0;  // the residual norm that counts as converged
  /// |b - A x| / (|A D x| + |b|), with D random factors of about 1: the residual relative to the
  /// precision of x and b, at least the one by |A| |x| + |b|. NaN if no product was made for it.
  double backward_error = std::numeric_limits<double>::quiet_NaN();
  /// Restarts from the true residual: the recurrence had drifted, read floats, or (GMRES) a cycle
  /// helped almost nothing.
  int restarts = 0;
  double permute_seconds = 0;
  double iterate_seconds = 0;
  long long bytes_per_iteration = 0;  // modelled; 0 = unknown
  int processors = 0;  // processors of the host on which the threads of a CPU solve run; 0 on a GPU
  /// The interval that `ChebyshevIteration` and `Richardson` used, given or estimated; none for
  /// other methods, if the step was given, and if the estimate found no positive definite matrix.
  std::optional<SpectralInterval> interval = std::nullopt;
  std::optional<double> omega = std::nullopt;  // the step of `Richardson`

  bool converged() const { return status == Status::converged; }
  /// Converged, or as close to it as x can be in its precision.
  bool solved() const { return converged() || status == Status::accuracy_limit; }
  double bandwidth() const {  // bytes per second
    return iterate_seconds > 0 ? static_cast<double>(bytes_per_iteration) *
                                     static_cast<double>(iterations) / iterate_seconds
                               : 0;
  }
};
HEDDLE_EXPORT std::ostream& operator<<(std::ostream& out, const Report& report);

/// Report of a solve in stream order, written by the device when that solve is over. Members with
/// the same names are as in `Report`.
struct HEDDLE_EXPORT DeviceReport {
  Status status = Status::converged;
  StoredScalar stored = StoredScalar::own;
  int restarts = 0;
  Returned returned = Returned::guess;
  long long iterations = 0;
  double residual = 0;
  double residual_norm = 0;
  double baseline_norm = 0;
  double target_norm = 0;
  /// The first row, in the user's order, for which the preconditioner could not be made, or -1. The
  /// status is then `breakdown`, and x is the guess, unless that was within the tolerance.
  Index singular_row = -1;
  double backward_error = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace heddle
