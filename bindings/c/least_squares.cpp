// Least squares of heddle.h.
#include <limits>
#include <memory>
#include <utility>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/lsmr.hpp"
#include "sized_struct.hpp"
#include "solve_calls.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_least_squares_options default_least_squares_options{
    sizeof(heddle_least_squares_options),
    0,
    LeastSquaresOptions::by_precision,
    10000,
    std::numeric_limits<double>::infinity(),
    nullptr,
    nullptr};

/// `Lsmr` refuses what is out of its range.
LeastSquaresOptions options_of(const heddle_least_squares_options* given) {
  const auto c = read_struct(given, default_least_squares_options, "heddle_least_squares_options");
  LeastSquaresOptions options;
  options.damping = c.damping;
  options.tolerance = c.tolerance;
  options.max_iterations = c.max_iterations;
  options.time_limit = c.time_limit;
  if (c.observer != nullptr) {
    options.observer = [observer = c.observer, user = c.user](const LeastSquaresProgress& now) {
      const heddle_progress progress{now.iteration, now.relative_residual, now.seconds};
      return observer(user, &progress) == 0;
    };
  }
  return options;
}

heddle_least_squares_report told(const LeastSquaresReport& report) {
  heddle_least_squares_report c{};
  c.outcome = static_cast<heddle_outcome>(report.status);
  c.restarts = report.restarts;
  c.iterations = report.iterations;
  c.residual_norm = report.residual_norm;
  c.gradient_norm = report.gradient_norm;
  c.residual = report.residual;
  c.gradient = report.gradient;
  c.solution_norm = report.solution_norm;
  c.matrix_norm = report.matrix_norm;
  c.condition = report.condition;
  c.seconds = report.iterate_seconds;
  return c;
}

}  // namespace

void heddle_least_squares_options_init(heddle_least_squares_options* options, size_t size) {
  init_struct(options, size, default_least_squares_options);
}

heddle_status heddle_least_squares_create(const heddle_operator* A,
                                          const heddle_least_squares_options* given,
                                          heddle_least_squares** solver) {
  return guarded_by(A, [&] {
    heddle_least_squares*& out = required(solver, "solver");
    const LeastSquaresOptions options = options_of(given);
    out = A->parts->matrix.visit([&]<class S>(
                                     const std::shared_ptr<const LinearOperator<S>>& matrix) {
      return new heddle_least_squares{
          A->messages, A->parts, std::make_unique<Lsmr<S>>(OperatorReference<S>(matrix), options)};
    });
  });
}

heddle_status heddle_least_squares_solve(heddle_least_squares* solver, const heddle_view* b,
                                         const heddle_view* x,
                                         heddle_least_squares_report* report) {
  return guarded_by(solver, [&] {
    if (report != nullptr) known_size(*report, "heddle_least_squares_report");
    const AtWork here(&solver->at_work, "solver");
    const OperatorParts& parts = *solver->of;
    const LeastSquaresReport made =
        parts.matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
          const Device device = matrix->device();
          return std::get<OwnedLsmr<S>>(solver->solver)
              ->solve(
                  field_of<const S>(b, parts.entry, matrix->row_components(), device.stream(), "b"),
                  field_of<S>(x, parts.entry, matrix->column_components(), device.stream(), "x"));
        });
    if (report != nullptr) write_struct(report, ::told(made), "heddle_least_squares_report");
  });
}

void heddle_least_squares_destroy(heddle_least_squares** solver) {
  if (solver == nullptr) return;
  delete *solver;
  *solver = nullptr;
}
