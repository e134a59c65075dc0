// One separate solve, with all the results that tests compare bit for bit.
#pragma once

#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"

namespace heddle::test {

struct Outcome {
  Report report;
  std::vector<double> history;
  std::vector<double> x;
};

/// Solves A x = b from x = 0 under a plan, with a solver made for that plan.
template <template <class> class Method, class E>
Outcome solve(const CsrMatrix<E>& matrix, const Field<E>& b, const std::string& plan, bool jacobi,
              const Device& device, SolverOptions options = {}) {
  using S = vector_scalar_t<E>;
  options.record_history = true;
  const Operator<E> A(matrix, parse_plan(plan), device);
  Method<S> solver = jacobi ? Method<S>(A, Jacobi<E>(A), options) : Method<S>(A, options);
  Field<E> x(matrix.rows());
  const Report report = solver.solve(b.view(), x.view());
  return {report, solver.history(), {x.scalars().begin(), x.scalars().end()}};
}

}  // namespace heddle::test
