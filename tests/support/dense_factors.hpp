// Dense factorizations for references. Eigen's templates of them take seconds to compile wherever
// they are used: these are compiled once for all tests.
#pragma once

#include <Eigen/Dense>

namespace heddle::test {

/// A = L U up to an order of the rows. T: float, double, long double.
template <class T>
class LuFactors {
 public:
  explicit LuFactors(const Eigen::MatrixX<T>& A);
  Eigen::VectorX<T> solve(const Eigen::VectorX<T>& b) const;
  Eigen::MatrixX<T> inverse() const;

 private:
  Eigen::PartialPivLU<Eigen::MatrixX<T>> factors_;
};

/// A = L L^T. T: double, long double.
template <class T>
class CholeskyFactors {
 public:
  explicit CholeskyFactors(const Eigen::MatrixX<T>& A);
  /// Whether there are such factors; what follows is for these.
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

/// With pivots from the whole of A, for matrices near singular ones. T: long double.
template <class T>
Eigen::MatrixX<T> inverse_by_full_pivots(const Eigen::MatrixX<T>& A);

/// The x of least |b - A x|, by QR, for columns that are independent. T: double, long double, and
/// complex numbers of these.
template <class T>
Eigen::VectorX<T> solution_by_qr(const Eigen::MatrixX<T>& A, const Eigen::VectorX<T>& b);
/// The same with columns in the order of what is left of them.
Eigen::VectorXd solution_by_pivoted_qr(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// Of the x of least |b - A x| the one of least |x|, whatever the columns.
Eigen::VectorXd solution_of_least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);
/// The square Q of A = Q R.
Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& A);

/// Descending.
Eigen::VectorXd singular_values_of(const Eigen::MatrixXd& A);

/// Of a symmetric matrix, ascending; and of A x = lambda M x.
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A);
Eigen::VectorXd eigenvalues_of(const Eigen::MatrixXd& A, const Eigen::MatrixXd& M);

/// The largest |eigenvalue| of any square matrix.
double spectral_radius(const Eigen::MatrixXd& A);

}  // namespace heddle::test
