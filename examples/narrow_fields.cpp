// Conjugate gradient with every field in floats and the matrix in 16 bits, down to the residual
// that doubles reach. When floats make no further progress, the solver over doubles continues.
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "heddle/refined_solver.hpp"

using E = heddle::quaternion<double>;
using F = heddle::quaternion<float>;

heddle::CsrMatrix<F> in_floats(const heddle::CsrMatrix<E>& matrix) {
  heddle::Array<float> values(matrix.values().size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(matrix.values()[i]);
  return {matrix.rows(), matrix.columns(), heddle::Array<heddle::Offset>(matrix.offsets().span()),
          heddle::Array<heddle::Index>(matrix.column().span()), std::move(values)};
}

int main(int count, char** arguments) {
  const auto matrix = heddle::dirac(count > 1 ? std::stoi(arguments[1]) : 2562);
  const heddle::Operator<E> A(matrix, heddle::Plan{});
  const heddle::Operator<F> narrow_A(in_floats(matrix),
                                     heddle::parse_plan("CSR,iteration-precision=scaled"));
  heddle::RefinedSolver solver(
      narrow_A, heddle::Jacobi(narrow_A),
      std::make_shared<heddle::ConjugateGradient<double>>(A, heddle::Jacobi(A)));
  heddle::Field<E> b(A.rows()), x(A.rows());
  for (heddle::Index i = 0; i < b.size(); ++i) b.set(i, {{1, 0, 0, 0}});
  const heddle::Report report = solver.solve(b, x);
  std::cout << report << "\n";
  return report.converged() ? 0 : 1;
}
