#include "heddle/krylov_solver.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/long_double.hpp"
#include "base/memory_limits.hpp"
#include "base/profiler_range.hpp"
#include "base/text/readable.hpp"
#include "fields/fits_in_place.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "host_solve.hpp"
#include "matrix/slice_shapes.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/system_checks.hpp"
#include "watched_preconditioner.hpp"

namespace heddle {

namespace {

/// Residual, kept iterate and verified iterate. A solve also needs b and x if it cannot use the
/// caller's.
constexpr int own_fields = 3;

/// Advice on whether the matrix as CSR would leave at least `lacking` bytes more.
std::string advice(const cuda::Product* product, long long lacking) {
  if (product == nullptr) return "";
  const SlicedPattern& A = product->pattern();
  const int entry_bytes = product->shape().components * product->shape().stored_bytes;
  const MemoryUse csr = detail::account_of(A.rows, A.entries, Plan{}, 1, A.rows, A.entries,
                                           entry_bytes, 0, false, true);
  const long long saved = A.memory.total() - csr.total();
  if (saved < lacking) return "; no other layout of the matrix leaves enough";
  return "; the plan CSR leaves enough: the matrix then takes " + readable_bytes(csr.total()) +
         ", not " + readable_bytes(A.memory.total());
}

/// Number of partial sums that a product or an operation on a field leaves.
template <class S>
Offset partials_of_sums(const LinearOperator<S>& matrix) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
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
/// kind.
template <class S>
void check_suits(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner,
                 const MethodInfo& method, bool needs_hermitian) {
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

template <class S>
long long bytes_of(const Workspace& workspace, const LinearOperator<S>& matrix) {
  return workspace.fields * static_cast<long long>(matrix.rows()) * matrix.row_components() *
             static_cast<long long>(sizeof(S)) +
         workspace.bytes;
}

/// The size `bytes` in fields, rounded up.
template <class S>
int fields_in(long long bytes, const LinearOperator<S>& matrix) {
  const long long of_field = std::max(1LL, bytes_of({.fields = 1}, matrix));
  return static_cast<int>((bytes + of_field - 1) / of_field);
}

/// Throws `Error` unless the device has room for the workspace.
template <class S>
void check_memory(const Workspace& workspace, const LinearOperator<S>& matrix) {
  const long long field = bytes_of({.fields = 1}, matrix), needed = bytes_of(workspace, matrix);
  const long long available = available_memory_for(needed, matrix.device());
  if (needed <= available) return;
  throw Error(ErrorKind::memory,
              "the solver needs " + std::to_string(workspace.fields) + " fields of " +
                  readable_bytes(field) + " and " + readable_bytes(workspace.bytes) +
                  " for its loop's sums and scalars besides the matrix, available are " +
                  readable_bytes(available) + advice(matrix.product_on_gpu(), needed - available));
}

/// Number of vectors that a basis can hold, at most the dimension of the space.
template <class S>
int max_of_basis(const detail::MethodProgram& program, const LinearOperator<S>& matrix,
                 int restart) {
  if (program.kept_numbers == nullptr) return 0;
  const Offset dimensions = all_rows(matrix.rows(), matrix.device().stream()) *
                            matrix.row_components() / ring_size(program.ring);
  constexpr int countable = 1 << 29;  // the vectors of two such bases can be counted in an int
  return static_cast<int>(std::clamp<Offset>(dimensions, 1, std::clamp(restart, 1, countable)));
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
bool enqueue_alike(const SolverOptions& a, const SolverOptions& b) {
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

}  // namespace

template <class S>
KrylovSolver<S>::KrylovSolver(OperatorReference<S> matrix,
                              std::shared_ptr<Preconditioner<S>> preconditioner,
                              SolverOptions options, detail::MethodOver<S> method)
    : operator_(std::move(matrix)),
      matrix_(*operator_),
      preconditioner_(std::move(preconditioner)),
      device_(matrix_.device()),
      stream_(device_.stream()),
      reduction_(matrix_.rows(), device_),
      method_(std::move(method)),
      ring_(matrix_.ring()),
      max_basis_(max_of_basis(method_.program, matrix_, options.restart)),
      iterated_(&matrix_.iterated()),
      basis_(matrix_.row_basis()) {
  detail::check_square(matrix_, "a solver");
  if (method_.info.needs_positive && (method_.info.direction < 2 || method_.info.image < 2)) {
    throw Error(ErrorKind::usage,
                std::string(method_.info.title) +
                    " needs positive definite matrices, but its row names no direction "
                    "and image");
  }
  if (matrix_.row_components() % ring_size(ring_) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix_.row_components()) +
                                              " components are not whole elements of a ring of " +
                                              std::to_string(ring_size(ring_)));
  }
  options_.basis_precision = options.basis_precision;
  if (std::is_same_v<S, long double> && method_.info.restarts &&
      options.basis_precision == StoredScalar::single) {
    throw Error(ErrorKind::unsupported,
                "solver options: a basis in single precision needs a solve in double precision");
  }
  Workspace later;  // allocated by the first solve, or by one in which a copy of the matrix fails
  if (preconditioner_) {
    detail::check_fits(*preconditioner_, matrix_);
    later = preconditioner_->workspace();
  }
  check_suits(matrix_, preconditioner_.get(), method_.info,
              method_.info.needs_hermitian && !options.omega);
  if (iterated_ != &matrix_) later = later + workspace_of_loop(matrix_);
  const Offset partials = partials_of_sums<S>(matrix_);
  const long long sums = partials * Reduction<S>::width * static_cast<long long>(sizeof(sum_t<S>));
  const Workspace workspace =
      workspace_of_loop(*iterated_) +
      Workspace{own_fields + method_.program.vectors - 2 + fields_in<S>(basis_bytes(), matrix_),
                sums};
  check_memory(workspace + later, matrix_);
  memory_ = bytes_of(workspace, matrix_);
  if (device_.on_gpu()) reduction_.reserve(partials);
  if constexpr (has_cuda) {
    // Every solve needs this kernel; it is compiled while the method makes its own kernels.
    if (const cuda::Product* product = matrix_.product_on_gpu()) {
      compiling_ = std::async(std::launch::async, [product] {
        product->prepare({.epilogue = device::store_residual});
      });
    }
  }
  set_options(std::move(options));
  places_.push_back(make_place());
  loop_over(*iterated_);
}

template <class S>
void KrylovSolver<S>::set_options(SolverOptions options) {
  detail::check_options(options, method_.info.takes_interval, method_.info.takes_omega);
  if (options_.omega && !options.omega) {
    check_suits(matrix_, preconditioner_.get(), method_.info, method_.info.needs_hermitian);
  }
  if (max_basis_ != max_of_basis(method_.program, matrix_, options.restart)) {
    throw Error(ErrorKind::usage,
                "solver options: the restart is fixed by the solver's construction");
  }
  if (!places_.empty() && max_basis_ > 0 && options_.basis_precision != options.basis_precision) {
    throw Error(ErrorKind::usage,
                "solver options: the precision of a basis is fixed by the solver's construction");
  }
  if (!enqueue_alike(options_, options)) forget_enqueued();
  options_ = std::move(options);
}

template <class S>
typename KrylovSolver<S>::Place KrylovSolver<S>::make_place() {
  Place place{make_work(), make_work(), make_work(), {}, {}, {}};
  for (int k = 2; k < method_.program.vectors; ++k) place.vectors.work.push_back(make_work());
  place.vectors.basis = make_basis();
  return place;
}

template <class S>
void KrylovSolver<S>::make_places(std::size_t count) {
  if (count <= places_.size()) return;
  const auto more = static_cast<long long>(count - places_.size());
  Workspace workspace = workspace_of_loop(*iterated_, count);
  workspace.fields += more * (own_fields + method_.program.vectors - 2);
  if (places_.size() > 1) {
    memory_ -= bytes_of(workspace_of_loop(*iterated_, places_.size()), matrix_);
  }
  of_all_ = {};
  in_floats_.of_all = nullptr;
  check_memory(workspace, matrix_);
  while (places_.size() < count) places_.push_back(make_place());
  memory_ += bytes_of(workspace, matrix_);
}

template <class S>
FieldView<S> KrylovSolver<S>::make_work() {
  const auto scalars =
      static_cast<std::size_t>(matrix_.rows()) * static_cast<std::size_t>(matrix_.row_components());
  storage_.emplace_back(scalars, device_);
  return {storage_.back().data(), matrix_.rows(), matrix_.row_components(), matrix_.vector_layout(),
          basis_};
}

template <class S>
FieldView<S>& KrylovSolver<S>::own(std::optional<FieldView<S>>& field) {
  if (!field) field = make_work();
  return *field;
}

template <class S>
bool KrylovSolver<S>::fits_in_place(const FieldView<const S>& field) const {
  return detail::fits_in_place<S>(field, matrix_.vector_layout(), basis_, stream_);
}

template <class S>
void KrylovSolver<S>::set_image_of_guess(const FieldView<const S>& image) {
  if (image.data != nullptr) {
    check_same_shape(image, places_.front().residual, "the image of a guess");
    if (!fits_in_place(image)) {
      throw Error(ErrorKind::usage,
                  "the image of a guess must have the operator's basis, layout and memory");
    }
  }
  forget_enqueued();
  image_of_guess_ = image;
  if (stream_.share == nullptr) return;
  // Ranks must all begin a solve the same way, which depends on `data`. A rank without rows has
  // none, so any address stands for it.
  static const S of_no_rows{};
  const bool lacks = image.data == nullptr && matrix_.rows() > 0;
  if (is_on_some_rank(lacks, *stream_.share)) {
    image_of_guess_ = {};
  } else if (image.data == nullptr) {
    image_of_guess_.data = &of_no_rows;
  }
}

template <class S>
Report KrylovSolver<S>::solve(const FieldView<const S>& b, const FieldView<S>& x) {
  Report report;
  solve_all({&b, 1}, {&x, 1}, {&report, 1});
  return report;
}

template <class S>
std::vector<Report> KrylovSolver<S>::solve(std::span<const FieldView<const S>> b,
                                           std::span<const FieldView<S>> x) {
  detail::check_as_many(b.size(), x.size());
  std::vector<Report> reports(b.size());
  solve_all(b, x, reports);
  return reports;
}

template <class S>
void KrylovSolver<S>::solve_all(std::span<const FieldView<const S>> b,
                                std::span<const FieldView<S>> x, std::span<Report> reports) {
  detail::check_systems<S>(b, x, places_.front().residual);
  const Range range("solve");
  iterated_ = &matrix_.iterated();
  make_places(systems_at_once(b.size()));
  histories_.resize(std::max<std::size_t>(1, b.size()));
  for (auto& history : histories_) history.clear();
  if (compiling_.valid()) compiling_.get();
  if (preconditioner_) preconditioner_->refresh();
  apply_foreign_work_once();
  if (method_.info.takes_interval && (!options_.checks || suits_method())) refresh_steps();
  for (std::size_t first = 0, count = 0; first < b.size(); first += count) {
    count = systems_at_once(b.size() - first);
    solve_side_by_side(b.subspan(first, count), x.subspan(first, count), first,
                       reports.subspan(first, count));
  }
}

template <class S>
void KrylovSolver<S>::solve_side_by_side(std::span<const FieldView<const S>> b,
                                         std::span<const FieldView<S>> x, std::size_t first,
                                         std::span<Report> reports) {
  using Solve = detail::HostSolve<S>;
  iterated_ = &matrix_.iterated();
  std::array<std::optional<Solve>, max_side_by_side> solves;
  for (std::size_t k = 0; k < b.size(); ++k) {
    solves[k].emplace(*this, b[k], x[k], static_cast<int>(k), static_cast<int>(first + k),
                      reports[k]);
    solves[k]->begin(b.size());
  }
  const auto run_rounds = [&](const LinearOperator<S>& matrix) {
    iterated_ = &matrix;
    std::array<detail::RunOf<S>, max_side_by_side> runs;
    std::array<detail::RunResult<sum_t<S>>, max_side_by_side> results;
    std::array<Solve*, max_side_by_side> running;
    for (;;) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < b.size(); ++k) {
        if (!solves[k]->runs()) continue;
        running[count] = &*solves[k];
        runs[count++] = solves[k]->next_run(form_of_loop(matrix));
      }
      if (count == 0) return;
      loop_over(matrix, b.size()).run({runs.data(), count}, {results.data(), count});
      for (std::size_t k = 0; k < count; ++k) running[k]->take(results[k]);
    }
  };
  const detail::WatchedPreconditioner<S> watched(
      method_.info.takes_varying ? preconditioner_.get() : nullptr,
      [&](long long iterations) { return solves[0]->goes_on_inside(iterations); });
  run_rounds(*iterated_);
  const auto go_on = [&](const LinearOperator<S>& matrix, StoredScalar kept) {
    bool goes_on = false;
    for (std::size_t k = 0; k < b.size(); ++k) goes_on = solves[k]->leaves_copy(kept) || goes_on;
    if (goes_on) run_rounds(matrix);
  };
  bool has_failed = false;
  for (std::size_t k = 0; k < b.size(); ++k) has_failed = solves[k]->failed_on_copy() || has_failed;
  // The memory for floats, or for a loop over them, may have been taken meanwhile.
  const auto has_loop_over_floats = [&] {
    try {
      if (!take_floats()) return false;
      loop_over(*in_floats_.matrix, b.size());
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      return false;
    }
  };
  if (has_failed && has_loop_over_floats()) go_on(*in_floats_.matrix, StoredScalar::single);
  go_on(matrix_, StoredScalar::own);
  for (std::size_t k = 0; k < b.size(); ++k) solves[k]->end();
}

template class KrylovSolver<float>;
template class KrylovSolver<double>;
HEDDLE_IN_LONG_DOUBLE(template class KrylovSolver<long double>;)

}  // namespace heddle
