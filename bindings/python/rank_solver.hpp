// Solvers on ranks for Python: threads of the process, which share the matrix anew for each solve.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "gpu_arrays.hpp"
#include "heddle.h"
#include "matrix.hpp"
#include "solver.hpp"

namespace heddle_python {

/// Destroys an object of heddle.h in a thread without the interpreter's lock.
template <class T, void (*destroy)(T**)>
struct OfRank {
  T* own = nullptr;
  OfRank() = default;
  OfRank(const OfRank&) = delete;
  OfRank& operator=(const OfRank&) = delete;
  ~OfRank() { destroy(&own); }
};

/// How ranks share a matrix: a device for each, or one for all.
struct RankChoice {
  int ranks = 1, threads = 0;
  std::vector<std::string> devices;
  std::optional<std::string> plan;
  std::string partition, exchange;
};

struct RankSolver {
  SharedContext context;
  std::unique_ptr<Watch> watch = std::make_unique<Watch>();
  nb::object of;
  heddle_matrix* matrix = nullptr;  // of `of`
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  std::int64_t rows = 0;
  RankChoice choice;
  std::string method, preconditioner;
  double shift = 0;
  heddle_solver_options options{};

  std::array<nb::object*, 1> references() { return {&of}; }
  static RankSolver make(nb::handle_t<Matrix> A, int ranks, const std::vector<std::string>& devices,
                         int threads, const std::optional<std::string>& plan,
                         const std::string& partition, const std::string& exchange,
                         const std::string& method, const std::string& preconditioner, double shift,
                         double tolerance, double absolute_tolerance, std::int64_t max_iterations,
                         int restart, double time_limit, bool record_history, double lower,
                         double upper, double omega, bool basis_in_single) {
    RankSolver made;
    const auto& given = nb::cast<const Matrix&>(A);
    const auto [pattern, values] = given.arrays();
    made.context = given.context;
    made.of = nb::borrow(A);
    made.matrix = given.matrix.own;
    made.entry = values.entry;
    made.precision = values.precision;
    made.rows = pattern.rows;
    made.choice = {ranks, threads, devices, plan, partition, exchange};
    made.method = method;
    made.preconditioner = preconditioner;
    made.shift = shift;
    heddle_solver_options& options = made.options;
    heddle_solver_options_init(&options, sizeof options);
    options.tolerance = tolerance;
    options.absolute_tolerance = absolute_tolerance;
    options.max_iterations = max_iterations;
    options.restart = restart;
    options.time_limit = time_limit;
    options.record_history = record_history ? 1 : 0;
    options.lower = lower;
    options.upper = upper;
    options.omega = omega;
    options.basis_in_single = basis_in_single ? 1 : 0;
    Task nothing{&made};
    made.run(nothing, nb::none());  // so that what they cannot do is refused here
    return made;
  }

  nb::tuple solve(const Contiguous& b, const Writable& x, bool from_zero, nb::handle callback) {
    const std::int32_t scalars = heddle_row_scalars(entry);
    return solved(view_of(b, entry, scalars, "b"), view_of(x, entry, scalars, "x"), std::nullopt,
                  from_zero, callback);
  }
  /// In the host's memory; from `guess`, which may be absent or x itself, or zero.
  nb::tuple solve_at(const Place& b, const Place& x, const std::optional<Place>& guess,
                     bool from_zero, nb::handle callback) {
    return solved(at(b), at(x), guess ? std::optional(at(*guess)) : std::nullopt, from_zero,
                  callback);
  }

 private:
  /// One solve, or, without b, none. What is not of one rank is rank 0's alone.
  struct Task {
    RankSolver* self;
    const std::byte *b = nullptr, *guess = nullptr;  // no guess: zero
    std::byte* x = nullptr;
    heddle_report report{};
    std::vector<double> history{};
    std::mutex mutex{};
    heddle_status failed = HEDDLE_OK;  // the first
    std::string why{};

    bool is_fine(heddle_status status) {
      if (status == HEDDLE_OK) return true;
      const std::lock_guard lock(mutex);
      if (failed != HEDDLE_OK) return false;
      failed = status;
      why.resize(heddle_message(self->context->own, nullptr, 0));
      heddle_message(self->context->own, why.data(), why.size() + 1);
      return false;
    }
  };

  heddle_view at(const Place& place) const { return view_at(place, rows, entry, precision); }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(heddle_row_scalars(entry)) *
           (precision == HEDDLE_SINGLE ? sizeof(float) : sizeof(double));
  }

  nb::tuple solved(const heddle_view& b, const heddle_view& x,
                   const std::optional<heddle_view>& guess, bool from_zero, nb::handle callback) {
    Task task{this};
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes();
    Solver::check_apart(b.data, x.data, bytes, "b and out share memory");
    if (guess && guess->data != x.data) {
      Solver::check_apart(guess->data, x.data, bytes,
                          "x0 and out share memory, and are not one array");
    }
    task.b = static_cast<const std::byte*>(b.data);
    task.x = static_cast<std::byte*>(x.data);
    const void* const start = guess ? guess->data : from_zero ? nullptr : x.data;
    task.guess = static_cast<const std::byte*>(start);
    run(task, callback);
    nb::object history = nb::none();
    if (options.record_history != 0) {
      const std::size_t size = task.history.size();
      history =
          nb::cast(nb::ndarray<nb::numpy, const double>(task.history.data(), 1, &size, nb::none()),
                   nb::rv_policy::copy);
    }
    return Solver::told(task.report, history);
  }

  void run(Task& task, nb::handle callback) {
    if (watch->at_work) {
      raise(HEDDLE_ERROR_BUSY, "this solver is at work in another call; it serves one");
    }
    const AtWork here(*watch, callback);
    heddle_status status{};
    {
      const Absence absence;
      status = heddle_run_on_ranks(
          context->own, choice.ranks,
          [](void* user, heddle_communicator* ranks) {
            auto* const task = static_cast<Task*>(user);
            return task->self->be_rank(*task, ranks) ? 0 : 1;
          },
          &task);
    }
    raise_again();
    if (task.failed != HEDDLE_OK) raise(task.failed, task.why);
    check(context, status);
  }

  /// Whether all went well.
  bool be_rank(Task& task, heddle_communicator* ranks) const {
    const int rank = heddle_communicator_rank(ranks);
    const auto number = static_cast<std::size_t>(rank);
    heddle_rank_options part;
    heddle_rank_options_init(&part, sizeof part);
    const auto& devices = choice.devices;
    part.device = devices[devices.size() == 1 ? 0 : number].c_str();
    part.threads = choice.threads == 0 ? 0 : std::max(1, choice.threads / choice.ranks);
    part.plan = choice.plan ? choice.plan->c_str() : nullptr;
    part.partition = choice.partition.c_str();
    part.exchange = choice.exchange.c_str();
    OfRank<heddle_operator, heddle_operator_destroy> A, shifted;
    OfRank<heddle_preconditioner, heddle_preconditioner_destroy> M;
    OfRank<heddle_solver, heddle_solver_destroy> solver;
    heddle_solver_options own = options;
    if (rank == 0) {
      own.observer = Watch::observe;
      own.user = watch.get();
    }
    if (!task.is_fine(heddle_operator_distribute(ranks, matrix, &part, &A.own))) return false;
    if (shift != 0 && !task.is_fine(heddle_operator_shifted(A.own, shift, &shifted.own))) {
      return false;
    }
    const heddle_operator* const system = shift != 0 ? shifted.own : A.own;
    if (preconditioner != "none" &&
        !task.is_fine(heddle_preconditioner_create(system, preconditioner.c_str(), &M.own))) {
      return false;
    }
    if (!task.is_fine(heddle_solver_create(system, method.c_str(), M.own, &own, &solver.own))) {
      return false;
    }
    return task.b == nullptr || solve_part(task, A.own, solver.own, rank);
  }

  bool solve_part(Task& task, const heddle_operator* A, heddle_solver* solver, int rank) const {
    std::int64_t count = 0, columns = 0;
    heddle_operator_size(A, &count, &columns);
    std::vector<std::int64_t> row(static_cast<std::size_t>(count) + 1);
    if (!task.is_fine(heddle_operator_rows_of_rank(A, row.data()))) return false;
    row.pop_back();
    const std::size_t bytes = row_bytes();
    std::vector<std::byte> b(row.size() * bytes), x(row.size() * bytes);
    const auto place = [&](std::size_t i) { return static_cast<std::size_t>(row[i]) * bytes; };
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::memcpy(b.data() + i * bytes, task.b + place(i), bytes);
      if (task.guess != nullptr) std::memcpy(x.data() + i * bytes, task.guess + place(i), bytes);
    }
    heddle_view from = at({}), to = at({});
    from.data = b.data();
    to.data = x.data();
    from.count = to.count = count;
    heddle_report report{};
    report.struct_size = sizeof report;
    if (!task.is_fine(heddle_solver_solve(solver, &from, &to, &report))) return false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::memcpy(task.x + place(i), x.data() + i * bytes, bytes);
    }
    if (rank != 0) return true;
    task.report = report;
    const double* values = nullptr;
    if (!task.is_fine(heddle_solver_history(solver, &values, &count))) return false;
    task.history.assign(values, values + count);
    return true;
  }
};

}  // namespace heddle_python
