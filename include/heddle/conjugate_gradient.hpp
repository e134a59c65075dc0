// The preconditioned conjugate gradient method for Hermitian positive definite systems.
#pragma once

#include "heddle/krylov_solver.hpp"

namespace heddle {

namespace cuda {
template <class S>
class ConjugateGradientLoop;
}

/// Its coefficients are real for every entry. Refuses operators whose entries have no adjoint.
template <class S>
class ConjugateGradient final : public KrylovSolver<S> {
 public:
  explicit ConjugateGradient(OperatorReference<S> matrix, SolverOptions options = {})
      : ConjugateGradient(std::move(matrix), std::shared_ptr<Preconditioner<S>>(),
                          std::move(options)) {}

  /// Takes the preconditioner: one of ours, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  ConjugateGradient(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : ConjugateGradient(
            std::move(matrix),
            std::shared_ptr<Preconditioner<S>>(std::make_shared<P>(std::move(preconditioner))),
            std::move(options)) {}

  /// Null for none.
  ConjugateGradient(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
                    SolverOptions options = {});

 private:
  void iterate(detail::SolveControl<S>& control) override;
  void iterate_on_gpu(detail::SolveControl<S>& control);
  std::shared_ptr<cuda::ConjugateGradientLoop<S>> make_loop(const LinearOperator<S>& matrix);
  void remake_loop() override;
  /// Where the loop over `matrix`, or its iterated form, is kept.
  std::shared_ptr<cuda::ConjugateGradientLoop<S>>& loop_over(const LinearOperator<S>& matrix);
  bool ends_singular(detail::SolveControl<S>& control, sum_t<S> p_q);
  typename KrylovSolver<S>::Cost cost() const override;
  std::string_view loop() const override;
  void prepare_run(const LinearOperator<S>& matrix) override;
  void capture_run(const LinearOperator<S>& matrix, const FieldView<S>& x, const FieldView<S>& r,
                   device::LoopState* state, const Stream& capturing) override;
  bool needs_positive_matrix() const override { return true; }

  FieldView<S> z_;  // preconditioned residual
  FieldView<S> p_;  // direction
  FieldView<S> q_;  // its image
  /// The plan's, where one runs on a GPU; where iterations read a copy of the matrix also the one
  /// for enqueued solves that the copy fails.
  std::shared_ptr<cuda::ConjugateGradientLoop<S>> loop_, loop_on_matrix_;
};

template <class M>
ConjugateGradient(M&&) -> ConjugateGradient<operator_scalar_t<M>>;
template <class M>
ConjugateGradient(M&&, SolverOptions) -> ConjugateGradient<operator_scalar_t<M>>;
template <class M, class P>
ConjugateGradient(M&&, P&&, SolverOptions = {}) -> ConjugateGradient<operator_scalar_t<M>>;

extern template class ConjugateGradient<float>;
extern template class ConjugateGradient<double>;
extern template class ConjugateGradient<long double>;

}  // namespace heddle
