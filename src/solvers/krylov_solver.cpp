#include "heddle/krylov_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "../base/device_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/product_cuda.hpp"
#include "solve_control.hpp"

namespace heddle {

namespace {

bool in_basis(const std::shared_ptr<const Basis>& of_field,
              const std::shared_ptr<const Basis>& basis) {
  const bool natural_field = !of_field || of_field->is_natural();
  const bool natural_basis = !basis || basis->is_natural();
  if (natural_field || natural_basis) return natural_field && natural_basis;
  return same_basis(*of_field, *basis);
}

/// A power of two that brings the largest component near 1, where squares would leave the range of
/// a double; 1 otherwise.
template <class S>
S scale_for(const FieldView<const S>& b, sum_t<S> squared_norm, Reduction<S>& reduction,
            const Stream& stream) {
  constexpr sum_t<S> least = 1e-200, most = 1e200;
  if (squared_norm > least && squared_norm < most) return S(1);
  const sum_t<S> largest = largest_magnitude<S>(b, reduction, stream);
  if (!std::isfinite(largest) || largest == 0) return S(1);
  return static_cast<S>(
      std::exp2(-std::clamp<sum_t<S>>(std::floor(std::log2(largest)), -1000, 1000)));
}

}  // namespace

template <class S>
KrylovSolver<S>::KrylovSolver(const LinearOperator<S>& matrix,
                              std::shared_ptr<Preconditioner<S>> preconditioner,
                              SolverOptions options, Ring ring)
    : matrix_(matrix),
      preconditioner_(std::move(preconditioner)),
      device_(matrix.device()),
      stream_(device_.stream()),
      reduction_(matrix.rows(), device_),
      ring_(ring),
      iterated_(&matrix.iterated()),
      basis_(matrix.row_basis()) {
  if (matrix.rows() != matrix.columns() || matrix.row_components() != matrix.column_components()) {
    throw Error(ErrorKind::size_mismatch,
                "a solver needs a square operator, this one is " + std::to_string(matrix.rows()) +
                    " x " + std::to_string(matrix.columns()) + " with " +
                    std::to_string(matrix.row_components()) + " x " +
                    std::to_string(matrix.column_components()) + " components");
  }
  if (!in_basis(matrix.row_basis(), matrix.column_basis())) {
    throw Error(ErrorKind::unsupported,
                "a solver needs rows and columns in one basis; make the operator with one");
  }
  if constexpr (has_cuda) {
    // What every solve needs, compiled while the method makes its own kernels.
    if (const cuda::Product* product = matrix.product_on_gpu()) {
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
  options_ = std::move(options);
}

template <class S>
const cuda::Diagonal* KrylovSolver<S>::diagonal_of_loop() const {
  if (!preconditioner_) return nullptr;
  const cuda::Diagonal* diagonal = preconditioner_->diagonal_on_gpu();
  if (diagonal == nullptr) {
    throw Error(ErrorKind::unsupported,
                "a preconditioner of the user's own runs under loop=stepped only");
  }
  return diagonal;
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
bool KrylovSolver<S>::fits_in_place(const FieldView<const S>& field) const {
  if constexpr (has_cuda) {
    // Kernels read 16 bytes at a time, of memory that the GPU has.
    const bool aligned = reinterpret_cast<std::uintptr_t>(field.data) % 16 == 0;
    if (device_.on_gpu() && (!aligned || !cuda::is_device_memory(field.data))) return false;
  }
  return in_basis(field.basis, basis_) && field.entry_stride == residual_.entry_stride &&
         field.component_stride == residual_.component_stride;
}

template <class S>
FieldView<const S> KrylovSolver<S>::precondition(const FieldView<const S>& r,
                                                 const FieldView<S>& z) {
  if (!preconditioner_) return r;
  preconditioner_->apply(r, z, stream_);
  project(z);
  return z;
}

template <class S>
template <Ring R>
void KrylovSolver<S>::project_in(const FieldView<S>& field) {
  for (const FieldView<S>& v : null_space_) {
    const auto along = dot<R, S>(v, field, reduction_, stream_);
    Coefficient<R, S> minus{};
    for (int k = 0; k < minus.size; ++k) minus.component[k] = static_cast<S>(-along.component[k]);
    axpby<S, R>(minus, v, Coefficient<R, S>::from_real(S(1)), field, stream_);
  }
}

template <class S>
void KrylovSolver<S>::project(const FieldView<S>& field) {
  if (null_space_.empty()) return;
  if (ring_ == Ring::real) project_in<Ring::real>(field);
  if (ring_ == Ring::complex) project_in<Ring::complex>(field);
  if (ring_ == Ring::quaternion) project_in<Ring::quaternion>(field);
}

template <class S>
void KrylovSolver<S>::set_null_space(const std::vector<FieldView<const S>>& vectors) {
  auto before_this = std::exchange(null_space_, {});
  for (const FieldView<const S>& vector : vectors) {
    FieldView<S> own = make_work();
    permute<S>(vector, own, S(1), stream_);
    const sum_t<S> before = norm<S>(own, stream_);
    // Twice is enough (Giraud et al. 2005): the second pass removes what rounding left.
    project(own);
    project(own);
    const sum_t<S> after = norm<S>(own, stream_);
    if (!(after > before * 1e-6) || !std::isfinite(after)) {
      const auto number = std::to_string(null_space_.size());
      null_space_ = std::move(before_this);
      throw Error(ErrorKind::usage, "null space: vector " + number +
                                        " is zero, not finite or depends on those before it");
    }
    scale<S>(static_cast<S>(1 / after), own, stream_);
    null_space_.push_back(own);
  }
}

template <class S>
Report KrylovSolver<S>::solve(const FieldView<const S>& b, const FieldView<S>& x) {
  using Clock = typename detail::SolveControl<S>::Clock;
  check_same_shape(b, residual_, "the right-hand side");
  check_same_shape(x, residual_, "the solution");
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

  const auto entered = Clock::now();
  const auto own = [&](std::optional<FieldView<S>>& field) -> FieldView<S>& {
    if (!field) field = make_work();
    return *field;
  };
  FieldView<const S> b_in = b;
  if (!fits_in_place(b) || !null_space_.empty()) {
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

  const auto bytes_of_iteration = [&]() -> long long {
    if (iterated().bytes_of_product() == 0) return 0;
    const Cost work = cost();
    const long long field_bytes = residual_.scalars() * static_cast<long long>(sizeof(S));
    return work.products * iterated().bytes_of_product() + work.passes * field_bytes +
           (preconditioner_ ? work.products * preconditioner_->bytes_of_application() : 0);
  };
  report.bytes_per_iteration = bytes_of_iteration();

  if (!std::isfinite(squared_b)) {
    report.status = Status::not_finite;
    report.detail = "the right-hand side is not finite";
    report.residual = report.residual_norm = std::numeric_limits<double>::quiet_NaN();
    return report;
  }
  if (squared_b == 0) {  // x = 0, whatever the guess
    fill<S>(S(0), x_in, stream_);
  }
  detail::SolveControl<S> control(*this, b_in, x_in, report);
  if (control.begin(squared_b, 1 / static_cast<sum_t<S>>(factor))) {
    if (options_.max_iterations == 0) {
      control.end(Status::iteration_limit, "");
    } else {
      iterate(control);
      if (control.wants_matrix()) {
        const auto on_copy = static_cast<double>(report.iterations);
        const auto bytes_on_copy = static_cast<double>(report.bytes_per_iteration);
        iterate_on(matrix_);
        if (control.begin_on_matrix()) iterate(control);
        // What both kinds of iterations move, on average.
        const auto bytes = static_cast<double>(bytes_of_iteration());
        const double share = on_copy / static_cast<double>(std::max(1LL, report.iterations));
        report.bytes_per_iteration =
            static_cast<long long>(share * bytes_on_copy + (1 - share) * bytes);
      }
    }
  }
  control.finish();

  const auto left = Clock::now();
  if (!x_in_place) permute<S>(x_in, x, S(1) / factor, stream_);
  device_.synchronize();
  report.permute_seconds += std::chrono::duration<double>(Clock::now() - left).count();
  return report;
}

template class KrylovSolver<float>;
template class KrylovSolver<double>;
template class KrylovSolver<long double>;

}  // namespace heddle
