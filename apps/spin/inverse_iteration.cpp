#include "inverse_iteration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "heddle/earlier_solutions.hpp"
#include "heddle/vector_operations.hpp"
#include "parallel_sums.hpp"

namespace heddle::spin {

namespace {

using QuaternionField = Field<Quaternion>;

/// sum of conj(x_i) m_i y_i.
Quaternion inner(QuaternionField& of_x, const std::vector<double>& mass, QuaternionField& of_y) {
  const QuaternionsOf x(of_x.view()), y(of_y.view());
  const auto sum = parallel_sums<4>(mass.size(), [&](std::size_t i, std::array<double, 4>& sums) {
    const auto at = static_cast<Index>(i);
    const Quaternion term = product(adjoint(x[at]), times(mass[i], y[at]));
    for (std::size_t k = 0; k < 4; ++k) sums[k] += term.component[k];
  });
  return {{sum[0], sum[1], sum[2], sum[3]}};
}

/// Sine of the angle between two vectors of norm 1, without the loss of digits in 1 - cos^2: the
/// norm of y after its part along x is removed.
double sine(QuaternionField& of_x, const std::vector<double>& mass, QuaternionField& of_y) {
  const Quaternion cosine = inner(of_x, mass, of_y);
  const QuaternionsOf x(of_x.view()), y(of_y.view());
  const auto [sum] = parallel_sums<1>(mass.size(), [&](std::size_t i, std::array<double, 1>& sums) {
    const auto at = static_cast<Index>(i);
    sums[0] += mass[i] * squared_norm(add(y[at], times(-1, product(x[at], cosine))));
  });
  return std::sqrt(sum);
}

void scale(QuaternionField& x, double factor) { axpby(factor, x, 0.0, x); }

/// Whatever the solver's baseline, the report becomes relative to b.
Report relative_to(double size_of_b, Report report) {
  report.residual = size_of_b > 0 ? report.residual_norm / size_of_b : 0;
  report.baseline_norm = size_of_b;
  return report;
}

/// Guesses from the solutions of earlier steps, for fields in the host's order.
class Guesses {
 public:
  Guesses(const Operator<Quaternion>& matrix, long long most)
      : matrix_(matrix), b_(matrix.field()), x_(matrix.field()) {
    if (most > 0) earlier_.emplace(matrix, static_cast<std::size_t>(most));
  }

  /// Returns none if there is nothing to improve x with.
  std::optional<EarlierGuess> improve(const QuaternionField& b, QuaternionField& x) {
    if (!earlier_ || earlier_->size() == 0) return std::nullopt;
    const Stream& stream = x_.stream();
    permute<double>(b.view(), b_.view(), 1, stream);
    permute<double>(x.view(), x_.view(), 1, stream);
    const EarlierGuess guess = earlier_->guess(b_.view(), x_.view());
    permute<double>(x_.view(), x.view(), 1, stream);
    matrix_.device().synchronize();
    return guess;
  }
  void keep(const QuaternionField& x) {
    if (!earlier_) return;
    permute<double>(x.view(), x_.view(), 1, x_.stream());
    earlier_->keep(x_.view());
  }

 private:
  const Operator<Quaternion>& matrix_;
  std::optional<EarlierSolutions<double>> earlier_;
  QuaternionField b_, x_;
};

}  // namespace

Eigenvector eigenvector_by_inverse_iteration(const Operator<Quaternion>& matrix,
                                             KrylovSolver<double>& solver, double shift,
                                             const std::vector<double>& mass,
                                             double first_eigenvalue,
                                             const InverseIterationOptions& options) {
  const auto rows = static_cast<Index>(mass.size());
  QuaternionField x(rows), b(rows), next(rows);
  for (Index i = 0; i < rows; ++i) x.set(i, {{1, 0, 0, 0}});
  scale(x, 1 / std::sqrt(inner(x, mass, x).w()));

  const SolverOptions given = solver.options();
  Eigenvector result;
  result.guesses.most = options.warm_start ? options.earlier_solutions : 0;
  Guesses guesses(matrix, result.guesses.most);
  double eigenvalue = first_eigenvalue;
  for (int step = 0; step < options.max_steps && !result.converged; ++step) {
    const QuaternionsOf now(x.view()), weighted(b.view());
    parallel_for(default_threads(), rows, [&](Index i) {
      weighted.set(i, times(mass[static_cast<std::size_t>(i)], now[i]));
    });
    // The solution for an eigenvector is the vector itself over the eigenvalue.
    const bool has_guess = options.warm_start && eigenvalue + shift > 0;
    axpby(has_guess ? 1 / (eigenvalue + shift) : 0.0, x, 0.0, next);
    const double size_of_b = norm(b);
    std::optional<EarlierGuess> guess;
    if (has_guess) {
      // The residual of such a guess is the eigen-residual. Reducing it to a fixed fraction rotates
      // the vector as much as an exact solve does, except for that fraction (Golub, Ye 2000).
      constexpr double part = 0.1;
      SolverOptions enough = given;
      guess = guesses.improve(b, next);
      if (guess) {
        enough.tolerance = std::max(given.tolerance, part * guess->residual_before);
      } else {
        enough.baseline = Baseline::initial_residual;
        enough.tolerance = part;
        enough.absolute_tolerance = given.tolerance * size_of_b;
      }
      solver.set_options(enough);
    } else {
      solver.set_options(given);
    }
    EigenvectorStep done;
    done.solve = relative_to(size_of_b, solver.solve(b, next));
    done.products = done.solve.iterations + 1;  // plus the residual of the guess
    if (guess) {
      done.products += 3;
      result.guesses.add(*guess);
    }
    if (!done.solve.converged()) {
      result.steps.push_back(done);
      break;
    }
    guesses.keep(next);
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
