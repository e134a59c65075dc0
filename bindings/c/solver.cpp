// Solvers of heddle.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/stream_order.hpp"
#include "base/text/names.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/config.hpp"
#include "heddle/method_info.hpp"
#include "heddle/report.hpp"
#include "ranks.hpp"
#include "settings_given.hpp"
#include "sized_struct.hpp"
#include "solve_calls.hpp"
#include "solvers/krylov/krylov_parts.hpp"
#include "tuning/planning/method_choice.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// Makes the iterations of `solver` use fields in floats. Throws `Error` (unsupported).
void refine(AnySolver& solver, const OperatorParts& parts, const MethodInfo& method,
            const heddle_preconditioner* preconditioner) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::unsupported, "fields in single precision " + why);
  };
  if (!is_listed(method)) refuse("are not available for " + std::string(method.name));
  if (!parts.stored) refuse("need a matrix in sliced storage that no ranks share");
  if (preconditioner != nullptr &&
      (!preconditioner->parts.choice || preconditioner->of.get() != &parts)) {
    refuse("need a preconditioner given by its text, of the same operator");
  }
  solver.refine(*parts.stored, preconditioner != nullptr ? *preconditioner->parts.choice
                                                         : ComposedChoice::parse("none"));
}

/// Calls `f(solver, components, device)` with the `SystemSolver<S>`.
template <class F>
auto with_solver(const heddle_solver& solver, const F& f) {
  return solver.of->matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) {
    return solver.solver.visit(
        [&](auto& system) { return f(system, A->row_components(), A->device()); });
  });
}

/// Throws `Error` (usage) for more systems than memory could hold vectors x for.
void check_countable(std::int64_t systems, const heddle_view& x) {
  constexpr std::int64_t memory = std::int64_t{1} << 47;  // bytes that a process can address
  if (systems <= memory / std::max<std::int64_t>(x.count, 1)) return;
  throw Error(ErrorKind::usage, "no memory has room for " + std::to_string(systems) +
                                    " solutions of " + std::to_string(x.count) + " rows");
}

/// The history of the first system; empty before the first solve.
const std::vector<double>& history_of(const heddle_solver& solver) {
  static const std::vector<double> none;
  if (!solver.solver.has_krylov() && solver.last.empty()) return none;
  return solver.solver.history();
}

}  // namespace

heddle_status heddle_solver_create(const heddle_operator* A, const char* method,
                                   const heddle_preconditioner* preconditioner,
                                   const heddle_settings* settings, heddle_solver** solver) {
  return guarded_by(A, [&] {
    heddle_solver*& out = required(solver, "solver");
    const std::string_view name = &required(method, "method");
    const bool is_block = is_same_name(name, block_cg_method.info.name);
    const MethodInfo& info = is_block ? block_cg_method.info : find_method(name);
    const auto make = [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      check_for_method(given_or_none(settings).named, info.name);
      SolveSettings given = options_of<SolveSettings>(settings);
      given.solver.observer = observer_of<SolveProgress>(settings);
      const SolverOptions& options = given.solver;
      const OperatorReference<S> reference(matrix);
      auto made = std::make_unique<heddle_solver>(
          A->messages, A->parts, preconditioner != nullptr ? preconditioner->of : nullptr,
          preconditioner != nullptr ? preconditioner->parts.at_work : nullptr,
          AnySolver(reference, info, preconditioner_for<S>(preconditioner), options),
          options.observer);
      if (given.has_narrow_fields) refine(made->solver, *A->parts, info, preconditioner);
      return made.release();
    };
    on_all_ranks(*A->parts, [&] { out = A->parts->matrix.visit(make); });
  });
}

void heddle_solver_destroy(heddle_solver** solver) {
  if (solver != nullptr && *solver != nullptr && (*solver)->was_enqueued) {
    guarded_by(*solver, [&] {
      const Device device = (*solver)->of->device();
      // Waiting for a stream would end the caller's capture of it.
      if (is_being_captured(device.stream())) return;
      device.synchronize();
    });
  }
  destroy(solver);
}

heddle_status heddle_solver_solve(heddle_solver* solver, const heddle_view* b, const heddle_view* x,
                                  heddle_report* report) {
  return guarded_by(solver, [&] {
    if (report != nullptr) known_size(*report, "heddle_report");
    const AtWork here(&solver->at_work, "solver");
    const AtWork there(solver->preconditioner_at_work.get(), "preconditioner");
    const OperatorParts& parts = *solver->of;
    set_observed(*solver, true);
    solver->enqueued_history.reset();
    const auto solve = [&]<class S>(SystemSolver<S>& system, int components, const Device& device) {
      return system.solve(field_of<const S>(b, parts.entry, components, device.stream(), "b"),
                          field_of<S>(x, parts.entry, components, device.stream(), "x"));
    };
    on_all_ranks(parts, [&] { solver->last = {with_solver(*solver, solve)}; });
    forget_own_report(*solver);
    if (report != nullptr) write_struct(report, c_report(solver->last.front()), "heddle_report");
  });
}

heddle_status heddle_solver_solve_all(heddle_solver* solver, int64_t systems, const heddle_view* b,
                                      const heddle_view* x, heddle_report* reports) {
  return guarded_by(solver, [&] {
    if (systems < 0) throw Error(ErrorKind::usage, "the number of systems is negative");
    if (systems == 0) return;
    const heddle_view& first_b = required(b, "b");
    const heddle_view& first_x = required(x, "x");
    const std::size_t size = reports == nullptr ? 0 : known_size(*reports, "heddle_report");
    const AtWork here(&solver->at_work, "solver");
    const AtWork there(solver->preconditioner_at_work.get(), "preconditioner");
    const OperatorParts& parts = *solver->of;
    const auto count = static_cast<std::size_t>(systems);
    check_countable(systems, first_x);
    set_observed(*solver, true);
    solver->enqueued_history.reset();
    const auto solve = [&]<class S>(SystemSolver<S>& system, int components, const Device& device) {
      std::vector<FieldView<const S>> right;
      std::vector<FieldView<S>> left;
      for (std::size_t k = 0; k < count; ++k) {
        const std::string number = "[" + std::to_string(k) + "]";
        right.push_back(field_of<const S>(&first_b + k, parts.entry, components, device.stream(),
                                          ("b" + number).c_str()));
        left.push_back(field_of<S>(&first_x + k, parts.entry, components, device.stream(),
                                   ("x" + number).c_str()));
      }
      return system.solve(std::span<const FieldView<const S>>(right),
                          std::span<const FieldView<S>>(left));
    };
    on_all_ranks(parts, [&] { solver->last = with_solver(*solver, solve); });
    forget_own_report(*solver);
    for (std::size_t k = 0; k < count && reports != nullptr; ++k) {
      heddle_report report = c_report(solver->last[k]);
      report.struct_size = size;
      std::memcpy(reinterpret_cast<std::byte*>(reports) + k * size, &report, size);
    }
  });
}

heddle_status heddle_solver_set_null_space(heddle_solver* solver, int64_t count,
                                           const heddle_view* vectors) {
  return guarded_by(solver, [&] {
    if (count < 0) throw Error(ErrorKind::usage, "the number of vectors is negative");
    refuse_block(*solver);
    const AtWork here(&solver->at_work, "solver");
    const OperatorParts& parts = *solver->of;
    const std::int64_t rows = parts.rows_of_all.value_or(parts.matrix.rows());
    const auto set = [&]<class S>(SystemSolver<S>& system, int components, const Device& device) {
      const std::int64_t numbers = rows * components;
      if (count > numbers) {
        throw Error(ErrorKind::usage, std::to_string(count) + " vectors of " +
                                          std::to_string(numbers) +
                                          " numbers each are linearly dependent");
      }
      std::vector<FieldView<const S>> fields;
      fields.reserve(static_cast<std::size_t>(count));
      for (std::int64_t k = 0; k < count; ++k) {
        fields.push_back(field_of<const S>(&required(vectors, "vectors") + k, parts.entry,
                                           components, device.stream(),
                                           ("vectors[" + std::to_string(k) + "]").c_str()));
      }
      system.set_null_space(fields);
    };
    on_all_ranks(parts, [&] { with_solver(*solver, set); });
  });
}

heddle_status heddle_solver_history(const heddle_solver* solver, const double** values,
                                    int64_t* count) {
  return guarded_by(solver, [&] {
    const double*& first = required(values, "values");
    std::int64_t& size = required(count, "count");
    const AtWork here(&solver->at_work, "solver");
    const auto& history =
        solver->enqueued_history ? *solver->enqueued_history : history_of(*solver);
    first = history.data();
    size = static_cast<std::int64_t>(history.size());
  });
}

heddle_status heddle_solver_iterate(heddle_solver* solver, const heddle_view* x) {
  return guarded_by(solver, [&] {
    const OperatorParts& parts = *solver->of;
    if (parts.ranks != nullptr || !solver->solver.has_krylov()) {
      throw Error(ErrorKind::unsupported,
                  "x is not at hand while block-cg iterates, or ranks that share its rows");
    }
    parts.matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) {
      const auto& krylov = detail::KrylovParts<S>::of(solver->solver.solver<S>());
      krylov.copy_iterate(
          field_of<S>(x, parts.entry, A->row_components(), A->device().stream(), "x"));
    });
  });
}

size_t heddle_solver_summary(const heddle_solver* solver, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded_by(solver, [&] {
    const AtWork here(&solver->at_work, "solver");
    std::ostringstream text;
    if (!solver->last.empty()) text << solver->last.front();
    length = copy_text(text.str(), buffer, capacity);
  });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}

size_t heddle_solver_detail(const heddle_solver* solver, int64_t system, char* buffer,
                            size_t capacity) {
  std::size_t length = 0;
  guarded_by(solver, [&] {
    const AtWork here(&solver->at_work, "solver");
    const auto k = static_cast<std::size_t>(system);  // a negative one becomes larger than all
    if (k >= solver->last.size()) return;
    length = copy_text(std::string(solver->last[k].detail), buffer, capacity);
  });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}
