// How an operator whose entries lie in no sliced matrix of its own has a multigrid set up.
#pragma once

#include <functional>
#include <memory>

#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

struct MultigridChoice;
struct MultigridReport;

namespace detail {

template <class S>
struct MadeMultigrid {
  std::shared_ptr<Preconditioner<S>> preconditioner;
  std::function<MultigridReport()> report;  // empty once that is gone
};

/// A base of operators, beside `LinearOperator`.
template <class S>
class HEDDLE_EXPORT MultigridMaker {
 public:
  virtual ~MultigridMaker() = default;

  /// `degree`: of the smoother. Candidates and points of the choice are those of the rows of all
  /// ranks. Throws `Error` as `Multigrid` does, and as its class says.
  virtual MadeMultigrid<S> make_multigrid(int degree, const MultigridChoice& choice) const = 0;

 protected:
  MultigridMaker() = default;
  MultigridMaker(const MultigridMaker&) = default;
  MultigridMaker& operator=(const MultigridMaker&) = default;
};

}  // namespace detail

}  // namespace heddle
