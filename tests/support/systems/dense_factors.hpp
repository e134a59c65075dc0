// Dense factorizations for references. Eigen's templates for them take seconds to compile wherever
// they are used: these are compiled once for all tests.
#pragma once

#include <Eigen/Dense>

namespace heddle::test {

/// A = L U up to a permutation of the rows. T: float, double, or long double.
template <class T>
class LuFactors {
 public:
  explicit LuFactors(const Eigen::MatrixX<T>& A);
  Eigen::VectorX<T> solve(const Eigen::VectorX<T>& b) const;
  Eigen::MatrixX<T> inverse() const;

 private:
  Eigen::PartialPivLU<Eigen::MatrixX<T>> factors_;
};

/// A = L L^T. T: double or long double.
template <class T>
class CholeskyFactors {
 public:
  explicit CholeskyFactors(const Eigen::MatrixX<T>& A);
  /// True if such factors exist; the functions below require it.
  bool is_positive_definite() const { return factors_.info() == Eigen::Success; }
  Eigen::VectorX<T> solve(const Eigen::VectorX<T>& b) const;
  Eigen::MatrixX<T> inverse_of_lower() const;

 private:
  Eigen::LLT<Eigen::MatrixX<T>> factors_;
};

template <class T>
bool is_positive_definite(const Eigen::MatrixX<T>& A) {
  return CholeskyFactors<T>(A).is_positive_definite();
}

/// Inverse with full pivoting, for nearly singular matrices. T: long double.
template <class T>
Eigen::MatrixX<T> inverse_by_full_pivots(const Eigen::MatrixX<T>& A);

/// The x of least |b - A x|, by QR, for independent columns. T: double, long double, or complex
/// numbers of these.
template <class T>
Eigen::VectorX<T> solution_by_qr(const Eigen::MatrixX<T>& A, const Eigen::VectorX<T>& b);
/// The same with column pivoting.
Eigen::VectorXd solution_by_pivoted_qr(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// Among all x of least |b - A x|, the one of least |x|, whatever the columns.
Eigen::VectorXd solution_of_least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// The square Q of A = Q R.
Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& A);

/// In descending order.
Eigen::VectorXd singular_values_of(const Eigen::MatrixXd& A);

/// Eigenvalues of a symmetric matrix, ascending; and those of A x = lambda M x.
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A);
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A, const Eigen::MatrixXd& M);

/// The largest |eigenvalue| of any square matrix.
double spectral_radius(const Eigen::MatrixXd& A);

}  // namespace heddle::test
