// An operator without a matrix: a class that writes `rows` and `apply`.
#include <iostream>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/linear_operator.hpp"

/// -u'' + u on a line of n points.
class Line final : public heddle::LinearOperator<double> {
 public:
  explicit Line(heddle::Index n) : n_(n) {}

  heddle::Index rows() const override { return n_; }

  void apply(double alpha, const heddle::FieldView<const double>& x, double beta,
             const heddle::FieldView<double>& y, const heddle::Stream&) const override {
    for (heddle::Index i = 0; i < n_; ++i) {
      const double left = i > 0 ? x.at(i - 1, 0) : 0, right = i + 1 < n_ ? x.at(i + 1, 0) : 0;
      const double image = 3 * x.at(i, 0) - left - right;
      // y is not read when beta is 0: it may hold anything then.
      y.at(i, 0) = alpha * image + (beta == 0 ? 0 : beta * y.at(i, 0));
    }
  }

 private:
  heddle::Index n_;
};

int main() {
  const Line A(1000);
  heddle::ConjugateGradient cg(A);  // keeps a reference: A outlives it
  std::vector<double> b(1000, 1.0), x(1000);
  const heddle::Report report = cg.solve(b, x);
  std::cout << report << "; u in the middle is " << x[500] << "\n";
  return report.converged() && x[500] > 0.99 && x[500] < 1.01 ? 0 : 1;
}
