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

}  // namespace

InverseIteration smallest_eigenvector(KrylovSolver<double>& solver, double shift,
                                      const std::vector<double>& mass, double first_eigenvalue,
                                      const InverseIterationOptions& options) {
  const auto rows = static_cast<Index>(mass.size());
  QuaternionField x(rows), b(rows), next(rows);
  for (Index i = 0; i < rows; ++i) x.set(i, {{1, 0, 0, 0}});
  scale(x, 1 / std::sqrt(inner(x, mass, x).w()));

  InverseIteration result;
  double eigenvalue = first_eigenvalue;
  for (int step = 0; step < options.max_steps && !result.converged; ++step) {
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
    scale(next, 1 / std::sqrt(squared_size));
    done.angle = sine(x, mass, next);
    std::swap(x, next);
    result.steps.push_back(done);
    result.converged = done.angle <= options.angle;
  }
  for (Index i = 0; i < rows; ++i) result.vector.push_back(x[i]);
  return result;
}

}  // namespace heddle::spin
