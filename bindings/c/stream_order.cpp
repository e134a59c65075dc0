// Work in the order of a GPU's stream: that of the operator and that of the caller.
#include "base/stream_order.hpp"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/config.hpp"
#include "heddle/vector_operations.hpp"
#include "sized_struct.hpp"
#include "solve_calls.hpp"
#include "solvers/gpu_loops/enqueued_solve_cuda.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

// The GPU writes a `DeviceReport` that is read as a `heddle_device_report`.
static_assert(sizeof(heddle_device_report) == sizeof(DeviceReport));
static_assert(offsetof(heddle_device_report, outcome) == offsetof(DeviceReport, status));
static_assert(offsetof(heddle_device_report, used_floats) == offsetof(DeviceReport, stored));
static_assert(offsetof(heddle_device_report, restarts) == offsetof(DeviceReport, restarts));
static_assert(offsetof(heddle_device_report, returned) == offsetof(DeviceReport, returned));
static_assert(offsetof(heddle_device_report, iterations) == offsetof(DeviceReport, iterations));
static_assert(offsetof(heddle_device_report, residual) == offsetof(DeviceReport, residual));
static_assert(offsetof(heddle_device_report, residual_norm) ==
              offsetof(DeviceReport, residual_norm));
static_assert(offsetof(heddle_device_report, baseline_norm) ==
              offsetof(DeviceReport, baseline_norm));
static_assert(offsetof(heddle_device_report, target_norm) == offsetof(DeviceReport, target_norm));
static_assert(offsetof(heddle_device_report, singular_row) == offsetof(DeviceReport, singular_row));
static_assert(offsetof(heddle_device_report, backward_error) ==
              offsetof(DeviceReport, backward_error));
static_assert(static_cast<int>(StoredScalar::own) == 0);

DeviceReport* report_for(heddle_solver& solver, heddle_device_report* given) {
  if (given != nullptr) return reinterpret_cast<DeviceReport*>(given);
  const Device device = solver.of->device();
  if (!device.on_gpu()) return nullptr;  // `enqueue` refuses it
  if constexpr (has_cuda) {
    if (!solver.own_report) {
      solver.own_report = std::static_pointer_cast<DeviceReport>(
          cuda::pinned_memory(sizeof(DeviceReport), device.stream()));
      forget_own_report(solver);
    }
  }
  return solver.own_report.get();
}

/// Calls `f(krylov, b, x, report)`.
template <class F>
void with_target(heddle_solver& solver, const heddle_view* b, const heddle_view* x,
                 heddle_device_report* given, const F& f) {
  check_enqueues(solver);
  const OperatorParts& parts = *solver.of;
  DeviceReport* const report = report_for(solver, given);
  set_observed(solver, false);
  solver.solver.visit_krylov([&]<class S>(KrylovSolver<S>& krylov) {
    const int components = krylov.matrix().row_components();
    const Device device = krylov.matrix().device();
    f(krylov, field_of<const S>(b, parts.entry, components, device.stream(), "b"),
      field_of<S>(x, parts.entry, components, device.stream(), "x"), report);
  });
}

Report report_of(const DeviceReport& there) {
  Report report;
  report.status = there.status;
  report.stored = there.stored == StoredScalar::own      ? "own"
                  : there.stored == StoredScalar::single ? "float"
                                                         : name(there.stored);
  report.loop = "graph";
  report.iterations = there.iterations;
  report.residual = there.residual;
  report.residual_norm = there.residual_norm;
  report.baseline_norm = there.baseline_norm;
  report.target_norm = there.target_norm;
  report.backward_error = there.backward_error;
  report.returned = there.returned;
  report.restarts = there.restarts;
  report.iterate_seconds = std::numeric_limits<double>::quiet_NaN();
  return report;
}

}  // namespace

int32_t heddle_operator_gpu(const heddle_operator* A) {
  int32_t gpu = -1;
  guarded_by(A, [&] { gpu = A->parts->device().stream().gpu; });
  return gpu;
}

void* heddle_operator_stream(const heddle_operator* A) {
  void* stream = nullptr;
  guarded_by(A, [&] { stream = A->parts->device().stream().queue; });
  return stream;
}

heddle_status heddle_operator_wait_for(const heddle_operator* A, void* stream) {
  return guarded_by(A, [&] {
    const Stream own = A->parts->device().stream();
    if (!own.on_gpu()) {
      throw Error(ErrorKind::usage, "a stream belongs to a GPU, but the operator is on the CPU");
    }
    CUstream_st* const earlier = &required(static_cast<CUstream_st*>(stream), "stream");
    check_stream(earlier, own.gpu);
    queue_after(own.queue, earlier, own.gpu);
  });
}

heddle_status heddle_operator_synchronize(const heddle_operator* A) {
  return guarded_by(A, [&] { A->parts->device().synchronize(); });
}

heddle_status heddle_operator_copy(const heddle_operator* A, const heddle_view* from,
                                   const heddle_view* to) {
  return guarded_by(A, [&] {
    const OperatorParts& parts = *A->parts;
    parts.matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      const Device device = matrix->device();
      const int components = matrix->row_components();
      const FieldView<S> written = field_of<S>(to, parts.entry, components, device.stream(), "to");
      if (from != nullptr) {
        copy<S>(field_of<const S>(from, parts.entry, components, device.stream(), "from"), written,
                device.stream());
      } else if (to->location == HEDDLE_HOST) {
        fill<S>(S(0), written, Stream{.threads = device.threads()});
      } else {
        fill<S>(S(0), written, device.stream());
      }
    });
  });
}

heddle_status heddle_solver_prepare_enqueue(heddle_solver* solver, const heddle_view* b,
                                            const heddle_view* x, heddle_device_report* report) {
  return guarded_by(solver, [&] {
    const AtWork here(&solver->at_work, "solver");
    const AtWork there(solver->preconditioner_at_work.get(), "preconditioner");
    solver->was_enqueued = true;
    with_target(*solver, b, x, report,
                [](auto& krylov, const auto& right, const auto& left, DeviceReport* where) {
                  krylov.prepare_enqueue(right, left, where);
                });
  });
}

heddle_status heddle_solver_enqueue(heddle_solver* solver, const heddle_view* b,
                                    const heddle_view* x, void* stream,
                                    heddle_device_report* report) {
  return guarded_by(solver, [&] {
    const AtWork here(&solver->at_work, "solver");
    const AtWork there(solver->preconditioner_at_work.get(), "preconditioner");
    auto* const caller_stream = static_cast<CUstream_st*>(stream);
    const bool captured =
        is_being_captured(on_stream_of(caller_stream, solver->of->device().stream()));
    if (captured && report == nullptr && !solver->own_report) {
      throw Error(ErrorKind::usage, cuda::not_prepared);
    }
    solver->was_enqueued = true;
    with_target(*solver, b, x, report,
                [&](auto& krylov, const auto& right, const auto& left, DeviceReport* where) {
                  InOrderOf caller(caller_stream, krylov.matrix().device().stream());
                  krylov.enqueue(right, left, where);
                  solver->has_enqueued = true;
                  caller.leave();
                });
    if (captured && report == nullptr) forget_own_report(*solver);  // until the graph has run
  });
}

heddle_status heddle_solver_wait(heddle_solver* solver, heddle_report* report) {
  return guarded_by(solver, [&] {
    if (report != nullptr) known_size(*report, "heddle_report");
    refuse_block(*solver);
    const AtWork here(&solver->at_work, "solver");
    if (!solver->has_enqueued) {
      throw Error(ErrorKind::usage, "no solve was enqueued to wait for: enqueue one first");
    }
    const Device device = solver->of->device();
    device.synchronize();
    if (!solver->own_report || static_cast<int>(solver->own_report->status) < 0) {
      if (report == nullptr) return;
      throw Error(ErrorKind::usage,
                  solver->own_report
                      ? "the graph that holds the solve has not run, or `solve` ran after it"
                      : "no solve was enqueued with the solver's own report: the caller gave one");
    }
    solver->last = {report_of(*solver->own_report)};
    solver->enqueued_history =
        solver->solver.visit_krylov([](const auto& krylov) { return krylov.enqueued_history(); });
    if (report != nullptr) write_struct(report, c_report(solver->last.front()), "heddle_report");
  });
}

heddle_status heddle_solver_cancel(heddle_solver* solver) {
  return guarded_by(solver, [&] {
    refuse_block(*solver);
    solver->solver.visit_krylov([](auto& krylov) { krylov.cancel(); });
  });
}
