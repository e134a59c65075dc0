// Solvers for Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "call.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "operator.hpp"

namespace heddle_python {

/// What a running solve asks after each iteration: the caller's function, and now and then whether
/// the user has pressed Ctrl-C.
struct Watch {
  bool at_work = false;  // guarded by the interpreter's lock
  PyObject* function = nullptr;
  std::chrono::steady_clock::time_point asked;

  static int observe(void* user, const heddle_progress* progress) {
    Watch& watch = *static_cast<Watch*>(user);
    if (Absence::is_over()) return 1;
    const auto now = std::chrono::steady_clock::now();
    constexpr std::chrono::milliseconds patience(50);
    if (watch.function == nullptr && now - watch.asked < patience) return 0;
    const nb::gil_scoped_acquire held;
    try {
      if (now - watch.asked >= patience) {
        watch.asked = now;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      }
      if (watch.function != nullptr) {
        nb::handle(watch.function)(progress->iteration, progress->relative_residual);
      }
      return 0;
    } catch (...) {
      raised = std::current_exception();
      return 1;
    }
  }
};

/// From here on the watch is of one solve, until this goes.
class AtWork {
 public:
  AtWork(Watch& watch, nb::handle callback) : watch_(watch) {
    watch.at_work = true;
    watch.function = callback.is_none() ? nullptr : callback.ptr();
    watch.asked = std::chrono::steady_clock::now();
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() { watch_.at_work = false; }

 private:
  Watch& watch_;
};

struct Solver {
  SharedContext context;
  std::unique_ptr<Watch> watch = std::make_unique<Watch>();
  nb::object of, preconditioner;  // whose functions must live as long
  heddle_entry entry = HEDDLE_REAL;
  bool records_history = false;
  Owned<heddle_solver, heddle_solver_destroy> solver;

  std::array<nb::object*, 2> references() { return {&of, &preconditioner}; }
  static Solver make(nb::handle_t<Operator> A, const std::string& method, nb::handle preconditioner,
                     double tolerance, double absolute_tolerance, std::int64_t max_iterations,
                     int restart, double time_limit, bool record_history) {
    Solver made;
    const auto& matrix = nb::cast<const Operator&>(A);
    made.context = matrix.context;
    made.of = nb::borrow(A);
    made.preconditioner = nb::borrow(preconditioner);
    made.entry = matrix.entry;
    made.records_history = record_history;
    heddle_solver_options options;
    heddle_solver_options_init(&options, sizeof options);
    options.tolerance = tolerance;
    options.absolute_tolerance = absolute_tolerance;
    options.max_iterations = max_iterations;
    options.restart = restart;
    options.time_limit = time_limit;
    options.record_history = record_history ? 1 : 0;
    options.observer = Watch::observe;
    options.user = made.watch.get();
    const heddle_preconditioner* const own =
        preconditioner.is_none()
            ? nullptr
            : nb::cast<const Preconditioner&>(preconditioner).preconditioner.own;
    call(made.context, [&] {
      return heddle_solver_create(matrix.A.own, method.c_str(), own, &options, &made.solver.own);
    });
    return made;
  }

  /// From x, or from zero. The outcome by name, numbers of the report, and the history or None.
  nb::tuple solve(const Contiguous& b, const Writable& x, bool from_zero, nb::handle callback) {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const heddle_view from = view_of(b, entry, scalars, "b"), to = view_of(x, entry, scalars, "x");
    heddle_report report{};
    report.struct_size = sizeof report;
    if (watch->at_work) {
      raise(HEDDLE_ERROR_BUSY, "this solver is at work in another call; it serves one");
    }
    const AtWork here(*watch, callback);
    call(context, [&] {
      if (from_zero) std::memset(to.data, 0, x.nbytes());
      return heddle_solver_solve(solver.own, &from, &to, &report);
    });
    return nb::make_tuple(heddle_outcome_name(report.outcome), report.iterations, report.residual,
                          report.residual_norm, report.backward_error, report.seconds,
                          records_history ? history() : nb::none());
  }
  /// A copy, made before another thread can solve.
  nb::object history() const {
    const double* values = nullptr;
    std::int64_t count = 0;
    check(context, heddle_solver_history(solver.own, &values, &count));
    const auto size = static_cast<std::size_t>(count);
    return nb::cast(nb::ndarray<nb::numpy, const double>(values, 1, &size, nb::none()),
                    nb::rv_policy::copy);
  }
  std::string summary() const {
    std::string text(heddle_solver_summary(solver.own, nullptr, 0), '\0');
    heddle_solver_summary(solver.own, text.data(), text.size() + 1);
    return text;
  }
};

inline std::string choose_method(const Matrix& matrix, const Operator& A,
                                 const std::string& preconditioner) {
  const char* method = nullptr;
  call(matrix.context, [&] {
    return heddle_choose_method(matrix.matrix.own, A.A.own, preconditioner.c_str(), &method);
  });
  return method;
}

}  // namespace heddle_python
