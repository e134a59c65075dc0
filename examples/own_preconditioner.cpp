// A user-defined preconditioner: a symmetric Gauss-Seidel sweep, which works in the order and the
// basis in which the matrix was assembled.
#include <iostream>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"

using E = heddle::real<double>;

/// z = (D + U)^-1 D (D + L)^-1 r.
class GaussSeidel final : public heddle::Preconditioner<double> {
 public:
  /// Keeps a reference to the matrix, whose columns are sorted.
  explicit GaussSeidel(const heddle::CsrMatrix<E>& matrix)
      : matrix_(&matrix), diagonal_(static_cast<std::size_t>(matrix.rows())) {
    refresh();
  }

  /// Called at the start of every solve.
  void refresh() override {
    for (heddle::Index row = 0; row < matrix_->rows(); ++row) {
      visit(row, [&](heddle::Index column, double value) {
        if (column == row) diagonal_[row] = value;
      });
    }
  }

  void apply(const heddle::FieldView<const double>& r, const heddle::FieldView<double>& z,
             const heddle::Stream&) const override {
    const heddle::Index n = matrix_->rows();
    for (heddle::Index row = 0; row < n; ++row) {
      double sum = r.at(row, 0);
      visit(row, [&](heddle::Index column, double value) {
        if (column < row) sum -= value * z.at(column, 0);
      });
      z.at(row, 0) = sum / diagonal_[row];
    }
    for (heddle::Index row = n - 1; row >= 0; --row) {
      double sum = 0;
      visit(row, [&](heddle::Index column, double value) {
        if (column > row) sum += value * z.at(column, 0);
      });
      z.at(row, 0) -= sum / diagonal_[row];
    }
  }

 private:
  template <class Visit>
  void visit(heddle::Index row, const Visit& visit) const {
    for (heddle::Offset i = matrix_->offsets()[row]; i < matrix_->offsets()[row + 1]; ++i) {
      visit(matrix_->column()[i], matrix_->values()[i]);
    }
  }

  const heddle::CsrMatrix<E>* matrix_;
  std::vector<double> diagonal_;
};

int main() {
  const auto matrix = heddle::poisson(3000);
  // CSR does not reorder rows, so that fields come in the user's order.
  heddle::Operator<E> A(matrix, heddle::parse_plan("CSR"));
  std::vector<double> b(static_cast<std::size_t>(matrix.rows()), 1.0), x(b.size()), same(b.size());
  heddle::ConjugateGradient by_diagonal(A, heddle::Jacobi(A));
  heddle::ConjugateGradient by_sweeps(A, GaussSeidel(matrix));
  const heddle::Report first = by_diagonal.solve(b, x), second = by_sweeps.solve(b, same);
  std::cout << "Jacobi: " << first << "\nGauss-Seidel: " << second << "\n";
  return first.converged() && second.converged() && second.iterations < first.iterations ? 0 : 1;
}
