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
  explicit BiCGStab(OperatorReference<S> matrix, SolverOptions options = {})
      : BiCGStab(std::move(matrix), std::shared_ptr<Preconditioner<S>>(), std::move(options)) {}

  /// Takes the preconditioner: one of ours, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  BiCGStab(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : BiCGStab(std::move(matrix),
                 std::shared_ptr<Preconditioner<S>>(std::make_shared<P>(std::move(preconditioner))),
                 std::move(options)) {}

  /// Null for none.
  BiCGStab(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
           SolverOptions options = {});

 private:
  void iterate(detail::SolveControl<S>& control) override;
  template <Ring R>
  void iterate_in(detail::SolveControl<S>& control);
  void iterate_on_gpu(detail::SolveControl<S>& control);
  std::shared_ptr<cuda::BiCGStabLoop<S>> make_loop(const LinearOperator<S>& matrix);
  void remake_loop() override;
  /// Where the loop over `matrix`, or its iterated form, is kept.
  std::shared_ptr<cuda::BiCGStabLoop<S>>& loop_over(const LinearOperator<S>& matrix);
  typename KrylovSolver<S>::Cost cost() const override;
  std::string_view loop() const override;
  void prepare_run(const LinearOperator<S>& matrix) override;
  void capture_run(const LinearOperator<S>& matrix, const FieldView<S>& x, const FieldView<S>& r,
                   device::LoopState* state, const Stream& capturing) override;

  Ring ring_;
  FieldView<S> shadow_;  // r^
  FieldView<S> p_;
  FieldView<S> v_;  // A M^-1 p
  FieldView<S> t_;  // A M^-1 s
  FieldView<S> p_hat_;
  FieldView<S> s_hat_;
  /// Where one runs on a GPU; where iterations read a copy of the matrix also the one for enqueued
  /// solves that the copy fails.
  std::shared_ptr<cuda::BiCGStabLoop<S>> loop_, loop_on_matrix_;
};

template <class M>
BiCGStab(M&&) -> BiCGStab<operator_scalar_t<M>>;
template <class M>
BiCGStab(M&&, SolverOptions) -> BiCGStab<operator_scalar_t<M>>;
template <class M, class P>
BiCGStab(M&&, P&&, SolverOptions = {}) -> BiCGStab<operator_scalar_t<M>>;

extern template class BiCGStab<float>;
extern template class BiCGStab<double>;
extern template class BiCGStab<long double>;

}  // namespace heddle
