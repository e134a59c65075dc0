// Waves on a line that leave at its ends: a complex symmetric system in std::complex, solved by
// BiCGStab.
#include <complex>
#include <iostream>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/choose_plan.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/std_complex.hpp"
#include "heddle/triplets.hpp"

int main() {
  using E = heddle::complex<double>;
  using Complex = std::complex<double>;
  const int n = 200;
  const double k = 0.6;  // wavenumber times spacing
  std::vector<heddle::Triplet<E>> triplets;
  for (int i = 0; i < n; ++i) {
    const bool is_end = i == 0 || i == n - 1;
    const Complex absorbed = k * k * Complex(1, 0.05);
    const Complex diagonal = is_end ? 1.0 - absorbed / 2.0 - Complex(0, k) : 2.0 - absorbed;
    triplets.push_back({i, i, heddle::from_std(diagonal)});
    if (i + 1 < n) {
      triplets.push_back({i, i + 1, heddle::from_std(Complex(-1))});
      triplets.push_back({i + 1, i, heddle::from_std(Complex(-1))});
    }
  }
  const auto matrix = heddle::assemble<E>(n, n, triplets).matrix;
  heddle::Operator<E> A(matrix, heddle::choose_plan(matrix));
  heddle::BiCGStab solver(A, heddle::Jacobi(A));

  std::vector<Complex> source(n), wave(n);
  source[n / 2] = 1;
  const heddle::Report report = solver.solve(source, wave);  // takes std::complex vectors directly
  std::cout << report << "; |u| at the source " << std::abs(wave[n / 2]) << ", at an end "
            << std::abs(wave[0]) << "\n";
  return report.converged() ? 0 : 1;
}
