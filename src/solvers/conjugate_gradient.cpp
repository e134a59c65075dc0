#include "heddle/conjugate_gradient.hpp"

#include <limits>
#include <tuple>

#include "conjugate_gradient_cuda.hpp"
#include "heddle/config.hpp"
#include "loop_preconditioner.hpp"
#include "loop_workspace_cuda.hpp"
#include "solve_control.hpp"

namespace heddle {

namespace {

template <class S>
Workspace workspace(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner) {
  const int fields = preconditioner != nullptr ? 3 : 2;
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const LoopForm form = detail::form_of_loop(matrix.iterated(), preconditioner, false);
    if (form == LoopForm::stepped) return {fields};
    const cuda::Diagonal* diagonal =
        preconditioner != nullptr ? preconditioner->diagonal_on_gpu() : nullptr;
    const Workspace of_loop =
        form == LoopForm::persistent
            ? cuda::workspace_of_persistent(cuda::PersistentMethod::conjugate_gradient, 0,
                                            *matrix.iterated().product_on_gpu(),
                                            diagonal != nullptr, matrix.device())
            : cuda::workspace_of_conjugate_gradient_graph<S>(
                  *cuda::make_queued_product(matrix.iterated()), diagonal,
                  preconditioner != nullptr && diagonal == nullptr);
    return {fields + of_loop.fields, of_loop.bytes};
  }
  return {fields};
}

}  // namespace

template <class S>
ConjugateGradient<S>::ConjugateGradient(OperatorReference<S> matrix,
                                        std::shared_ptr<Preconditioner<S>> preconditioner,
                                        SolverOptions options)
    : KrylovSolver<S>(matrix, preconditioner, std::move(options), matrix->ring(),
                      workspace(*matrix, preconditioner.get())) {
  if (!matrix->has_adjoint()) {
    throw Error(ErrorKind::unsupported,
                "conjugate gradient needs a Hermitian matrix, and these entries have no adjoint; "
                "use BiCGStab");
  }
  if (this->preconditioner_) z_ = this->make_work();
  p_ = this->make_work();
  q_ = this->make_work();
  loop_ = make_loop(this->iterated());
}

template <class S>
std::shared_ptr<cuda::ConjugateGradientLoop<S>> ConjugateGradient<S>::make_loop(
    const LinearOperator<S>& matrix) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const LoopForm form = this->form_of_loop(matrix);
    if (form == LoopForm::stepped) return nullptr;
    auto preconditioner = this->preconditioner_of_loop();
    if (form != LoopForm::persistent) {
      return cuda::conjugate_gradient_graph<S>(cuda::make_queued_product(matrix),
                                               std::move(preconditioner), form, this->device_);
    }
    return cuda::conjugate_gradient_persistent<S>(*matrix.product_on_gpu(), preconditioner.diagonal,
                                                  this->device_);
  }
  return nullptr;
}

template <class S>
void ConjugateGradient<S>::remake_loop() {
  loop_on_matrix_.reset();
  loop_.reset();  // first: not both at once
  loop_ = make_loop(this->matrix_.iterated());
}

template <class S>
std::shared_ptr<cuda::ConjugateGradientLoop<S>>& ConjugateGradient<S>::loop_over(
    const LinearOperator<S>& matrix) {
  return &matrix == &this->matrix_.iterated() ? loop_ : loop_on_matrix_;
}

template <class S>
void ConjugateGradient<S>::prepare_run(const LinearOperator<S>& matrix) {
  auto& loop = loop_over(matrix);
  if (!loop) loop = make_loop(matrix);
}

template <class S>
std::string_view ConjugateGradient<S>::loop() const {
  if (!loop_ || !this->may_run_on_gpu()) return "stepped";
  return name(this->form_of_loop(this->iterated()));
}

// Passes over a field in one iteration, beside the product's own p and q:
//   r -= alpha q, |r|^2           3          with a preconditioner, fused:  r, q -> r, z   4
//   x += alpha p, p = z + beta p  5                                                        5
template <class S>
typename KrylovSolver<S>::Cost ConjugateGradient<S>::cost() const {
  return {this->preconditioner_ ? 9 : 8, 1};
}

namespace {

/// |A v| / |v| for signs v without pattern; v and its image are scratch. A p cannot serve: where A
/// is singular along p, it is all rounding, and no smaller than p* A p / |p|.
template <class S>
sum_t<S> estimated_norm(const LinearOperator<S>& matrix, const FieldView<S>& v,
                        const FieldView<S>& image, Reduction<S>& reduction, const Stream& stream) {
  fill_signs<S>(v, stream);
  matrix.apply(S(1), v, S(0), image, stream);
  return std::sqrt(real_dot<S>(image, image, reduction, stream) /
                   static_cast<sum_t<S>>(v.scalars()));
}

}  // namespace

/// p* A p is not positive: true if that ends the solve, false if it may begin again.
template <class S>
bool ConjugateGradient<S>::ends_singular(detail::SolveControl<S>& control, sum_t<S> p_q) {
  // Zero but for rounding: A is singular along p, which is no sign of a negative eigenvalue.
  const sum_t<S> squared_p = real_dot<S>(p_, p_, this->reduction_, this->stream_);
  const sum_t<S> rounding = 32 * std::numeric_limits<S>::epsilon() * squared_p;
  if (p_q <
      -rounding * estimated_norm<S>(this->iterated(), p_, q_, this->reduction_, this->stream_)) {
    control.end(Status::indefinite, "p* A p is negative: the matrix is not positive definite");
    return true;
  }
  return !control.verify(Status::breakdown, "p* A p vanishes: the matrix is singular");
}

template <class S>
void ConjugateGradient<S>::iterate_on_gpu(detail::SolveControl<S>& control) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const FieldView<S>& r = control.r();
    while (!control.ended()) {
      const cuda::RunResult run = loop_->run(
          {control.x(), r, p_, q_, this->preconditioner_ ? z_ : r}, control.run_limits());
      if (!control.take_run(run)) return;
      if (run.end == device::loop_not_definite) {
        control.end(Status::indefinite,
                    "r* M^-1 r is not positive: the preconditioner is not positive definite");
      } else if (run.end == device::loop_not_positive) {
        // The direction along which it is not: that of r, where the next run would begin too.
        copy<S>(this->precondition(r, z_), p_, this->stream_);
        const sum_t<S> p_q = this->iterated().apply_dot(p_, q_, this->reduction_, this->stream_);
        if (p_q > 0) {
          if (!control.verify(Status::stagnated, "the recurrence has no digit left")) return;
        } else if (ends_singular(control, p_q)) {
          return;
        }
      }
    }
  }
}

template <class S>
void ConjugateGradient<S>::capture_run(const LinearOperator<S>& matrix, const FieldView<S>& x,
                                       const FieldView<S>& r, device::LoopState* state,
                                       const Stream& capturing) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    loop_over(matrix)->capture_run({x, r, p_, q_, this->preconditioner_ ? z_ : r}, state,
                                   capturing);
  }
}

template <class S>
void ConjugateGradient<S>::iterate(detail::SolveControl<S>& control) {
  if (loop() != "stepped") return iterate_on_gpu(control);
  using sum = sum_t<S>;
  const Stream& stream = this->stream_;
  Reduction<S>& reduction = this->reduction_;
  const FieldView<S>& r = control.r();
  sum squared_norm = control.squared_norm();

  for (bool restarted = true; !control.ended();) {
    sum r_z = 0;  // Re <r, z>
    if (restarted) {
      const FieldView<const S> z = this->precondition(r, z_);
      r_z = real_dot<S>(r, z, reduction, stream);
      copy<S>(z, p_, stream);
      squared_norm = control.squared_norm();
    }
    for (restarted = false; !restarted;) {
      if (!(r_z > 0)) {
        control.end(std::isfinite(r_z) ? Status::indefinite : Status::not_finite,
                    "r* M^-1 r is not positive: the preconditioner is not positive definite");
        return;
      }
      const sum p_q = this->iterated().apply_dot(p_, q_, reduction, stream);
      if (!(p_q > 0)) {
        if (!std::isfinite(p_q)) {
          control.end(Status::not_finite, "p* A p is not finite");
          return;
        }
        if (ends_singular(control, p_q)) return;
        restarted = true;
        continue;
      }
      const sum alpha = r_z / p_q;
      sum r_z_next;
      if (this->preconditioner_) {
        std::tie(squared_norm, r_z_next) = this->preconditioner_->update_and_apply(
            static_cast<S>(alpha), q_, r, z_, reduction, stream);
        this->project(z_);
      } else {
        squared_norm = r_z_next =
            update_residual<S>(static_cast<S>(alpha), q_, r, reduction, stream);
      }
      const sum beta = r_z_next / r_z;
      update_solution_and_direction<S>(static_cast<S>(alpha), control.x(), static_cast<S>(beta),
                                       this->preconditioner_ ? z_ : r, p_, stream);
      r_z = r_z_next;
      if (!control.advance(squared_norm, restarted)) return;
    }
  }
}

template class ConjugateGradient<float>;
template class ConjugateGradient<double>;
template class ConjugateGradient<long double>;

}  // namespace heddle
