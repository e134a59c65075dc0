// The constructors that the solver classes share.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "heddle/detail/host_method.hpp"
#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle::detail {

/// `Solver<S>::method` gives the listing for a matrix and a preconditioner, null for none.
template <class S, template <class> class Solver>
class HEDDLE_EXPORT SolverOf : public KrylovSolver<S> {
 public:
  explicit SolverOf(OperatorReference<S> matrix, SolverOptions options = {})
      : SolverOf(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  SolverOf(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : SolverOf(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                 std::move(options)) {}

  /// Null for none.
  SolverOf(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
           SolverOptions options = {})
      : KrylovSolver<S>(matrix, preconditioner, std::move(options),
                        Solver<S>::method(*matrix, preconditioner.get())) {}
};

}  // namespace heddle::detail
