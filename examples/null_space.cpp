// A singular system: heat on a ring without a sink, determined up to a constant.
#include <iostream>
#include <vector>

#include "heddle/choose_plan.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/operator.hpp"
#include "heddle/triplets.hpp"

int main() {
  using E = heddle::real<double>;
  const int n = 400;
  std::vector<heddle::Triplet<E>> triplets;
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    triplets.push_back({i, i, {{1}}});
    triplets.push_back({next, next, {{1}}});
    triplets.push_back({i, next, {{-1}}});
    triplets.push_back({next, i, {{-1}}});
  }
  const auto matrix = heddle::assemble<E>(n, n, triplets).matrix;
  heddle::Operator<E> A(matrix, heddle::choose_plan(matrix));
  heddle::ConjugateGradient cg(A);
  const std::vector<double> constant(n, 1.0);
  cg.set_null_space({constant});  // copied; b is projected, x is orthogonal to it

  std::vector<double> b(n), x(n);
  b[0] = 1;
  b[n / 2] = -1;
  const heddle::Report report = cg.solve(b, x);
  double sum = 0;
  for (const double value : x) sum += value;
  std::cout << report << "; from source to sink " << x[0] - x[n / 2] << ", mean " << sum / n
            << "\n";
  return report.converged() ? 0 : 1;
}
