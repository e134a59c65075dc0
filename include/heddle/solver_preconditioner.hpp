// A solver as a preconditioner: inner iterations in every outer one.
#pragma once

#include <memory>

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

/// M^-1 r is x of a solve A x = r from x = 0, or r itself if that does not reduce the residual:
/// conjugate gradient may need some iterations to do so; conjugate residual, MINRES and GMRES do at
/// once. The solver's options give the number of its iterations and their required accuracy. Time
/// limit and observer of the outer solve also end it after an iteration: on a GPU in a loop that is
/// `stepped`, in other loops within some 20 ms. It is a different map for every r, so that only
/// flexible methods take it (heddle/fgmres.hpp). Any method may be the inner one, over the outer
/// one's operator or another of its shape and basis, such as a matrix that is easier to solve. On a
/// GPU the host drives both.
template <class S>
class HEDDLE_EXPORT SolverPreconditioner final : public Preconditioner<S> {
 public:
  /// The solver must not be used elsewhere while this object is in use. Throws `Error` (usage) for
  /// null.
  explicit SolverPreconditioner(std::shared_ptr<KrylovSolver<S>> solver);

  std::optional<FieldShape> shape() const override;
  /// Throws `Error` (unsupported) if the solver refuses its matrix.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
  void set_watch(const InnerWatch* watch) override;
  bool is_constant() const override { return false; }
  bool is_hermitian() const override { return false; }
  bool is_symmetric() const override { return false; }
  /// Bytes for the average number of iterations so far; 0 before the first application.
  long long bytes_of_application() const override;

 private:
  std::shared_ptr<KrylovSolver<S>> solver_;
  mutable long long applications_ = 0, iterations_ = 0;  // so far
};

extern template class SolverPreconditioner<float>;
extern template class SolverPreconditioner<double>;
extern template class SolverPreconditioner<long double>;

}  // namespace heddle
