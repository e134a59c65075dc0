#include <iostream>

#include "heddle/heddle.hpp"

int main(int count, char** arguments) try {
  using E = heddle::quaternion<double>;
  auto matrix = heddle::read_matrix<E>(count > 1 ? arguments[1] : "dirac.npz");  // CsrMatrix<E>
  auto device = heddle::Device::automatic();
  heddle::Operator<E> A(matrix, heddle::choose_plan(matrix, device), device);
  heddle::ConjugateGradient cg(A, heddle::Jacobi(A), {.tolerance = 1e-10});
  heddle::Field<E> b(matrix.rows()), x(matrix.rows());
  for (heddle::Index i = 0; i < b.size(); ++i) b.set(i, {{1, 0, 0, 0}});
  heddle::Report report = cg.solve(b, x);  // never throws for what happens while iterating
  std::cout << report << "\n";
  return report.converged() ? 0 : 1;
} catch (const heddle::Error& error) {  // such as a file that is not there
  std::cerr << error.what() << "\n";
  return 2;
}
