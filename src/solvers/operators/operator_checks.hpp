// Checks that solvers, preconditioners and eigensolvers make of an operator before they use it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/memory_limits.hpp"
#include "base/text/readable.hpp"
#include "fields/fits_in_place.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

inline bool is_interval(const SpectralInterval& interval) {
  return interval.lower > 0 && interval.lower < interval.upper && std::isfinite(interval.upper);
}
constexpr bool is_tolerance(double tolerance) { return tolerance >= 0 && tolerance < 1; }
inline bool is_step(double omega) { return std::isfinite(omega) && omega != 0; }

/// Throws `Error` (usage) for an invalid interval or step, or one that the method does not take.
inline void check_steps(const SolverOptions& options, bool takes_interval, bool takes_omega) {
  const auto refuse = [](const char* why) {
    throw Error(ErrorKind::usage, std::string("solver options: ") + why);
  };
  if (options.interval && !takes_interval) {
    refuse("an interval is only for the Chebyshev and Richardson iterations");
  }
  if (options.omega && !takes_omega) refuse("omega is only for the Richardson iteration");
  if (options.interval && options.omega) refuse("omega and an interval; give one of them");
  if (options.interval && !is_interval(*options.interval)) {
    refuse("an interval needs 0 < lower < upper, both finite");
  }
  if (options.omega && !is_step(*options.omega)) refuse("omega must be finite and not 0");
}

/// Throws `Error` (usage) for options that no solver takes, and for an interval or a step that this
/// one does not take.
inline void check_options(const SolverOptions& options, bool takes_interval = false,
                          bool takes_omega = false) {
  check_steps(options, takes_interval, takes_omega);
  if (options.basis_precision != StoredScalar::own &&
      options.basis_precision != StoredScalar::single) {
    throw Error(ErrorKind::usage,
                "solver options: a basis is kept in full or in single precision, not in 16 bits");
  }
  if ((options.tolerance == SolverOptions::by_precision || is_tolerance(options.tolerance)) &&
      options.absolute_tolerance >= 0 && options.max_iterations >= 0 && options.time_limit >= 0 &&
      options.restart >= 1) {
    return;
  }
  throw Error(ErrorKind::usage,
              "solver options: the tolerance is at least 0 and below 1; absolute tolerance, "
              "iteration and time limit are not negative; the restart is 1 iteration or "
              "more");
}

/// Throws `Error` (usage) that begins with `options_of`, or replaces the tolerance `by_precision`
/// of least squares and eigenpairs.
template <class S, class Options>
void resolve_limits(Options& options, const std::string& options_of) {
  const bool is_usual = options.tolerance == Options::by_precision;
  if (!is_usual && !is_tolerance(options.tolerance)) {
    throw Error(ErrorKind::usage, options_of + ": the tolerance is at least 0 and below 1");
  }
  if (options.max_iterations < 0 || !(options.time_limit >= 0)) {
    throw Error(ErrorKind::usage, options_of + ": iteration and time limit are not negative");
  }
  if (is_usual) options.tolerance = std::is_same_v<S, float> ? 1e-5 : 1e-8;
}

template <class S>
long long bytes_of_field(const LinearOperator<S>& matrix) {
  return static_cast<long long>(matrix.rows()) * matrix.row_components() *
         static_cast<long long>(sizeof(S));
}

/// Throws `Error` (memory) unless the operator's device has `needed` bytes, counting those `held`
/// and given back before. `who`: "LOBPCG of 4 vectors needs"; `fields`: the number of fields.
template <class S>
void check_available(const LinearOperator<S>& matrix, const std::string& who, long long fields,
                     long long needed, long long held = 0) {
  const long long available =  // a caller's own memory has no bound
      std::min(available_memory_for(needed, matrix.device()),
               std::numeric_limits<long long>::max() - held) +
      held;
  if (needed <= available) return;
  throw Error(ErrorKind::memory, who + " " + std::to_string(fields) + " fields of " +
                                     readable_bytes(bytes_of_field(matrix)) +
                                     " besides the matrix, in all " + readable_bytes(needed) +
                                     ", available are " + readable_bytes(available));
}

/// Throws `Error` unless the operator maps fields of one shape and basis to such fields. `who`:
/// "a solver".
template <class S>
void check_square(const LinearOperator<S>& matrix, const char* who) {
  if (matrix.rows() != matrix.columns() || matrix.row_components() != matrix.column_components()) {
    throw Error(ErrorKind::size_mismatch,
                std::string(who) + " needs a square operator, this one is " +
                    std::to_string(matrix.rows()) + " x " + std::to_string(matrix.columns()) +
                    " with " + std::to_string(matrix.row_components()) + " x " +
                    std::to_string(matrix.column_components()) + " components");
  }
  if (!in_basis(matrix.row_basis(), matrix.column_basis())) {
    throw Error(
        ErrorKind::unsupported,
        std::string(who) + " needs rows and columns in one basis; make the operator with one");
  }
}

/// Throws `Error` unless the preconditioner was made for fields of the operator, as far as it says.
template <class S>
void check_fits(const Preconditioner<S>& preconditioner, const LinearOperator<S>& matrix) {
  const std::optional<FieldShape> shape = preconditioner.shape();
  if (!shape) return;
  if (shape->rows != matrix.rows() || shape->components != matrix.row_components()) {
    throw Error(ErrorKind::size_mismatch, "the preconditioner has " + std::to_string(shape->rows) +
                                              " rows of " + std::to_string(shape->components) +
                                              " components, the operator " +
                                              std::to_string(matrix.rows()) + " of " +
                                              std::to_string(matrix.row_components()));
  }
  if (!in_basis(shape->basis, matrix.row_basis())) {
    throw Error(
        ErrorKind::size_mismatch,
        "the preconditioner is in a different basis than the operator; make it from an operator "
        "in that basis");
  }
  if (shape->layout && *shape->layout != matrix.vector_layout()) {
    throw Error(ErrorKind::size_mismatch,
                "the preconditioner has a different vector layout than the operator's plan");
  }
  if (shape->gpu && *shape->gpu != matrix.device().stream().gpu) {
    throw Error(ErrorKind::usage, "the preconditioner is on a different device than the operator");
  }
}

/// Fields of the operator that a probe may overwrite.
template <class S>
struct ProbeFields {
  FieldView<S> x, y, image, zero;
  FieldView<S> multiplied = {};  // for `Symmetry::plain` alone
};

/// Hermitian: A = A*. Plain: A = A^T over complex numbers, without conjugation.
enum class Symmetry { hermitian, plain };

/// True if the operator has that symmetry to about half the digits of S, by two products with
/// random fields: Re <y, A x> = Re <x, A y>, the symmetry of the real expansion, or
/// y^T A x = x^T A y for real x and y. True also if this cannot be decided.
template <class S>
bool has_symmetry(Symmetry symmetry, const LinearOperator<S>& matrix, const ProbeFields<S>& fields,
                  Reduction<S>& reduction, const Stream& stream) {
  using sum = sum_t<S>;
  const bool is_plain = symmetry == Symmetry::plain;
  const auto& [x, y, image, zero, multiplied] = fields;
  fill<S>(S(0), zero, stream);
  unsigned long long seed = 1;
  using Number = Coefficient<Ring::complex, S>;
  const auto multiply = [&](const Number& by, const FieldView<S>& from, const FieldView<S>& to) {
    axpby<S>(by, from, Number{}, to, stream);
  };
  for (const FieldView<S>* field : {&x, &y}) {
    fill<S>(S(1), *field, stream);
    // 1 + i in every element becomes 1.
    if (is_plain) multiply({{S(0.5), S(-0.5)}}, *field, *field);
    randomize<S>(*field, seed++, stream);
  }
  // Re <(1 + i) y, A x> sees both components of y^T A x.
  const auto along = [&](const FieldView<S>& field, const FieldView<S>& other) {
    if (!is_plain) return real_dot<S>(field, image, reduction, stream);
    multiply({{S(1), S(1)}}, field, other);
    return real_dot<S>(other, image, reduction, stream);
  };
  // -A x, by a kernel that solves need anyway.
  const sum squared_x = matrix.residual(zero, x, image, reduction, stream);
  const sum along_y = along(y, multiplied);
  const sum squared_y = matrix.residual(zero, y, image, reduction, stream);
  const sum along_x = along(x, multiplied);
  // Both are sums of random terms: about as large as |A x|, and as different as A is from A* or
  // A^T.
  const sum size = std::sqrt(squared_x) + std::sqrt(squared_y);
  const sum defect = std::abs(along_x - along_y);
  const bool is_known = size > std::sqrt(std::numeric_limits<sum>::min()) && std::isfinite(size);
  const sum digits = std::sqrt(static_cast<sum>(std::numeric_limits<S>::epsilon()));
  return !(is_known && defect > digits * size);
}

}  // namespace heddle::detail
