#include "heddle/bicgstab.hpp"

#include "bicgstab_cuda.hpp"
#include "heddle/config.hpp"
#include "loop_preconditioner.hpp"
#include "loop_workspace_cuda.hpp"
#include "solve_control.hpp"

namespace heddle {

namespace {

template <class S>
Ring ring_of_recurrence(const LinearOperator<S>& matrix) {
  return matrix.recurrence() == Recurrence::real ? Ring::real : matrix.ring();
}

template <class S>
Workspace workspace(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner) {
  const int fields = preconditioner != nullptr ? 6 : 4;
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const LoopForm form = detail::form_of_loop(matrix.iterated(), preconditioner, false);
    if (form == LoopForm::stepped) return {fields};
    const Ring ring = ring_of_recurrence(matrix);
    const Workspace of_loop =
        form == LoopForm::persistent
            ? cuda::workspace_of_persistent(cuda::PersistentMethod::bicgstab, ring_size(ring),
                                            *matrix.iterated().product_on_gpu(),
                                            preconditioner != nullptr, matrix.device())
            : cuda::workspace_of_bicgstab_graph<S>(
                  *cuda::make_queued_product(matrix.iterated(), ring), ring);
    return {fields + of_loop.fields, of_loop.bytes};
  }
  return {fields};
}

}  // namespace

template <class S>
BiCGStab<S>::BiCGStab(OperatorReference<S> matrix,
                      std::shared_ptr<Preconditioner<S>> preconditioner, SolverOptions options)
    : KrylovSolver<S>(matrix, preconditioner, std::move(options), matrix->ring(),
                      workspace(*matrix, preconditioner.get())),
      ring_(ring_of_recurrence(*matrix)) {
  for (FieldView<S>* work : {&shadow_, &p_, &v_, &t_}) *work = this->make_work();
  if (this->preconditioner_) {
    p_hat_ = this->make_work();
    s_hat_ = this->make_work();
  }
  loop_ = make_loop(this->iterated());
}

template <class S>
std::shared_ptr<cuda::BiCGStabLoop<S>> BiCGStab<S>::make_loop(const LinearOperator<S>& matrix) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const LoopForm form = this->form_of_loop(matrix);
    if (form == LoopForm::stepped) return nullptr;
    auto preconditioner = this->preconditioner_of_loop();
    if (form != LoopForm::persistent) {
      return cuda::bicgstab_graph<S>(cuda::make_queued_product(matrix, ring_),
                                     std::move(preconditioner), ring_, form, this->device_);
    }
    return cuda::bicgstab_persistent<S>(*matrix.product_on_gpu(), preconditioner.diagonal, ring_,
                                        this->device_);
  }
  return nullptr;
}

template <class S>
void BiCGStab<S>::remake_loop() {
  loop_on_matrix_.reset();
  loop_.reset();  // first: not both at once
  loop_ = make_loop(this->matrix_.iterated());
}

template <class S>
std::shared_ptr<cuda::BiCGStabLoop<S>>& BiCGStab<S>::loop_over(const LinearOperator<S>& matrix) {
  return &matrix == &this->matrix_.iterated() ? loop_ : loop_on_matrix_;
}

template <class S>
void BiCGStab<S>::prepare_run(const LinearOperator<S>& matrix) {
  auto& loop = loop_over(matrix);
  if (!loop) loop = make_loop(matrix);
}

template <class S>
std::string_view BiCGStab<S>::loop() const {
  if (!loop_ || !this->may_run_on_gpu()) return "stepped";
  return name(this->form_of_loop(this->iterated()));
}

// Passes beside the products' own: <r^, v> 2; s = r - v alpha 3; <t, s>, |t|^2 2; x and r 8; p 4;
// and r, z of two preconditionings. In a graph the products form their sums: r^ 1; 3; none, with a
// preconditioner s 1; x and r 7, with a preconditioner 8; p 4. Not those of matrix-free operators.
template <class S>
typename KrylovSolver<S>::Cost BiCGStab<S>::cost() const {
  if (loop() != "stepped" && this->iterated().product_on_gpu() != nullptr)
    return {this->preconditioner_ ? 21 : 15, 2};
  return {this->preconditioner_ ? 23 : 19, 2};
}

namespace {

constexpr std::string_view lost = "the recurrence broke down: <r^, A p> or <r^, r> vanishes";
constexpr std::string_view orthogonal = "A s is orthogonal to s";

}  // namespace

template <class S>
void BiCGStab<S>::iterate_on_gpu(detail::SolveControl<S>& control) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const FieldView<S>& r = control.r();
    const bool hats = this->preconditioner_ != nullptr;
    while (!control.ended()) {
      const cuda::RunResult run =
          loop_->run({control.x(), r, shadow_, p_, v_, t_, hats ? p_hat_ : p_, hats ? s_hat_ : r},
                     control.squared_norm(), control.run_limits());
      if (!control.take_run(run)) return;
      if (run.end == device::loop_lost && !control.verify(Status::breakdown, lost)) return;
      if (run.end == device::loop_orthogonal && !control.verify(Status::breakdown, orthogonal)) {
        return;
      }
    }
  }
}

template <class S>
void BiCGStab<S>::capture_run(const LinearOperator<S>& matrix, const FieldView<S>& x,
                              const FieldView<S>& r, device::LoopState* state,
                              const Stream& capturing) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    const bool hats = this->preconditioner_ != nullptr;
    loop_over(matrix)->capture_run(
        {x, r, shadow_, p_, v_, t_, hats ? p_hat_ : p_, hats ? s_hat_ : r}, state, capturing);
  }
}

template <class S>
void BiCGStab<S>::iterate(detail::SolveControl<S>& control) {
  if (loop() != "stepped") return iterate_on_gpu(control);
  if (ring_ == Ring::real) iterate_in<Ring::real>(control);
  if (ring_ == Ring::complex) iterate_in<Ring::complex>(control);
  if (ring_ == Ring::quaternion) iterate_in<Ring::quaternion>(control);
}

namespace {

/// A coefficient in the precision of the fields.
template <class S, Ring R, class T>
Coefficient<R, S> rounded(const Coefficient<R, T>& c) {
  Coefficient<R, S> narrow;
  for (int k = 0; k < narrow.size; ++k) narrow.component[k] = static_cast<S>(c.component[k]);
  return narrow;
}

/// Not by its square, which leaves the range of T long before the coefficient does.
template <Ring R, class T>
bool is_usable(const Coefficient<R, T>& c) {
  T sum = 0;
  for (const T component : c.component) sum += std::abs(component);
  return std::isfinite(sum) && sum > 0;
}

}  // namespace

template <class S>
template <Ring R>
void BiCGStab<S>::iterate_in(detail::SolveControl<S>& control) {
  using sum = sum_t<S>;
  using Number = Coefficient<R, sum>;
  const Stream& stream = this->stream_;
  Reduction<S>& reduction = this->reduction_;
  const FieldView<S>& r = control.r();

  for (bool restarted = true; !control.ended();) {
    copy<S>(r, shadow_, stream);
    copy<S>(r, p_, stream);
    Number rho = Number::from_real(control.squared_norm());
    for (restarted = false; !restarted;) {
      const FieldView<const S> p_hat = this->precondition(p_, p_hat_);
      this->iterated().apply(S(1), p_hat, S(0), v_, stream);
      const Number sigma = dot<R, S>(shadow_, v_, reduction, stream);
      if (!is_usable(sigma) || !is_usable(rho)) {
        if (!control.verify(Status::breakdown, lost)) return;
        break;
      }
      const Number alpha = inverse(sigma) * rho;
      const auto alpha_s = rounded<S>(alpha);
      const sum squared_s = half_step<R, S>(v_, alpha_s, r, reduction, stream);
      if (control.reached(squared_s)) {
        // s is small enough: the second half would divide 0 by 0 (identity, diagonal systems).
        axpby<S, R>(alpha_s, p_hat, Coefficient<R, S>::from_real(S(1)), control.x(), stream);
        if (!control.advance(squared_s, restarted)) return;
        continue;
      }
      const FieldView<const S> s_hat = this->precondition(r, s_hat_);
      this->iterated().apply(S(1), s_hat, S(0), t_, stream);
      const auto [t_s, t_t] = dot_and_norm<R, S>(t_, r, reduction, stream);
      Number omega = Number::from_real(t_s.real() / t_t);
      if constexpr (R == Ring::complex) {
        for (int k = 0; k < Number::size; ++k) omega.component[k] = t_s.component[k] / t_t;
      }
      if (!is_usable(omega)) {
        // Without the second half x gains p_hat alpha, and the method begins again from there.
        axpby<S, R>(alpha_s, p_hat, Coefficient<R, S>::from_real(S(1)), control.x(), stream);
        if (!control.advance(squared_s, restarted)) return;
        if (!restarted && !control.verify(Status::breakdown, orthogonal)) return;
        break;
      }
      const auto [squared_norm, rho_next] = full_step<R, S>(
          p_hat, alpha_s, s_hat, rounded<S>(omega), t_, shadow_, control.x(), r, reduction, stream);
      if (!control.advance(squared_norm, restarted)) return;
      if (restarted) break;
      const Number beta = inverse(sigma) * rho_next * inverse(omega);
      update_direction<R, S>(r, v_, rounded<S>(omega), rounded<S>(beta), p_, stream);
      rho = rho_next;
    }
  }
}

template class BiCGStab<float>;
template class BiCGStab<double>;
template class BiCGStab<long double>;

}  // namespace heddle
