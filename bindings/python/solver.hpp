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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "gpu_arrays.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "operator.hpp"
#include "settings.hpp"

namespace heddle_python {

/// Called by a running solve after each iteration: calls the caller's function, and now and then
/// checks for Ctrl-C.
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

/// Assigns the watch to one solve while this lives.
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
  nb::object of, preconditioner;  // their functions must live as long as this
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  std::int64_t rows = 0;
  bool records_history = false;
  Owned<heddle_solver, heddle_solver_destroy> solver;

  std::array<nb::object*, 2> references() { return {&of, &preconditioner}; }
  static Solver make(nb::handle_t<Operator> A, const std::string& method, nb::handle preconditioner,
                     const Settings& settings, bool records_history) {
    Solver made;
    const auto& matrix = nb::cast<const Operator&>(A);
    made.context = matrix.context;
    made.of = nb::borrow(A);
    made.preconditioner = nb::borrow(preconditioner);
    made.entry = matrix.entry;
    made.precision = matrix.precision;
    made.rows = matrix.rows;
    made.records_history = records_history;
    heddle_settings_observe(settings.get(), Watch::observe, made.watch.get());
    const heddle_preconditioner* const own =
        preconditioner.is_none()
            ? nullptr
            : nb::cast<const Preconditioner&>(preconditioner).preconditioner.own;
    call(made.context, [&] {
      return heddle_solver_create(matrix.A.own, c_text(method), own, settings.get(),
                                  &made.solver.own);
    });
    return made;
  }

  /// Solves from zero, or from a guess that is already in x. Returns the outcome by name, numbers
  /// of the report, its detail, and the history or None.
  nb::tuple solve(const Contiguous& b, const Writable& x, bool from_zero, nb::handle callback) {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const heddle_view from = view_of(b, entry, scalars, "b"), to = view_of(x, entry, scalars, "x");
    check_apart(from.data, to.data, x.nbytes(), "b and out share memory");
    return solved(callback, [&](heddle_report* report) {
      if (from_zero) std::memset(to.data, 0, x.nbytes());
      return heddle_solver_solve(solver.own, &from, &to, report);
    });
  }
  /// The same in any memory, starting from `guess`, which may be absent or x itself, or from zero.
  nb::tuple solve_at(const Place& b, const Place& x, const std::optional<Place>& guess,
                     bool from_zero, nb::handle callback) {
    check_places(1, b, x, guess);
    const heddle_view from = at(b), to = at(x);
    const heddle_operator* const A = nb::cast<const Operator&>(of).A.own;
    return solved(callback, [&](heddle_report* report) {
      const heddle_status begun = begin(A, 1, x, guess, from_zero);
      if (begun != HEDDLE_OK) return begun;
      return heddle_solver_solve(solver.own, &from, &to, report);
    });
  }
  /// Solves systems whose vectors follow each other, in either memory. Returns a tuple for each,
  /// like `solve`.
  nb::list solve_all(std::int64_t systems, const Place& b, const Place& x,
                     const std::optional<Place>& guess, bool from_zero, nb::handle callback) {
    check_places(systems, b, x, guess);
    const std::vector<heddle_view> from = several_at(b, systems), to = several_at(x, systems);
    std::vector<heddle_report> reports(to.size());
    const heddle_operator* const A = nb::cast<const Operator&>(of).A.own;
    work(callback, [&] {
      if (!reports.empty()) reports.front().struct_size = sizeof(heddle_report);
      const heddle_status begun = begin(A, systems, x, guess, from_zero);
      if (begun != HEDDLE_OK) return begun;
      return heddle_solver_solve_all(solver.own, systems, from.data(), to.data(), reports.data());
    });
    nb::list all;
    for (std::size_t k = 0; k < reports.size(); ++k) {
      all.append(report_tuple(reports[k], detail_of(solver.own, k), nb::none()));
    }
    return all;
  }
  /// Called in a callback of a solve: writes the x that it has reached.
  void iterate(const Writable& x) const {
    const heddle_view to = view_of(x, entry, heddle_row_scalars(entry), "x");
    call(context, [&] { return heddle_solver_iterate(solver.own, &to); });
  }
  void set_null_space(std::int64_t count, const Place& vectors) {
    const std::vector<heddle_view> views = several_at(vectors, count);
    call(context, [&] { return heddle_solver_set_null_space(solver.own, count, views.data()); });
  }
  void prepare_enqueue(const Place& b, const Place& x) {
    const heddle_view from = at(b), to = at(x);
    call(context, [&] { return heddle_solver_prepare_enqueue(solver.own, &from, &to, nullptr); });
  }
  /// `report`: where in the GPU's memory a heddle_device_report goes; 0 for the solver's own.
  void enqueue(const Place& b, const Place& x, std::uintptr_t stream, std::uintptr_t report) {
    const heddle_view from = at(b), to = at(x);
    call(context, [&] {
      return heddle_solver_enqueue(solver.own, &from, &to, reinterpret_cast<void*>(stream),
                                   reinterpret_cast<heddle_device_report*>(report));
    });
  }
  nb::tuple wait() {
    return solved(nb::none(),
                  [&](heddle_report* report) { return heddle_solver_wait(solver.own, report); });
  }
  void cancel() { check(context, heddle_solver_cancel(solver.own)); }

  /// A copy, made before another thread can solve.
  nb::object history() const {
    const double* values = nullptr;
    std::int64_t count = 0;
    check(context, heddle_solver_history(solver.own, &values, &count));
    const auto size = static_cast<std::size_t>(count);
    return nb::cast(nb::ndarray<nb::numpy, const double>(values, 1, &size, nb::none()),
                    nb::rv_policy::copy);
  }
  heddle_view at(const Place& place) const { return view_at(place, rows, entry, precision); }
  std::uintptr_t bytes_of_vector() const {
    return static_cast<std::uintptr_t>(rows * heddle_row_scalars(entry)) *
           (precision == HEDDLE_SINGLE ? sizeof(float) : sizeof(double));
  }
  /// Views of vectors that follow each other.
  std::vector<heddle_view> several_at(const Place& place, std::int64_t count) const {
    std::vector<heddle_view> views;
    for (std::uintptr_t k = 0; k < static_cast<std::uintptr_t>(count); ++k) {
      views.push_back(at({place.first + k * bytes_of_vector(), place.second}));
    }
    return views;
  }
  /// Called before anything is written: a later refusal would cost the caller b. Hosts and GPUs
  /// share one address space.
  static void check_apart(const void* a, const void* b, std::size_t bytes, const char* message) {
    const auto first = reinterpret_cast<std::uintptr_t>(a);
    const auto second = reinterpret_cast<std::uintptr_t>(b);
    if ((first < second ? second - first : first - second) < bytes) {
      raise(HEDDLE_ERROR_USAGE, message);
    }
  }
  void check_places(std::int64_t count, const Place& b, const Place& x,
                    const std::optional<Place>& guess) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * bytes_of_vector();
    const heddle_view from = at(b), to = at(x);
    check_apart(from.data, to.data, bytes, "b and out share memory");
    if (!guess || guess->first == x.first) return;
    check_apart(at(*guess).data, to.data, bytes, "x0 and out share memory, and are not one array");
  }
  /// Copies the guesses to x, or zeros it.
  heddle_status begin(const heddle_operator* A, std::int64_t count, const Place& x,
                      const std::optional<Place>& guess, bool from_zero) const {
    if (guess ? guess->first == x.first : !from_zero) return HEDDLE_OK;
    const std::vector<heddle_view> to = several_at(x, count),
                                   from = several_at(guess.value_or(Place()), count);
    for (std::size_t k = 0; k < to.size(); ++k) {
      const heddle_status copied = heddle_operator_copy(A, guess ? &from[k] : nullptr, &to[k]);
      if (copied != HEDDLE_OK) return copied;
    }
    return HEDDLE_OK;
  }
  /// Calls the library for one solve at a time.
  template <class Work>
  void work(nb::handle callback, const Work& f) {
    if (watch->at_work) {
      raise(HEDDLE_ERROR_BUSY, "this solver is in use by another call; it serves one at a time");
    }
    const AtWork here(*watch, callback);
    call(context, f);
  }
  template <class Work>
  nb::tuple solved(nb::handle callback, const Work& f) {
    heddle_report report{};
    report.struct_size = sizeof report;
    work(callback, [&] { return f(&report); });
    return report_tuple(report, detail_of(solver.own, 0), records_history ? history() : nb::none());
  }
  static std::string detail_of(const heddle_solver* solver, std::size_t system) {
    const auto number = static_cast<std::int64_t>(system);
    return text_of([&](char* to, std::size_t capacity) {
      return heddle_solver_detail(solver, number, to, capacity);
    });
  }
  static nb::tuple report_tuple(const heddle_report& report, const std::string& detail,
                                const nb::object& history) {
    constexpr const char* returned[] = {"last", "best", "guess"};
    return nb::make_tuple(heddle_outcome_name(report.outcome), report.iterations, report.residual,
                          report.residual_norm, report.backward_error, report.seconds, detail,
                          returned[report.returned], history);
  }
  std::string summary() const {
    return text_of([&](char* to, std::size_t capacity) {
      return heddle_solver_summary(solver.own, to, capacity);
    });
  }
};

/// Least squares by LSMR.
struct LeastSquares {
  SharedContext context;
  std::unique_ptr<Watch> watch = std::make_unique<Watch>();
  nb::object of;  // its function must live as long as this
  std::int64_t rows = 0, columns = 0;
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  Owned<heddle_least_squares, heddle_least_squares_destroy> solver;

  static LeastSquares make(nb::handle_t<Operator> A, const Settings& settings) {
    LeastSquares made;
    const auto& matrix = nb::cast<const Operator&>(A);
    made.context = matrix.context;
    made.of = nb::borrow(A);
    made.rows = matrix.rows;
    made.columns = matrix.columns;
    made.entry = matrix.entry;
    made.precision = matrix.precision;
    heddle_settings_observe(settings.get(), Watch::observe, made.watch.get());
    call(made.context, [&] {
      return heddle_least_squares_create(matrix.A.own, settings.get(), &made.solver.own);
    });
    return made;
  }
  /// Solves from the guess in x. Returns outcome, iterations, and norms: of r, A* r, A, the
  /// condition, x.
  nb::tuple solve(const Place& b, const Place& x, nb::handle callback) {
    const heddle_view from = view_at(b, rows, entry, precision),
                      to = view_at(x, columns, entry, precision);
    heddle_least_squares_report report{};
    report.struct_size = sizeof report;
    const AtWork here(*watch, callback);
    call(context, [&] { return heddle_least_squares_solve(solver.own, &from, &to, &report); });
    return nb::make_tuple(heddle_outcome_name(report.outcome), report.iterations,
                          report.residual_norm, report.gradient_norm, report.matrix_norm,
                          report.condition, report.solution_norm);
  }
};

/// The name of the preconditioner for a matrix that is not shifted, and the reason for it.
inline std::pair<std::string, std::string> choose_preconditioner(const Matrix& matrix) {
  const char* preconditioner = nullptr;
  std::array<char, 256> reason{};
  call(matrix.context, [&] {
    return heddle_choose_preconditioner(matrix.matrix.own, nullptr, &preconditioner, reason.data(),
                                        reason.size());
  });
  return {preconditioner, reason.data()};
}

/// Another method after a solve by `method` with this outcome, and the reason for it; empty if
/// there is none.
inline std::pair<std::string, std::string> choose_other_method(const std::string& method,
                                                               const std::string& outcome,
                                                               std::int64_t iterations) {
  int number = 0;
  const char* name = nullptr;
  for (; (name = heddle_outcome_name(static_cast<heddle_outcome>(number))) != nullptr; ++number) {
    if (outcome == name) break;
  }
  const auto context = std::make_shared<Context>();
  const char* other = nullptr;
  std::array<char, 256> reason{};
  check(context, heddle_choose_other_method(context->own, c_text(method),
                                            static_cast<heddle_outcome>(number), iterations, &other,
                                            reason.data(), reason.size()));
  return {other == nullptr ? "" : other, reason.data()};
}

/// `A` may be null.
inline std::string choose_method(const Matrix& matrix, const Operator* A,
                                 const std::string& preconditioner) {
  const char* method = nullptr;
  const heddle_operator* const own = A != nullptr ? A->A.own : nullptr;
  call(matrix.context, [&] {
    return heddle_choose_method(matrix.matrix.own, own, c_text(preconditioner), &method);
  });
  return method;
}

}  // namespace heddle_python
