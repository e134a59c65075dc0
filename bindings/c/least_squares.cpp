// Least squares of heddle.h.
#include <memory>
#include <utility>

#include "guard.hpp"
#include "handles.hpp"
#include "settings_given.hpp"
#include "sized_struct.hpp"
#include "solve_calls.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

heddle_least_squares_report c_report(const LeastSquaresReport& report) {
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

heddle_status heddle_least_squares_create(const heddle_operator* A, const heddle_settings* settings,
                                          heddle_least_squares** solver) {
  return guarded_by(A, [&] {
    heddle_least_squares*& out = required(solver, "solver");
    auto options = options_of<LeastSquaresOptions>(settings);
    options.observer = observer_of<LeastSquaresProgress>(settings);
    out =
        new heddle_least_squares{A->messages, A->parts, AnyLeastSquares(A->parts->matrix, options)};
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
          return solver->solver.solver<S>().solve(
              field_of<const S>(b, parts.entry, matrix->row_components(), device.stream(), "b"),
              field_of<S>(x, parts.entry, matrix->column_components(), device.stream(), "x"));
        });
    if (report != nullptr) write_struct(report, ::c_report(made), "heddle_least_squares_report");
  });
}

void heddle_least_squares_destroy(heddle_least_squares** solver) { destroy(solver); }
