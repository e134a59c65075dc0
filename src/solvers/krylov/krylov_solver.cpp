#include "heddle/krylov_solver.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/long_double.hpp"
#include "base/profiler_range.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "host_solve.hpp"
#include "krylov_parts.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/system_checks.hpp"
#include "watched_preconditioner.hpp"

namespace heddle {

namespace detail {

namespace {

/// Number of partial sums that a product or an operation on a field leaves.
template <class S>
Offset partials_of_sums(const LinearOperator<S>& matrix) {
  if constexpr (may_be_on_gpu<S>) {
    if (matrix.device().on_gpu()) {
      const auto shape =
          FieldView<S>::unallocated(matrix.rows(), matrix.row_components(), matrix.vector_layout());
      const cuda::Product* product = matrix.product_on_gpu();
      return std::max(product != nullptr ? product->partials() : 0,
                      cuda::partials_of<Ring::real>(shape));
    }
  }
  return groups_of(matrix.rows());
}

/// Throws `Error` unless the method takes entries and a preconditioner (null for none) of this
/// kind. `has_step`: a step is given.
template <class S>
void check_suits(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner,
                 const MethodInfo& method, bool has_step) {
  const bool needs_hermitian = method.needs_hermitian && !has_step;
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::unsupported, std::string(method.title) + " needs " + why);
  };
  if (needs_hermitian && !matrix.has_adjoint()) {
    refuse("a Hermitian matrix, and these entries have no adjoint; use BiCGStab or GMRES");
  }
  if (preconditioner == nullptr) return;
  if (!preconditioner->is_constant() && !method.takes_varying) {
    refuse("a constant preconditioner, and this one says that it varies; use FGMRES");
  }
  if (needs_hermitian && !preconditioner->is_hermitian()) {
    refuse("a Hermitian preconditioner, and this one says that it is not; use BiCGStab");
  }
  if (method.needs_symmetric && !preconditioner->is_symmetric()) {
    refuse("a complex symmetric preconditioner, and this one says that it is not; use GMRES");
  }
}

/// Throws `Error` unless a solver can be made from these.
template <class S>
void check_inputs(const SolverInputs<S>& inputs) {
  const LinearOperator<S>& matrix = inputs.matrix;
  const MethodInfo& info = inputs.method.info;
  check_square(matrix, "a solver");
  if (info.needs_positive && (info.direction < 2 || info.image < 2)) {
    throw Error(ErrorKind::usage, std::string(info.title) +
                                      " needs positive definite matrices, but its row names no "
                                      "direction and image");
  }
  if (matrix.row_components() % ring_size(inputs.ring) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix.row_components()) +
                                              " components are not whole elements of a ring of " +
                                              std::to_string(ring_size(inputs.ring)));
  }
  if (std::is_same_v<S, long double> && info.restarts &&
      inputs.options.basis_precision == StoredScalar::single) {
    throw Error(ErrorKind::unsupported,
                "solver options: a basis in single precision needs a solve in double precision");
  }
  if (inputs.preconditioner) check_fits(*inputs.preconditioner, matrix);
  check_suits(matrix, inputs.preconditioner.get(), info, inputs.options.omega.has_value());
}

/// True if `here` is true on any rank that has rows. Collective.
bool is_on_some_rank(bool here, RowShare& share) {
  std::vector<double> of_groups(static_cast<std::size_t>(groups_of(share.rows())), here ? 1 : 0);
  double largest = 0;
  share.join(of_groups.data(), 1, 1, &largest, RowShare::Join::largest);
  return largest > 0;
}

/// True if an enqueued solve is the same under both. The observer does not matter, since no host is
/// there to call it.
bool have_same_enqueued_solve(const SolverOptions& a, const SolverOptions& b) {
  const auto asked_of_it = [](const SolverOptions& options) {
    // Names every member, so that a new one does not compile until it is considered here.
    const auto& [tolerance, baseline, absolute_tolerance, max_iterations, restart, basis_precision,
                 time_limit, keep, observer, record_history, checks, interval, omega] = options;
    using Ends = std::optional<std::pair<double, double>>;
    return std::tuple(tolerance, baseline, absolute_tolerance, max_iterations, restart,
                      basis_precision, time_limit, keep, record_history, checks,
                      interval ? Ends({interval->lower, interval->upper}) : Ends(), omega);
  };
  return asked_of_it(a) == asked_of_it(b);
}

template <class S>
void solve_side_by_side(KrylovParts<S>& solver, std::span<const FieldView<const S>> b,
                        std::span<const FieldView<S>> x, std::size_t first,
                        std::span<Report> reports) {
  using Solve = HostSolve<S>;
  constexpr std::size_t max_systems = SolverFields<S>::max_places;
  const LinearOperator<S>& matrix = solver.inputs.matrix;
  solver.loops.iterate_by(matrix.iterated());
  std::array<std::optional<Solve>, max_systems> solves;
  for (std::size_t k = 0; k < b.size(); ++k) {
    solves[k].emplace(solver, b[k], x[k], static_cast<int>(k), static_cast<int>(first + k),
                      reports[k]);
    solves[k]->begin(b.size());
  }
  const auto run_rounds = [&](const LinearOperator<S>& iterated) {
    solver.loops.iterate_by(iterated);
    std::array<RunOf<S>, max_systems> runs;
    std::array<RunResult<sum_t<S>>, max_systems> results;
    std::array<Solve*, max_systems> running;
    for (;;) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < b.size(); ++k) {
        if (!solves[k]->runs()) continue;
        running[count] = &*solves[k];
        runs[count++] = solves[k]->next_run(solver.loops.form(iterated));
      }
      if (count == 0) return;
      auto& loop = solver.loops.over(iterated, b.size());
      loop.run({runs.data(), count}, {results.data(), count});
      for (std::size_t k = 0; k < count; ++k) running[k]->take(results[k]);
    }
  };
  const WatchedPreconditioner<S> watched(
      solver.inputs.method.info.takes_varying ? solver.inputs.preconditioner.get() : nullptr,
      [&](long long iterations) { return solves[0]->goes_on_inside(iterations); });
  run_rounds(solver.loops.iterated());
  const auto go_on = [&](const LinearOperator<S>& next, StoredScalar kept) {
    bool goes_on = false;
    for (std::size_t k = 0; k < b.size(); ++k) goes_on = solves[k]->leaves_copy(kept) || goes_on;
    if (goes_on) run_rounds(next);
  };
  bool has_failed = false;
  for (std::size_t k = 0; k < b.size(); ++k) has_failed = solves[k]->failed_on_copy() || has_failed;
  const LinearOperator<S>* const floats = has_failed ? solver.loops.over_floats(b.size()) : nullptr;
  if (floats != nullptr) go_on(*floats, StoredScalar::single);
  go_on(matrix, StoredScalar::own);
  for (std::size_t k = 0; k < b.size(); ++k) solves[k]->end();
}

template <class S>
void solve_all(KrylovParts<S>& solver, std::span<const FieldView<const S>> b,
               std::span<const FieldView<S>> x, std::span<Report> reports) {
  check_systems<S>(b, x, solver.fields.first().residual);
  const Range range("solve");
  auto& loops = solver.loops;
  loops.iterate_by(solver.inputs.matrix.iterated());
  solver.make_places(loops.systems_at_once(b.size()));
  solver.begin(b.size());
  for (std::size_t first = 0, count = 0; first < b.size(); first += count) {
    count = loops.systems_at_once(b.size() - first);
    solve_side_by_side(solver, b.subspan(first, count), x.subspan(first, count), first,
                       reports.subspan(first, count));
  }
}

}  // namespace

template <class S>
KrylovParts<S>::KrylovParts(OperatorReference<S> matrix,
                            std::shared_ptr<Preconditioner<S>> preconditioner,
                            SolverOptions options, MethodOver<S> method)
    : inputs{std::move(matrix), std::move(preconditioner), std::move(options), std::move(method)} {
  check_inputs(inputs);
  Workspace later;  // allocated by the first solve, or by one in which a copy of the matrix fails
  if (inputs.preconditioner) later = inputs.preconditioner->workspace();
  if (&loops.iterated() != &inputs.matrix) later = later + loops.workspace(inputs.matrix);
  const Offset partials = partials_of_sums<S>(inputs.matrix);
  const long long sums = partials * Reduction<S>::width * static_cast<long long>(sizeof(sum_t<S>));
  const Workspace workspace =
      loops.workspace(loops.iterated()) + fields.workspace(1) + Workspace{0, sums};
  fields.check_memory(workspace + later);
  fields.add(workspace);
  if (inputs.device.on_gpu()) inputs.reduction.reserve(partials);
  if constexpr (has_cuda) {
    // Every solve needs this kernel; it is compiled while the method makes its own kernels.
    if (const cuda::Product* product = inputs.matrix.product_on_gpu()) {
      compiling = std::async(std::launch::async,
                             [product] { product->prepare({.epilogue = device::store_residual}); });
    }
  }
  const MethodInfo& info = inputs.method.info;
  check_options(inputs.options, info.takes_interval, info.takes_omega);
  fields.make_places(1);
  loops.over(loops.iterated());
}

template <class S>
void KrylovParts<S>::make_places(std::size_t count) {
  const std::size_t before = fields.places();
  if (count <= before) return;
  const LinearOperator<S>& iterated = loops.iterated();
  const Workspace workspace = loops.workspace(iterated, count) + fields.workspace(count - before);
  if (before > 1) fields.remove(loops.workspace(iterated, before));
  loops.forget_of_all_places();
  fields.check_memory(workspace);
  fields.make_places(count);
  fields.add(workspace);
}

template <class S>
void KrylovParts<S>::begin(std::size_t systems) {
  histories.resize(std::max<std::size_t>(1, systems));
  for (auto& history : histories) history.clear();
  prepare();
  if (inputs.method.info.takes_interval && (!inputs.options.checks || symmetry.suits())) {
    steps.refresh();
  }
}

template <class S>
void KrylovParts<S>::prepare() {
  await_kernels();
  if (inputs.preconditioner) inputs.preconditioner->refresh();
  loops.apply_foreign_work_once();
}

template <class S>
void KrylovParts<S>::copy_iterate(const FieldView<S>& x) const {
  if (observed == nullptr) {
    throw Error(ErrorKind::usage,
                "the x of an iteration is at hand only in an observer of this solver");
  }
  observed->copy_iterate(x);
}

template struct KrylovParts<float>;
template struct KrylovParts<double>;
HEDDLE_IN_LONG_DOUBLE(template struct KrylovParts<long double>;)

}  // namespace detail

template <class S>
KrylovSolver<S>::KrylovSolver(OperatorReference<S> matrix,
                              std::shared_ptr<Preconditioner<S>> preconditioner,
                              SolverOptions options, detail::MethodOver<S> method)
    : parts_(std::make_unique<detail::KrylovParts<S>>(std::move(matrix), std::move(preconditioner),
                                                      std::move(options), std::move(method))) {}

template <class S>
KrylovSolver<S>::~KrylovSolver() = default;

template <class S>
Report KrylovSolver<S>::solve(const FieldView<const S>& b, const FieldView<S>& x) {
  Report report;
  detail::solve_all<S>(*parts_, {&b, 1}, {&x, 1}, {&report, 1});
  return report;
}

template <class S>
std::vector<Report> KrylovSolver<S>::solve(std::span<const FieldView<const S>> b,
                                           std::span<const FieldView<S>> x) {
  detail::check_as_many(b.size(), x.size());
  std::vector<Report> reports(b.size());
  detail::solve_all<S>(*parts_, b, x, reports);
  return reports;
}

template <class S>
std::size_t KrylovSolver<S>::systems_at_once(std::size_t systems) const {
  return parts_->loops.systems_at_once(systems);
}

template <class S>
void KrylovSolver<S>::enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                              DeviceReport* report) {
  parts_->enqueued.enqueue(b, x, report);
}

template <class S>
void KrylovSolver<S>::prepare_enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                                      DeviceReport* report) {
  parts_->enqueued.prepare(b, x, report);
}

template <class S>
void KrylovSolver<S>::set_image_of_guess(const FieldView<const S>& image) {
  detail::KrylovParts<S>& solver = *parts_;
  if (image.data != nullptr) {
    check_same_shape(image, solver.fields.first().residual, "the image of a guess");
    if (!solver.fields.fits_in_place(image)) {
      throw Error(ErrorKind::usage,
                  "the image of a guess must have the operator's basis, layout and memory");
    }
  }
  solver.enqueued.forget();
  solver.image_of_guess = image;
  RowShare* const share = solver.inputs.stream.share;
  if (share == nullptr) return;
  // Ranks must all begin a solve the same way, which depends on `data`. A rank without rows has
  // none, so any address stands for it.
  static const S of_no_rows{};
  const bool lacks = image.data == nullptr && solver.inputs.matrix.rows() > 0;
  if (detail::is_on_some_rank(lacks, *share)) {
    solver.image_of_guess = {};
  } else if (image.data == nullptr) {
    solver.image_of_guess.data = &of_no_rows;
  }
}

template <class S>
FieldView<S> KrylovSolver<S>::residual() {
  return parts_->fields.first().residual;
}

template <class S>
void KrylovSolver<S>::cancel() {
  parts_->enqueued.cancel();
}

template <class S>
std::vector<double> KrylovSolver<S>::enqueued_history() const {
  return parts_->enqueued.history();
}

template <class S>
void KrylovSolver<S>::set_null_space(const std::vector<FieldView<const S>>& vectors) {
  detail::KrylovParts<S>& solver = *parts_;
  detail::NullSpace<S> made(solver.inputs, vectors, residual());
  solver.enqueued.forget();
  solver.null_space = std::move(made);
  solver.steps.forget_estimate();  // it was made in another space
  if (!solver.inputs.preconditioner) return;
  solver.loops.forget();  // first, so that old and new ones do not exist at once
  solver.loops.over(matrix().iterated());
}

template <class S>
const std::vector<double>& KrylovSolver<S>::history(std::size_t system) const {
  return parts_->histories.at(system);
}

template <class S>
long long KrylovSolver<S>::memory() const {
  return parts_->fields.memory();
}

template <class S>
const LinearOperator<S>& KrylovSolver<S>::matrix() const {
  return parts_->inputs.matrix;
}

template <class S>
long long KrylovSolver<S>::bytes_per_iteration(std::size_t systems) const {
  return parts_->loops.bytes_per_iteration(systems);
}

template <class S>
const std::optional<SpectralInterval>& KrylovSolver<S>::interval() const {
  return parts_->steps.interval();
}

template <class S>
const SolverOptions& KrylovSolver<S>::options() const {
  return parts_->inputs.options;
}

template <class S>
void KrylovSolver<S>::set_options(SolverOptions options) {
  const detail::SolverInputs<S>& inputs = parts_->inputs;
  const auto& fields = parts_->fields;
  const MethodInfo& info = inputs.method.info;
  detail::check_options(options, info.takes_interval, info.takes_omega);
  if (inputs.options.omega && !options.omega) {
    detail::check_suits(inputs.matrix, inputs.preconditioner.get(), info, false);
  }
  if (fields.max_basis() != fields.max_basis(options.restart)) {
    throw Error(ErrorKind::usage,
                "solver options: the restart is fixed by the solver's construction");
  }
  if (fields.max_basis() > 0 && inputs.options.basis_precision != options.basis_precision) {
    throw Error(ErrorKind::usage,
                "solver options: the precision of a basis is fixed by the solver's construction");
  }
  if (!detail::have_same_enqueued_solve(inputs.options, options)) parts_->enqueued.forget();
  parts_->inputs.options = std::move(options);
}

template class KrylovSolver<float>;
template class KrylovSolver<double>;
HEDDLE_IN_LONG_DOUBLE(template class KrylovSolver<long double>;)

}  // namespace heddle
