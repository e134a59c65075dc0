// BiCGStab, preconditioned from the right, for systems that are not Hermitian.
#pragma once

#include "heddle/krylov_solver.hpp"

namespace heddle {

namespace cuda {
template <class S>
class BiCGStabLoop;
}

/// Runs in the coefficients that the operator's plan asks for: real for every entry (then it equals
/// BiCGStab on the real expansion), or those of the entry's ring. In the quaternion form omega
/// stays real, since v -> v - A v omega is linear over quaternions from the right only then.
template <class S>
class BiCGStab final : public KrylovSolver<S> {
 public:
  explicit BiCGStab(const LinearOperator<S>& matrix, SolverOptions options = {})
      : BiCGStab(matrix, std::shared_ptr<Preconditioner<S>>(), std::move(options)) {}

  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  BiCGStab(const LinearOperator<S>& matrix, P preconditioner, SolverOptions options = {})
      : BiCGStab(matrix,
                 std::shared_ptr<Preconditioner<S>>(std::make_shared<P>(std::move(preconditioner))),
                 std::move(options)) {}

  BiCGStab(const LinearOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
           SolverOptions options = {});

 private:
  void iterate(detail::SolveControl<S>& control) override;
  template <Ring R>
  void iterate_in(detail::SolveControl<S>& control);
  void iterate_on_gpu(detail::SolveControl<S>& control);
  void make_loop();
  typename KrylovSolver<S>::Cost cost() const override;
  std::string_view loop() const override;
  void capture_run(const FieldView<S>& x, const FieldView<S>& r, device::LoopState* state,
                   const Stream& capturing) override;

  Ring ring_;
  FieldView<S> shadow_;  // r^
  FieldView<S> p_;
  FieldView<S> v_;  // A M^-1 p
  FieldView<S> t_;  // A M^-1 s
  FieldView<S> p_hat_;
  FieldView<S> s_hat_;
  std::shared_ptr<cuda::BiCGStabLoop<S>> loop_;  // where one runs on a GPU
};

extern template class BiCGStab<float>;
extern template class BiCGStab<double>;
extern template class BiCGStab<long double>;

}  // namespace heddle
