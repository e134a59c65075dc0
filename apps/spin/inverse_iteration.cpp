#include "inverse_iteration.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"

namespace heddle::spin {

namespace {

using QuaternionField = Field<Quaternion>;

/// sum of conj(x_i) m_i y_i.
Quaternion inner(const QuaternionField& x, const std::vector<double>& mass,
                 const QuaternionField& y) {
  Quaternion sum = Quaternion::zero();
  for (Index i = 0; i < x.size(); ++i) {
    multiply_add(sum, adjoint(x[i]), times(mass[static_cast<std::size_t>(i)], y[i]));
  }
  return sum;
}

void scale(QuaternionField& x, double factor) { axpby(factor, x, 0.0, x); }

}  // namespace

InverseIteration smallest_eigenvector(
    const Operator<Quaternion>& shifted, double shift, const std::vector<double>& mass,
    double first_eigenvalue, const InverseIterationOptions& options,
    const std::function<bool(int step, const SolveProgress&)>& observer) {
  const Index rows = shifted.rows();
  int step = 0;
  SolverOptions solver_options = options.solver;
  if (observer) {
    solver_options.observer = [&](const SolveProgress& now) { return observer(step, now); };
  }
  ConjugateGradient<double> solver(shifted, Jacobi<Quaternion>(shifted), solver_options);

  QuaternionField x(rows), b(rows), next(rows);
  for (Index i = 0; i < rows; ++i) x.set(i, {{1, 0, 0, 0}});
  scale(x, 1 / std::sqrt(inner(x, mass, x).w()));

  InverseIteration result;
  double eigenvalue = first_eigenvalue;
  while (step < options.max_steps && !result.converged) {
    ++step;
    for (Index i = 0; i < rows; ++i) b.set(i, times(mass[static_cast<std::size_t>(i)], x[i]));
    // An eigenvector's image is itself over the eigenvalue.
    const bool has_guess = options.warm_start && eigenvalue + shift > 0;
    axpby(has_guess ? 1 / (eigenvalue + shift) : 0.0, x, 0.0, next);
    InverseStep done;
    done.solve = solver.solve(b, next);
    if (!done.solve.converged()) {
      result.steps.push_back(done);
      break;
    }
    // <next, (A + shift M) next> = <next, M x>.
    const Quaternion cosine = inner(x, mass, next);
    const double squared_size = inner(next, mass, next).w();
    eigenvalue = cosine.w() / squared_size - shift;
    done.eigenvalue = eigenvalue;
    done.angle = std::sqrt(std::max(0.0, 1 - squared_norm(cosine) / squared_size));
    std::swap(x, next);
    scale(x, 1 / std::sqrt(squared_size));
    result.steps.push_back(done);
    result.converged = done.angle <= options.angle;
  }
  for (Index i = 0; i < rows; ++i) result.vector.push_back(x[i]);
  return result;
}

}  // namespace heddle::spin
