// Solvers on ranks for Python: threads of the process, which share the matrix anew for each solve.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

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
#include "settings.hpp"
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

struct RankSolver {
  SharedContext context;
  std::unique_ptr<Watch> watch = std::make_unique<Watch>();
  nb::object of;
  heddle_matrix* matrix = nullptr;  // matrix of `of`
  heddle_entry entry = HEDDLE_REAL;
  heddle_precision precision = HEDDLE_DOUBLE;
  std::int64_t rows = 0;
  int rank_count = 1;
  std::vector<std::string> devices;  // one for each rank, or one for all
  std::string method, preconditioner;
  double shift = 0;
  std::string settings_text;  // the settings except the devices, in JSON
  bool records_history = false;
  nb::object settings;  // its multigrid arrays must live as long as this
  const double* coordinates = nullptr;
  std::vector<heddle_view> candidates;
  std::vector<std::byte> null_space;  // vectors of all rows, one after the other

  std::array<nb::object*, 2> references() { return {&of, &settings}; }
  static RankSolver make(nb::handle_t<Matrix> A, int ranks, const std::vector<std::string>& devices,
                         const std::string& method, const std::string& preconditioner, double shift,
                         nb::handle_t<Settings> settings, bool records_history,
                         const std::optional<Contiguous>& null_space) {
    RankSolver made;
    const auto& own = nb::cast<const Matrix&>(A);
    const auto [pattern, values] = own.arrays();
    made.context = own.context;
    made.of = nb::borrow(A);
    made.matrix = own.matrix.own;
    made.entry = values.entry;
    made.precision = values.precision;
    made.rows = pattern.rows;
    made.rank_count = ranks;
    made.devices = devices;
    made.method = method;
    made.preconditioner = preconditioner;
    made.shift = shift;
    const auto& given = nb::cast<const Settings&>(settings);
    made.settings_text = given.json();
    made.records_history = records_history;
    made.settings = nb::borrow(settings);
    made.coordinates = given.coordinates();
    made.candidates = given.candidates(made.rows, made.entry, made.precision);
    if (null_space) {
      const auto* const first = static_cast<const std::byte*>(null_space->data());
      made.null_space.assign(first, first + null_space->nbytes());
    }
    for (const std::string& text : devices) (void)c_text(text);
    for (const std::string* text : {&method, &preconditioner}) (void)c_text(*text);
    Task nothing{&made};
    made.run(nothing, nb::none());  // reports unsupported settings now
    return made;
  }

  nb::tuple solve(const Contiguous& b, const Writable& x, bool from_zero, nb::handle callback) {
    const std::int32_t scalars = heddle_row_scalars(entry);
    const nb::list one = solved(1, view_of(b, entry, scalars, "b").data,
                                view_of(x, entry, scalars, "x").data, nullptr, from_zero, callback);
    return nb::borrow<nb::tuple>(one[0]);
  }
  /// Solves with fields in the host's memory, starting from `guess`, which may be absent or x
  /// itself, or from zero.
  nb::tuple solve_at(const Place& b, const Place& x, const std::optional<Place>& guess,
                     bool from_zero, nb::handle callback) {
    const nb::list one = solve_all(1, b, x, guess, from_zero, callback);
    return nb::borrow<nb::tuple>(one[0]);
  }
  /// The same for systems whose vectors follow each other.
  nb::list solve_all(std::int64_t systems, const Place& b, const Place& x,
                     const std::optional<Place>& guess, bool from_zero, nb::handle callback) {
    return solved(systems, at(b).data, at(x).data, guess ? at(*guess).data : nullptr, from_zero,
                  callback);
  }

 private:
  /// A solve, or no solve if b is null. Results that are not specific to a rank come from rank 0.
  struct Task {
    RankSolver* self;
    std::size_t systems = 1;
    const std::byte *b = nullptr, *guess = nullptr;  // no guess: zero
    std::byte* x = nullptr;
    std::vector<heddle_report> reports{};
    std::vector<std::string> details{};
    std::vector<double> history{};
    std::mutex mutex{};
    heddle_status failed = HEDDLE_OK;  // status of the first failure
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

  nb::list solved(std::int64_t systems, const void* b, void* x, const void* guess, bool from_zero,
                  nb::handle callback) {
    nb::list all;
    if (systems == 0) return all;
    Task task{this, static_cast<std::size_t>(systems)};
    const std::size_t bytes = task.systems * static_cast<std::size_t>(rows) * row_bytes();
    Solver::check_apart(b, x, bytes, "b and out share memory");
    if (guess != nullptr && guess != x) {
      Solver::check_apart(guess, x, bytes, "x0 and out share memory, and are not one array");
    }
    task.b = static_cast<const std::byte*>(b);
    task.x = static_cast<std::byte*>(x);
    const void* const start = guess != nullptr ? guess : from_zero ? nullptr : x;
    task.guess = static_cast<const std::byte*>(start);
    run(task, callback);
    nb::object history = nb::none();
    if (records_history && systems == 1) {
      const std::size_t size = task.history.size();
      history =
          nb::cast(nb::ndarray<nb::numpy, const double>(task.history.data(), 1, &size, nb::none()),
                   nb::rv_policy::copy);
    }
    for (std::size_t k = 0; k < task.reports.size(); ++k) {
      all.append(Solver::report_tuple(task.reports[k], task.details[k], history));
    }
    return all;
  }

  void run(Task& task, nb::handle callback) {
    if (watch->at_work) {
      raise(HEDDLE_ERROR_BUSY, "this solver is in use by another call; it serves one at a time");
    }
    const AtWork here(*watch, callback);
    heddle_status status{};
    {
      const Absence absence;
      status = heddle_run_on_ranks(
          context->own, rank_count,
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

  /// Returns true if everything succeeded.
  bool be_rank(Task& task, heddle_communicator* ranks) const {
    const int rank = heddle_communicator_rank(ranks);
    OfRank<heddle_settings, heddle_settings_destroy> own;
    OfRank<heddle_operator, heddle_operator_destroy> A, shifted;
    OfRank<heddle_preconditioner, heddle_preconditioner_destroy> M;
    OfRank<heddle_solver, heddle_solver_destroy> solver;
    if (!take_settings(task, rank, own.own)) return false;
    if (!task.is_fine(heddle_operator_distribute(ranks, matrix, own.own, &A.own))) return false;
    if (shift != 0 && !task.is_fine(heddle_operator_shifted(A.own, shift, &shifted.own))) {
      return false;
    }
    const heddle_operator* const system = shift != 0 ? shifted.own : A.own;
    const char* const text = preconditioner.c_str();
    if (preconditioner != "none" &&
        !task.is_fine(heddle_preconditioner_create(system, text, own.own, &M.own))) {
      return false;
    }
    if (!task.is_fine(heddle_solver_create(system, method.c_str(), M.own, own.own, &solver.own))) {
      return false;
    }
    if (!null_space.empty() && !set_null_space(task, A.own, solver.own)) return false;
    return task.b == nullptr || solve_part(task, A.own, solver.own, rank);
  }

  /// Makes the settings of a rank, with its device; rank 0 watches.
  bool take_settings(Task& task, int rank, heddle_settings*& own) const {
    const std::string& device = devices[devices.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
    const auto count = static_cast<std::int64_t>(candidates.size());
    return task.is_fine(heddle_settings_create(context->own, &own)) &&
           task.is_fine(heddle_settings_set_json(own, settings_text.c_str())) &&
           task.is_fine(heddle_settings_set(own, "device", device.c_str())) &&
           task.is_fine(heddle_settings_use_coordinates(own, coordinates)) &&
           task.is_fine(heddle_settings_use_candidates(own, count, candidates.data())) &&
           (rank != 0 || task.is_fine(heddle_settings_observe(own, Watch::observe, watch.get())));
  }

  /// Finds the rows of the whole matrix that a rank has.
  static bool find_rows(Task& task, const heddle_operator* A, std::vector<std::int64_t>& row) {
    std::int64_t count = 0, columns = 0;
    heddle_operator_size(A, &count, &columns);
    row.resize(static_cast<std::size_t>(count) + 1);
    if (!task.is_fine(heddle_operator_rows_of_rank(A, row.data()))) return false;
    row.pop_back();
    return true;
  }

  bool set_null_space(Task& task, const heddle_operator* A, heddle_solver* solver) const {
    std::vector<std::int64_t> row;
    if (!find_rows(task, A, row)) return false;
    const std::size_t bytes = row_bytes(), all = static_cast<std::size_t>(rows) * bytes;
    const std::size_t count = null_space.size() / all;
    std::vector<std::byte> own(count * row.size() * bytes);
    std::vector<heddle_view> vectors;
    for (std::size_t k = 0; k < count; ++k) {
      std::byte* const to = own.data() + k * row.size() * bytes;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::size_t from = k * all + static_cast<std::size_t>(row[i]) * bytes;
        std::memcpy(to + i * bytes, null_space.data() + from, bytes);
      }
      vectors.push_back({to, static_cast<std::int64_t>(row.size()), entry, precision,
                         HEDDLE_ROW_MAJOR, HEDDLE_HOST});
    }
    return task.is_fine(
        heddle_solver_set_null_space(solver, static_cast<std::int64_t>(count), vectors.data()));
  }

  bool solve_part(Task& task, const heddle_operator* A, heddle_solver* solver, int rank) const {
    std::vector<std::int64_t> row;
    if (!find_rows(task, A, row)) return false;
    auto count = static_cast<std::int64_t>(row.size());
    const std::size_t bytes = row_bytes(), own = row.size() * bytes,
                      all = static_cast<std::size_t>(rows) * bytes;
    std::vector<std::byte> b(task.systems * own), x(task.systems * own);
    // Calls `f(of_all, of_rank)`, with offsets in bytes, for each row of each system.
    const auto for_rows = [&](const auto& f) {
      for (std::size_t k = 0; k < task.systems; ++k) {
        for (std::size_t i = 0; i < row.size(); ++i) {
          f(k * all + static_cast<std::size_t>(row[i]) * bytes, k * own + i * bytes);
        }
      }
    };
    for_rows([&](std::size_t of_all, std::size_t of_rank) {
      std::memcpy(b.data() + of_rank, task.b + of_all, bytes);
      if (task.guess == nullptr) return;
      std::memcpy(x.data() + of_rank, task.guess + of_all, bytes);
    });
    std::vector<heddle_view> from, to;
    for (std::size_t k = 0; k < task.systems; ++k) {
      from.push_back({b.data() + k * own, count, entry, precision, HEDDLE_ROW_MAJOR, HEDDLE_HOST});
      to.push_back({x.data() + k * own, count, entry, precision, HEDDLE_ROW_MAJOR, HEDDLE_HOST});
    }
    std::vector<heddle_report> reports(task.systems);
    reports.front().struct_size = sizeof(heddle_report);
    if (!task.is_fine(heddle_solver_solve_all(solver, static_cast<std::int64_t>(task.systems),
                                              from.data(), to.data(), reports.data()))) {
      return false;
    }
    for_rows([&](std::size_t of_all, std::size_t of_rank) {
      std::memcpy(task.x + of_all, x.data() + of_rank, bytes);
    });
    if (rank != 0) return true;
    task.reports = std::move(reports);
    for (std::size_t k = 0; k < task.systems; ++k) {
      task.details.push_back(Solver::detail_of(solver, k));
    }
    const double* values = nullptr;
    if (!task.is_fine(heddle_solver_history(solver, &values, &count))) return false;
    task.history.assign(values, values + count);
    return true;
  }
};

}  // namespace heddle_python
