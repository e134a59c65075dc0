#include "heddle/krylov_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "../base/device_cuda.hpp"
#include "../base/range.hpp"
#include "../base/readable.hpp"
#include "../fields/fits_in_place.hpp"
#include "../fields/vector_operations_cuda.hpp"
#include "../matrix/slice_shapes.hpp"
#include "enqueued_solve_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/product_cuda.hpp"
#include "loop_preconditioner.hpp"
#include "projection_cuda.hpp"
#include "queued_product_cuda.hpp"
#include "scale_range.hpp"
#include "solve_control.hpp"

namespace heddle {

namespace {

/// A power of two that brings the largest component near 1, where b is very small or large; 1
/// otherwise.
template <class S>
S scale_for(const FieldView<const S>& b, sum_t<S> squared_norm, Reduction<S>& reduction,
            const Stream& stream) {
  const auto range = detail::scale_range<S, sum_t<S>>();
  if (range.holds(squared_norm)) return S(1);
  const sum_t<S> largest = largest_magnitude<S>(b, reduction, stream);
  if (!std::isfinite(largest) || largest == 0) return S(1);
  return static_cast<S>(std::exp2(-range.exponent(largest)));
}

/// residual, kept and verified iterate. A solve may also need b and x, where it cannot use the
/// caller's.
constexpr int own_fields = 3;

/// Whether the matrix as CSR would leave as much as `lacking` bytes more.
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

/// Partial sums that a product or an operation on a field leaves.
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

/// Throws `Error` unless the preconditioner was made for fields of the operator, as far as it says.
template <class S>
void check_fits(const Preconditioner<S>& preconditioner, const LinearOperator<S>& matrix) {
  const std::optional<FieldShape> shape = preconditioner.shape();
  if (!shape) return;
  if (shape->rows != matrix.rows() || shape->components != matrix.row_components()) {
    throw Error(ErrorKind::size_mismatch, "a preconditioner of " + std::to_string(shape->rows) +
                                              " rows of " + std::to_string(shape->components) +
                                              " components meets an operator of " +
                                              std::to_string(matrix.rows()) + " of " +
                                              std::to_string(matrix.row_components()));
  }
  if (!detail::in_basis(shape->basis, matrix.row_basis())) {
    throw Error(ErrorKind::size_mismatch,
                "the preconditioner is in another basis than the operator; make it of an operator "
                "in that basis");
  }
  if (shape->layout && *shape->layout != matrix.vector_layout()) {
    throw Error(ErrorKind::size_mismatch,
                "the preconditioner is of another vector layout than the operator's plan");
  }
  if (shape->gpu && *shape->gpu != matrix.device().stream().gpu) {
    throw Error(ErrorKind::usage, "the preconditioner is on another device than the operator");
  }
}

/// Bytes of it, where they are available.
template <class S>
long long checked(const Workspace& workspace, const LinearOperator<S>& matrix) {
  const long long field = static_cast<long long>(matrix.rows()) * matrix.row_components() *
                          static_cast<long long>(sizeof(S));
  const long long needed = workspace.fields * field + workspace.bytes;
  const long long available = matrix.device().available_memory();
  if (needed <= available) return needed;
  throw Error(ErrorKind::memory,
              "the solver needs " + std::to_string(workspace.fields) + " fields of " +
                  readable_bytes(field) + " and " + readable_bytes(workspace.bytes) +
                  " of its loop's sums and scalars beside the matrix, available are " +
                  readable_bytes(available) + advice(matrix.product_on_gpu(), needed - available));
}

}  // namespace

template <class S>
KrylovSolver<S>::KrylovSolver(OperatorReference<S> matrix,
                              std::shared_ptr<Preconditioner<S>> preconditioner,
                              SolverOptions options, Ring ring, const Workspace& workspace)
    : operator_(std::move(matrix)),
      matrix_(*operator_),
      preconditioner_(std::move(preconditioner)),
      device_(matrix_.device()),
      stream_(device_.stream()),
      reduction_(matrix_.rows(), device_),
      ring_(ring),
      iterated_(&matrix_.iterated()),
      basis_(matrix_.row_basis()) {
  if (matrix_.rows() != matrix_.columns() ||
      matrix_.row_components() != matrix_.column_components()) {
    throw Error(ErrorKind::size_mismatch,
                "a solver needs a square operator, this one is " + std::to_string(matrix_.rows()) +
                    " x " + std::to_string(matrix_.columns()) + " with " +
                    std::to_string(matrix_.row_components()) + " x " +
                    std::to_string(matrix_.column_components()) + " components");
  }
  if (!detail::in_basis(matrix_.row_basis(), matrix_.column_basis())) {
    throw Error(ErrorKind::unsupported,
                "a solver needs rows and columns in one basis; make the operator with one");
  }
  if (matrix_.row_components() % ring_size(ring) != 0) {
    throw Error(ErrorKind::size_mismatch, "rows of " + std::to_string(matrix_.row_components()) +
                                              " components are no whole numbers of a ring of " +
                                              std::to_string(ring_size(ring)));
  }
  if (preconditioner_) check_fits(*preconditioner_, matrix_);
  const Offset partials = partials_of_sums<S>(matrix_);
  const long long sums = partials * Reduction<S>::width * static_cast<long long>(sizeof(sum_t<S>));
  memory_ = checked<S>({workspace.fields + own_fields, workspace.bytes + sums}, matrix_);
  if (device_.on_gpu()) reduction_.reserve(partials);
  if constexpr (has_cuda) {
    // What every solve needs, compiled while the method makes its own kernels.
    if (const cuda::Product* product = matrix_.product_on_gpu()) {
      compiling_ = std::async(std::launch::async, [product] {
        product->prepare({.epilogue = device::store_residual});
      });
    }
  }
  set_options(std::move(options));
  residual_ = make_work();
  kept_ = make_work();
  verified_ = make_work();
}

template <class S>
void KrylovSolver<S>::set_options(SolverOptions options) {
  const bool meaningful = options.tolerance == SolverOptions::by_precision ||
                          (options.tolerance >= 0 && options.tolerance < 1);
  if (!meaningful || !(options.absolute_tolerance >= 0) || options.max_iterations < 0 ||
      !(options.time_limit >= 0)) {
    throw Error(ErrorKind::usage,
                "solver options: the tolerance is at least 0 and below 1; absolute tolerance, "
                "iteration and time limit are not negative");
  }
  forget_enqueued();
  options_ = std::move(options);
}

template <class S>
bool KrylovSolver<S>::has_foreign_work() const {
  return matrix_.product_on_gpu() == nullptr ||
         (preconditioner_ && !detail::is_fused(*preconditioner_, !null_space_.vectors.empty()));
}

template <class S>
long long KrylovSolver<S>::unwatched_iterations(long long bytes_of_iteration) const {
  return has_foreign_work() ? 0 : cuda::unwatched_iterations(bytes_of_iteration);
}

/// What they make or compile at their first use is not for a graph to record.
template <class S>
void KrylovSolver<S>::apply_foreign_work_once() {
  if (is_applied_ || !has_foreign_work() || form_of_loop(matrix_) == LoopForm::stepped) return;
  fill<S>(S(0), residual_, stream_);
  fill<S>(S(0), kept_, stream_);
  if (preconditioner_) preconditioner_->apply(residual_, kept_, stream_);
  if (matrix_.product_on_gpu() == nullptr) {
    matrix_.apply(S(1), residual_, S(0), kept_, stream_);
    matrix_.apply(S(-1), residual_, S(1), kept_, stream_);
  }
  is_applied_ = true;
}

template <class S>
void KrylovSolver<S>::forget_enqueued() {
  if (enqueued_) device_.synchronize();  // it may be at work
  enqueued_.reset();
}

template <class S>
LoopForm KrylovSolver<S>::form_of_loop(const LinearOperator<S>& matrix) const {
  return detail::form_of_loop(matrix, preconditioner_.get(), !null_space_.vectors.empty());
}

template <class S>
cuda::LoopPreconditioner<S> KrylovSolver<S>::preconditioner_of_loop() {
  if (!preconditioner_) return {};
  if (detail::is_fused(*preconditioner_, !null_space_.vectors.empty())) {
    return {preconditioner_->diagonal_on_gpu(), {}};
  }
  return {nullptr,
          [this](const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) {
            preconditioner_->apply(r, z, stream);
            if (null_space_.projection) null_space_.projection->queue(z, stream);
          }};
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
FieldView<const S> KrylovSolver<S>::precondition(const FieldView<const S>& r,
                                                 const FieldView<S>& z) {
  if (!preconditioner_) return r;
  preconditioner_->apply(r, z, stream_);
  project(z);
  return z;
}

namespace {

/// field -= v <v, field> for each of the orthonormal vectors.
template <class S, Ring R>
void project_out_in(const std::vector<FieldView<S>>& vectors, const FieldView<S>& field,
                    Reduction<S>& reduction, const Stream& stream) {
  for (const FieldView<S>& v : vectors) {
    const auto along = dot<R, S>(v, field, reduction, stream);
    Coefficient<R, S> minus{};
    for (int k = 0; k < minus.size; ++k) minus.component[k] = static_cast<S>(-along.component[k]);
    axpby<S, R>(minus, v, Coefficient<R, S>::from_real(S(1)), field, stream);
  }
}
template <class S>
void project_out(const std::vector<FieldView<S>>& vectors, Ring ring, const FieldView<S>& field,
                 Reduction<S>& reduction, const Stream& stream) {
  if (vectors.empty()) return;
  if (ring == Ring::real) project_out_in<S, Ring::real>(vectors, field, reduction, stream);
  if (ring == Ring::complex) project_out_in<S, Ring::complex>(vectors, field, reduction, stream);
  if (ring == Ring::quaternion) {
    project_out_in<S, Ring::quaternion>(vectors, field, reduction, stream);
  }
}

}  // namespace

template <class S>
void KrylovSolver<S>::project(const FieldView<S>& field) {
  project_out(null_space_.vectors, ring_, field, reduction_, stream_);
}

template <class S>
void KrylovSolver<S>::set_null_space(const std::vector<FieldView<const S>>& vectors) {
  NullSpace made;
  for (const FieldView<const S>& vector : vectors) {
    made.storage.emplace_back(static_cast<std::size_t>(residual_.scalars()), device_);
    const FieldView<S> own(made.storage.back().data(), residual_.size, residual_.components,
                           matrix_.vector_layout(), basis_);
    permute<S>(vector, own, S(1), stream_);
    const sum_t<S> before = norm<S>(own, stream_);
    // Twice is enough (Giraud et al. 2005): the second pass removes what rounding left.
    project_out(made.vectors, ring_, own, reduction_, stream_);
    project_out(made.vectors, ring_, own, reduction_, stream_);
    const sum_t<S> after = norm<S>(own, stream_);
    if (!(after > before * 1e-6) || !std::isfinite(after)) {
      throw Error(ErrorKind::usage, "null space: vector " + std::to_string(made.vectors.size()) +
                                        " is zero, not finite or depends on those before it");
    }
    scale<S>(static_cast<S>(1 / after), own, stream_);
    made.vectors.push_back(own);
  }
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    if (device_.on_gpu() && !made.vectors.empty()) {
      made.projection = cuda::make_projection<S>(made.vectors, ring_, device_);
    }
  }
  forget_enqueued();
  null_space_ = std::move(made);
  if (preconditioner_) remake_loop();
}

template <class S>
long long KrylovSolver<S>::bytes_per_iteration() const {
  if (iterated().bytes_of_product() == 0) return 0;
  const Cost work = cost();
  const long long field_bytes = residual_.scalars() * static_cast<long long>(sizeof(S));
  return work.products * iterated().bytes_of_product() + work.passes * field_bytes +
         (preconditioner_ ? work.products * preconditioner_->bytes_of_application() : 0);
}

template <class S>
bool KrylovSolver<S>::is_hermitian() {
  if (is_hermitian_) return *is_hermitian_;
  using sum = sum_t<S>;
  const FieldView<S>&x = kept_, &y = verified_, &image = residual_, zero = spare();
  fill<S>(S(0), zero, stream_);
  unsigned long long seed = 1;
  for (const FieldView<S>* field : {&x, &y}) {
    fill<S>(S(1), *field, stream_);
    randomize<S>(*field, seed++, stream_);
  }
  // -A x, by a kernel that solves need anyway.
  const sum squared_x = matrix_.residual(zero, x, image, reduction_, stream_);
  const sum along_y = real_dot<S>(y, image, reduction_, stream_);
  const sum squared_y = matrix_.residual(zero, y, image, reduction_, stream_);
  const sum along_x = real_dot<S>(x, image, reduction_, stream_);
  // Both are sums of random terms: about as large as |A x|, and as different as A is from A*.
  const sum size = std::sqrt(squared_x) + std::sqrt(squared_y);
  const sum defect = std::abs(along_x - along_y);
  const bool is_known = size > std::sqrt(std::numeric_limits<sum>::min()) && std::isfinite(size);
  const sum digits = std::sqrt(static_cast<sum>(std::numeric_limits<S>::epsilon()));
  is_hermitian_ = !(is_known && defect > digits * size);
  return *is_hermitian_;
}

template <class S>
void KrylovSolver<S>::return_scaled(detail::SolveControl<S>& control, const FieldView<S>& scaled,
                                    const FieldView<S>& x, S factor) {
  permute<S>(scaled, x, S(1) / factor, stream_);
  permute<S>(x, scaled, factor, stream_);
  if (control.finish_unscaled()) return;
  fill<S>(S(0), scaled, stream_);
  permute<S>(scaled, x, S(1), stream_);
  control.finish_unscaled();
}

template <class S>
Report KrylovSolver<S>::solve(const FieldView<const S>& b, const FieldView<S>& x) {
  using Clock = typename detail::SolveControl<S>::Clock;
  check_same_shape(b, residual_, "the right-hand side");
  check_same_shape(x, residual_, "the solution");
  check_apart(b, x, "the right-hand side", "the solution");
  const Range range("solve");
  Report report;
  const auto iterate_on = [&](const LinearOperator<S>& matrix) {
    iterated_ = &matrix;
    report.loop = loop();
    report.stored = &matrix == &matrix_ ? "own" : "float";
  };
  iterate_on(matrix_.iterated());
  history_.clear();
  if (compiling_.valid()) compiling_.get();
  if (preconditioner_) preconditioner_->refresh();
  apply_foreign_work_once();

  const auto entered = Clock::now();
  std::optional<Range> phase(std::in_place, "permute in");
  FieldView<const S> b_in = b;
  if (!fits_in_place(b) || !null_space_.vectors.empty()) {
    permute<S>(b, own(own_b_), S(1), stream_);
    project(*own_b_);
    b_in = *own_b_;
  }
  sum_t<S> squared_b = real_dot<S>(b_in, b_in, reduction_, stream_);
  const S factor = scale_for<S>(b_in, squared_b, reduction_, stream_);
  if (factor != S(1)) {
    permute<S>(b, own(own_b_), factor, stream_);
    project(*own_b_);
    b_in = *own_b_;
    squared_b = real_dot<S>(b_in, b_in, reduction_, stream_);
  }
  const bool x_in_place = fits_in_place(x) && factor == S(1);
  if (!x_in_place) permute<S>(x, own(own_x_), factor, stream_);
  const FieldView<S> x_in = x_in_place ? x : *own_x_;
  report.permute_seconds = std::chrono::duration<double>(Clock::now() - entered).count();

  phase.emplace("iterate");
  report.bytes_per_iteration = bytes_per_iteration();

  if (!std::isfinite(squared_b)) {
    report.status = Status::not_finite;
    report.detail = "the right-hand side is not finite";
    report.residual = report.residual_norm = std::numeric_limits<double>::quiet_NaN();
    return report;
  }
  if (squared_b == 0) {  // x = 0, whatever the guess
    fill<S>(S(0), x_in, stream_);
  }
  const bool suits = !options_.checks || !needs_positive_matrix() || is_hermitian();
  detail::SolveControl<S> control(*this, b_in, x_in, report);
  if (control.begin(squared_b, 1 / static_cast<sum_t<S>>(factor))) {
    if (!suits) {
      control.end(Status::not_hermitian,
                  "conjugate gradient needs a Hermitian matrix: use BiCGStab");
    } else if (options_.max_iterations == 0) {
      control.end(Status::iteration_limit, "");
    } else {
      iterate(control);
      if (control.wants_matrix()) {
        const auto on_copy = static_cast<double>(report.iterations);
        const auto bytes_on_copy = static_cast<double>(report.bytes_per_iteration);
        iterate_on(matrix_);
        if (control.begin_on_matrix()) iterate(control);
        // What both kinds of iterations move, on average.
        const auto bytes = static_cast<double>(bytes_per_iteration());
        const double share = on_copy / static_cast<double>(std::max(1LL, report.iterations));
        report.bytes_per_iteration =
            static_cast<long long>(share * bytes_on_copy + (1 - share) * bytes);
      }
    }
  }
  control.finish();

  const auto left = Clock::now();
  phase.emplace("permute out");
  if (factor != S(1)) {
    return_scaled(control, x_in, x, factor);
  } else if (!x_in_place) {
    permute<S>(x_in, x, S(1), stream_);
  }
  device_.synchronize();
  report.permute_seconds += std::chrono::duration<double>(Clock::now() - left).count();
  return report;
}

template <class S>
void KrylovSolver<S>::prepare_run(const LinearOperator<S>&) {}

template <class S>
void KrylovSolver<S>::capture_run(const LinearOperator<S>&, const FieldView<S>&,
                                  const FieldView<S>&, device::LoopState*, const Stream&) {}

template <class S>
cuda::SolveTarget<S> KrylovSolver<S>::target_of(const FieldView<const S>& b, const FieldView<S>& x,
                                                DeviceReport* report) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    check_same_shape(b, residual_, "the right-hand side");
    check_same_shape(x, residual_, "the solution");
    check_apart(b, x, "the right-hand side", "the solution");
    iterated_ = &matrix_.iterated();  // the last `solve` may have left it
    if (loop() == "stepped" || form_of_loop(matrix_) == LoopForm::stepped) {
      throw Error(ErrorKind::unsupported,
                  "enqueue needs a loop that lives on a GPU: an operator there whose plan says "
                  "loop=graph or loop=persistent, or that only queues work, and a preconditioner "
                  "that only queues work");
    }
    if (options_.observer) {
      throw Error(
          ErrorKind::unsupported,
          "enqueue calls no observer; `cancel` ends a solve, `enqueued_history` tells of it");
    }
    const bool empty = residual_.scalars() == 0;
    if (!empty &&
        !(cuda::is_device_memory(b.data, stream_) && cuda::is_device_memory(x.data, stream_))) {
      throw Error(ErrorKind::usage,
                  "enqueue takes a right-hand side and a solution in the GPU's memory; copy them "
                  "there first");
    }
    if (!cuda::is_writable(report, stream_)) {
      throw Error(ErrorKind::usage,
                  "enqueue takes a report in the GPU's memory, or in pinned memory of the host");
    }
    const bool in_place = fits_in_place(x);
    const bool captured = cuda::is_being_captured(stream_);
    if (captured && !(enqueued_ && (in_place || own_x_))) {
      throw Error(ErrorKind::usage, cuda::not_prepared);
    }
    if (!captured) {
      // Jacobi's inverses are made in the graph.
      const bool is_own = preconditioner_ && preconditioner_->diagonal_on_gpu() == nullptr;
      if (is_own) preconditioner_->refresh();
      apply_foreign_work_once();
    }
    if (!enqueued_) {
      if (compiling_.valid()) compiling_.get();
      if (!watch_) watch_ = cuda::make_loop_watch(stream_);
      cuda::SolveParts<S> parts;
      parts.product = cuda::make_queued_product(matrix_);
      parts.diagonal = preconditioner_ ? preconditioner_->diagonal_on_gpu() : nullptr;
      parts.preconditioner = preconditioner_of_loop();
      parts.projection = null_space_.projection;
      parts.device = device_;
      parts.options = options_;
      parts.b = own(own_b_);
      parts.r = residual_;
      parts.kept = verified_;
      parts.scratch = kept_;
      parts.needs_positive_matrix = needs_positive_matrix();
      parts.unwatched = unwatched_iterations(bytes_per_iteration());
      parts.watch = watch_;
      const auto runs_over = [this](const LinearOperator<S>& matrix) {
        prepare_run(matrix);
        const auto capture = [this, &matrix](const FieldView<S>& from, device::LoopState* state,
                                             const Stream& capturing) {
          capture_run(matrix, from, residual_, state, capturing);
        };
        return cuda::SolveRuns<S>{cuda::make_queued_product(matrix), capture};
      };
      parts.runs = runs_over(matrix_.iterated());
      if (iterated_ != &matrix_) parts.runs_on_matrix = runs_over(matrix_);
      enqueued_ = cuda::make_enqueued_solve<S>(std::move(parts));
      watched_.store(watch_.get());
    }
    return {b, x, in_place ? x : own(own_x_), report};
  } else {
    throw Error(ErrorKind::unsupported,
                "enqueue needs a GPU, and float or double; `solve` runs everywhere");
  }
}

template <class S>
void KrylovSolver<S>::prepare_enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                                      DeviceReport* report) {
  const auto target = target_of(b, x, report);
  enqueued_->prepare(target);
}

template <class S>
void KrylovSolver<S>::enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                              DeviceReport* report) {
  const auto target = target_of(b, x, report);
  enqueued_->enqueue(target);
}

template <class S>
void KrylovSolver<S>::cancel() {
  device::LoopWatch* const watch = watched_.load();
  if (watch != nullptr) __atomic_store_n(&watch->cancel, 1, __ATOMIC_RELAXED);
}

template <class S>
std::vector<double> KrylovSolver<S>::enqueued_history() const {
  return enqueued_ ? enqueued_->history() : std::vector<double>();
}

template class KrylovSolver<float>;
template class KrylovSolver<double>;
template class KrylovSolver<long double>;

}  // namespace heddle
