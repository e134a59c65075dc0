#include "dense_factors.hpp"

#include <complex>

namespace heddle::test {

template <class T>
LuFactors<T>::LuFactors(const Eigen::MatrixX<T>& A) : factors_(A) {}
template <class T>
Eigen::VectorX<T> LuFactors<T>::solve(const Eigen::VectorX<T>& b) const {
  return factors_.solve(b);
}
template <class T>
Eigen::MatrixX<T> LuFactors<T>::inverse() const {
  return factors_.inverse();
}

template <class T>
CholeskyFactors<T>::CholeskyFactors(const Eigen::MatrixX<T>& A) : factors_(A) {}
template <class T>
Eigen::VectorX<T> CholeskyFactors<T>::solve(const Eigen::VectorX<T>& b) const {
  return factors_.solve(b);
}
template <class T>
Eigen::MatrixX<T> CholeskyFactors<T>::inverse_of_lower() const {
  const Eigen::MatrixX<T> lower = factors_.matrixL();
  return LuFactors<T>(lower).inverse();
}

template class LuFactors<float>;
template class LuFactors<double>;
template class LuFactors<long double>;
template class CholeskyFactors<double>;
template class CholeskyFactors<long double>;

template <class T>
Eigen::MatrixX<T> inverse_by_full_pivots(const Eigen::MatrixX<T>& A) {
  return A.fullPivLu().inverse();
}
template Eigen::MatrixX<long double> inverse_by_full_pivots(const Eigen::MatrixX<long double>&);

// Complex systems are solved by the equivalent real matrix, which spares Eigen's complex templates.
template <class T>
Eigen::VectorX<T> solution_by_qr(const Eigen::MatrixX<T>& A, const Eigen::VectorX<T>& b) {
  if constexpr (Eigen::NumTraits<T>::IsComplex) {
    using Real = typename Eigen::NumTraits<T>::Real;
    const Eigen::Index rows = A.rows(), columns = A.cols();
    Eigen::MatrixX<Real> real(2 * rows, 2 * columns);
    real.topLeftCorner(rows, columns) = A.real();
    real.topRightCorner(rows, columns) = -A.imag();
    real.bottomLeftCorner(rows, columns) = A.imag();
    real.bottomRightCorner(rows, columns) = A.real();
    Eigen::VectorX<Real> right(2 * rows);
    right.head(rows) = b.real();
    right.tail(rows) = b.imag();
    const Eigen::VectorX<Real> solution = solution_by_qr<Real>(real, right);
    Eigen::VectorX<T> x(columns);
    x.real() = solution.head(columns);
    x.imag() = solution.tail(columns);
    return x;
  } else {
    return A.householderQr().solve(b);
  }
}
template Eigen::VectorX<double> solution_by_qr(const Eigen::MatrixX<double>&,
                                               const Eigen::VectorX<double>&);
template Eigen::VectorX<long double> solution_by_qr(const Eigen::MatrixX<long double>&,
                                                    const Eigen::VectorX<long double>&);
template Eigen::VectorX<std::complex<double>> solution_by_qr(
    const Eigen::MatrixX<std::complex<double>>&, const Eigen::VectorX<std::complex<double>>&);
template Eigen::VectorX<std::complex<long double>> solution_by_qr(
    const Eigen::MatrixX<std::complex<long double>>&,
    const Eigen::VectorX<std::complex<long double>>&);

Eigen::VectorXd solution_by_pivoted_qr(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.colPivHouseholderQr().solve(b);
}
Eigen::VectorXd solution_of_least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.completeOrthogonalDecomposition().solve(b);
}
Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& A) {
  return A.householderQr().householderQ();
}

Eigen::VectorXd singular_values_of(const Eigen::MatrixXd& A) {
  return A.jacobiSvd().singularValues();
}

Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A, const Eigen::MatrixXd& M) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(A, M, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

double spectral_radius(const Eigen::MatrixXd& A) { return A.eigenvalues().cwiseAbs().maxCoeff(); }

}  // namespace heddle::test
