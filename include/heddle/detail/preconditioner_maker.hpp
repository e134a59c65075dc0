// Sets up preconditioners for an operator whose entries lie in no sliced matrix of its own.
#pragma once

#include <functional>
#include <memory>

#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

struct MultigridChoice;
struct MultigridReport;
struct PreconditionerChoice;

namespace detail {

template <class S>
struct MadeMultigrid {
  std::shared_ptr<Preconditioner<S>> preconditioner;
  std::function<MultigridReport()> report;  // empty once the preconditioner is gone
};

/// A base of operators, next to `LinearOperator`.
template <class S>
class HEDDLE_EXPORT PreconditionerMaker {
 public:
  virtual ~PreconditionerMaker() = default;

  /// Throws `Error` (singular, unsupported) as its class says.
  virtual std::shared_ptr<Preconditioner<S>> jacobi() const = 0;
  /// `degree`: that of the smoother. Candidates and points of the choice are those of the rows of
  /// all ranks. Throws `Error` like `Multigrid`, and as its class says.
  virtual MadeMultigrid<S> make_multigrid(int degree, const MultigridChoice& choice) const = 0;
  /// Block Jacobi, FSAI or ISAI. Throws `Error` like their classes; usage for another kind.
  virtual std::shared_ptr<Preconditioner<S>> make_inverse(
      const PreconditionerChoice& choice) const = 0;

 protected:
  PreconditionerMaker() = default;
  PreconditionerMaker(const PreconditionerMaker&) = default;
  PreconditionerMaker& operator=(const PreconditionerMaker&) = default;
};

}  // namespace detail

}  // namespace heddle
