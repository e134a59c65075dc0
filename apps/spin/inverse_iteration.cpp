#include "inverse_iteration.hpp"

#include <cmath>
#include <utility>

#include "heddle/vector_operations.hpp"

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

/// Of the angle between two vectors of norm 1, without the digits that 1 - cos^2 would lose: the
/// norm of what is left of y when its part along x is taken off.
double sine(const QuaternionField& x, const std::vector<double>& mass, const QuaternionField& y) {
  const Quaternion cosine = inner(x, mass, y);
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const Quaternion rest = add(y[i], times(-1, product(x[i], cosine)));
    sum += mass[static_cast<std::size_t>(i)] * squared_norm(rest);
  }
  return std::sqrt(sum);
}

void scale(QuaternionField& x, double factor) { axpby(factor, x, 0.0, x); }

double norm(const QuaternionField& x) {
  double sum = 0;
  for (const double value : x.scalars()) sum += value * value;
  return std::sqrt(sum);
}

/// Whatever the solver measures by, the report is relative to b.
Report relative_to(double size_of_b, Report report) {
  report.residual = size_of_b > 0 ? report.residual_norm / size_of_b : 0;
  report.baseline_norm = size_of_b;
  return report;
}

}  // namespace

Eigenvector eigenvector_by_inverse_iteration(KrylovSolver<double>& solver, double shift,
                                             const std::vector<double>& mass,
                                             double first_eigenvalue,
                                             const InverseIterationOptions& options) {
  const auto rows = static_cast<Index>(mass.size());
  QuaternionField x(rows), b(rows), next(rows);
  for (Index i = 0; i < rows; ++i) x.set(i, {{1, 0, 0, 0}});
  scale(x, 1 / std::sqrt(inner(x, mass, x).w()));

  const SolverOptions given = solver.options();
  Eigenvector result;
  double eigenvalue = first_eigenvalue;
  for (int step = 0; step < options.max_steps && !result.converged; ++step) {
    for (Index i = 0; i < rows; ++i) b.set(i, times(mass[static_cast<std::size_t>(i)], x[i]));
    // An eigenvector's image is itself over the eigenvalue.
    const bool has_guess = options.warm_start && eigenvalue + shift > 0;
    axpby(has_guess ? 1 / (eigenvalue + shift) : 0.0, x, 0.0, next);
    const double size_of_b = norm(b);
    if (has_guess) {
      // What such a guess leaves is the eigen-residual, and a solve that takes it to a fixed part
      // turns the vector by as much as an exact one, but for that part (Golub, Ye 2000).
      constexpr double part = 0.1;
      SolverOptions enough = given;
      enough.baseline = Baseline::initial_residual;
      enough.tolerance = part;
      enough.absolute_tolerance = given.tolerance * size_of_b;
      solver.set_options(enough);
    } else {
      solver.set_options(given);
    }
    EigenvectorStep done;
    done.solve = relative_to(size_of_b, solver.solve(b, next));
    done.products = done.solve.iterations + 1;  // and the residual of the guess
    if (!done.solve.converged()) {
      result.steps.push_back(done);
      break;
    }
    // <next, (A + shift M) next> = <next, M x>.
    const Quaternion cosine = inner(x, mass, next);
    const double squared_size = inner(next, mass, next).w();
    eigenvalue = cosine.w() / squared_size - shift;
    done.eigenvalue = eigenvalue;
    scale(next, 1 / std::sqrt(squared_size));
    done.angle = sine(x, mass, next);
    std::swap(x, next);
    result.steps.push_back(done);
    result.converged = done.angle <= options.angle;
  }
  solver.set_options(given);
  for (Index i = 0; i < rows; ++i) result.vector.push_back(x[i]);
  return result;
}

}  // namespace heddle::spin
