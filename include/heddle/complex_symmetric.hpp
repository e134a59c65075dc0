// COCG and COCR for complex symmetric systems: Helmholtz with absorbing boundaries, eddy currents.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// Conjugate gradient over bilinear products, with one product by the matrix per iteration. Refuses
/// quaternions, a matrix whose a_ij is not the transpose of a_ji, unconjugated (`not_symmetric`,
/// found by two products), and preconditioners that are not symmetric in that sense. Quasi-null
/// vectors, r^T r = 0 with nonzero r, end it as a breakdown. Real symmetric systems may be
/// indefinite.
template <class S>
class HEDDLE_EXPORT Cocg final : public KrylovSolver<S> {
 public:
  explicit Cocg(OperatorReference<S> matrix, SolverOptions options = {})
      : Cocg(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Cocg(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Cocg(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
             std::move(options)) {}

  /// Null for none.
  Cocg(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
       SolverOptions options = {});
};

template <class M>
Cocg(M&&) -> Cocg<operator_scalar_t<M>>;
template <class M>
Cocg(M&&, SolverOptions) -> Cocg<operator_scalar_t<M>>;
template <class M, class P>
Cocg(M&&, P&&, SolverOptions = {}) -> Cocg<operator_scalar_t<M>>;

extern template class Cocg<float>;
extern template class Cocg<double>;
extern template class Cocg<long double>;

/// The same for conjugate residuals, which converge more smoothly than COCG for one more vector.
template <class S>
class HEDDLE_EXPORT Cocr final : public KrylovSolver<S> {
 public:
  explicit Cocr(OperatorReference<S> matrix, SolverOptions options = {})
      : Cocr(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Cocr(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Cocr(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
             std::move(options)) {}

  /// Null for none.
  Cocr(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
       SolverOptions options = {});
};

template <class M>
Cocr(M&&) -> Cocr<operator_scalar_t<M>>;
template <class M>
Cocr(M&&, SolverOptions) -> Cocr<operator_scalar_t<M>>;
template <class M, class P>
Cocr(M&&, P&&, SolverOptions = {}) -> Cocr<operator_scalar_t<M>>;

extern template class Cocr<float>;
extern template class Cocr<double>;
extern template class Cocr<long double>;

}  // namespace heddle
