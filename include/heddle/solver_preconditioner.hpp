// A solver as a preconditioner: inner iterations in every outer one.
#pragma once

#include <memory>

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

/// M^-1 r is x of a solve A x = r from x = 0, however that ends: the solver's options say how many
/// iterations it takes, and how exact they have to be. It is another map for every r, so that only
/// flexible methods take it (heddle/fgmres.hpp). Any method may be the inner one, over the outer
/// one's operator or another of its shape and basis, such as a matrix that is easier to solve. On a
/// GPU the host drives both.
template <class S>
class HEDDLE_EXPORT SolverPreconditioner final : public Preconditioner<S> {
 public:
  /// The solver is used by nobody else while this object is. Throws `Error` (usage) for null.
  explicit SolverPreconditioner(std::shared_ptr<KrylovSolver<S>> solver);

  std::optional<FieldShape> shape() const override;
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
  bool is_constant() const override { return false; }
  bool is_hermitian() const override { return false; }
  bool is_symmetric() const override { return false; }
  /// Of all iterations that the solver's options allow.
  long long bytes_of_application() const override;

 private:
  std::shared_ptr<KrylovSolver<S>> solver_;
};

extern template class SolverPreconditioner<float>;
extern template class SolverPreconditioner<double>;
extern template class SolverPreconditioner<long double>;

}  // namespace heddle
