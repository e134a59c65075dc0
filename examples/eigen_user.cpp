// A program written for Eigen in which one name changed: heddle::eigen::ConjugateGradient replaces
// Eigen::ConjugateGradient.
#include <Eigen/SparseCore>
#include <iostream>
#include <vector>

#include "heddle/eigen_solvers.hpp"

Eigen::SparseMatrix<double> heat_equation(int n, double time_step) {
  std::vector<Eigen::Triplet<double>> triplets;
  for (int i = 0; i < n; ++i) {
    triplets.emplace_back(i, i, 1 + 2 * time_step);
    if (i + 1 < n) triplets.emplace_back(i, i + 1, -time_step);
    if (i > 0) triplets.emplace_back(i, i - 1, -time_step);
  }
  Eigen::SparseMatrix<double> A(n, n);
  A.setFromTriplets(triplets.begin(), triplets.end());
  return A;
}

int main() {
  const int n = 1000;
  heddle::eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
  solver.setTolerance(1e-12);
  solver.analyzePattern(heat_equation(n, 1));
  Eigen::VectorXd temperature = Eigen::VectorXd::Zero(n);
  temperature.segment(n / 2, 10).setOnes();
  const double heat = temperature.sum();
  for (const double time_step : {0.1, 0.5, 2.0}) {
    solver.factorize(heat_equation(n, time_step));  // new values for the pattern
    temperature = solver.solveWithGuess(temperature, temperature);
    std::cout << "time step " << time_step << ": " << solver.iterations() << " iterations, error "
              << solver.error() << "\n";
    if (solver.info() != Eigen::Success) return 1;
  }
  std::cout << "heat " << heat << " became " << temperature.sum() << "\n";
}
