// Work that a program does repeatedly with an operator, on its own arrays, so that it can be
// measured.
#pragma once

#include <memory>

#include "heddle/export.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle {

class HEDDLE_EXPORT OperatorWork {
 public:
  virtual ~OperatorWork() = default;
  virtual void run(const Stream& stream) = 0;
};

/// y = A x in the operator's basis and layout: the product that a solver runs.
class HEDDLE_EXPORT ProductWork : public OperatorWork {
 public:
  /// y of the last run, in the user's order; waits for it.
  virtual void take(AnyField& y) const = 0;
};
/// `x` is in the user's order.
HEDDLE_EXPORT std::unique_ptr<ProductWork> product_work(const AnyOperator& matrix,
                                                        const AnyField& x);

/// `update_values`: writes the values of `matrix`, which the operator was made from, to their
/// places once more, from an array on its device.
HEDDLE_EXPORT std::unique_ptr<OperatorWork> value_update_work(const AnyOperator& built,
                                                              const AnyMatrix& matrix);
/// Bytes that it moves: values read and written, and the map to their places.
HEDDLE_EXPORT long long bytes_of_value_update(const AnyOperator& matrix);

/// Solves of A x = b from x = 0 with fields in the operator's basis, layout and memory, where no
/// solve has to transfer them: a few iterations show the cost of one.
class HEDDLE_EXPORT IterationWork {
 public:
  virtual ~IterationWork() = default;
  /// Runs at most `iterations` iterations, whatever the solver's options say.
  virtual Report run(long long iterations) = 0;
  /// x of the last run, in the user's order.
  virtual void take(AnyField& x) const = 0;
};
/// `b` is in the user's order. Throws like the solver's constructor.
HEDDLE_EXPORT std::unique_ptr<IterationWork> iteration_work(const AnyLinearOperator& matrix,
                                                            const MethodInfo& method,
                                                            const ComposedChoice& preconditioner,
                                                            const SolverOptions& options,
                                                            const AnyField& b);

}  // namespace heddle
