// Inputs that polynomial preconditioners refuse, in one line each.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/polynomial.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::polynomial_misuse_test {
namespace {

/// The identity, with the properties that a test gives it.
class Inner final : public Preconditioner<double> {
 public:
  Inner(bool is_constant, bool is_hermitian)
      : is_constant_(is_constant), is_hermitian_(is_hermitian) {}
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    copy<double>(r, z, stream);
  }
  bool is_constant() const override { return is_constant_; }
  bool is_hermitian() const override { return is_hermitian_; }

 private:
  bool is_constant_, is_hermitian_;
};

TEST(PolynomialMisuse, RefusesWhatItIsNotFor) {
  using E = real<double>;
  Seed seed(10);
  const auto refused = [](ErrorKind kind, const std::string& why, const CsrMatrix<E>& matrix) {
    const Operator<E> A(matrix, Plan{});
    expect_error(kind, why, [&] { Chebyshev<double>{A}; });
  };
  refused(ErrorKind::unsupported, "Chebyshev: the matrix is not Hermitian; use Neumann or Jacobi",
          random_system<E>(50, 3, 0.2, 0.6, seed.generator).matrix);
  Eigen::MatrixXd diagonal = Eigen::Vector3d(1, -2, 3).asDiagonal();
  refused(ErrorKind::unsupported,
          "Chebyshev: the matrix is not positive definite, as it has an eigenvalue of at most -2; "
          "use Neumann or none",
          from_dense(diagonal));
  const Operator<E> indefinite(from_dense(diagonal), Plan{});
  expect_error(ErrorKind::unsupported,
               "Chebyshev: the inner preconditioner is not positive definite; use Neumann or none",
               [&] { Chebyshev(indefinite, Jacobi(indefinite)); });
  const Operator<E> coupled(from_dense(Eigen::Matrix2d{{1, 2}, {2, 1}}), Plan{});
  expect_error(ErrorKind::unsupported,
               "Chebyshev: the matrix is not positive definite, as the preconditioned one has an "
               "eigenvalue of at most -1; use Neumann or none",
               [&] { Chebyshev(coupled, Jacobi(coupled)); });
  diagonal.diagonal() << 1, 2, 3;
  const Operator<E> A(from_dense(diagonal), Plan{});
  expect_error(ErrorKind::usage, "Chebyshev: the degree is 0 or more, not -1",
               [&] { Chebyshev(A, {.degree = -1}); });
  expect_error(ErrorKind::usage, "Chebyshev: an interval needs 0 < lower < upper, not 0 and 2",
               [&] { Chebyshev(A, {.interval = SpectralInterval{0, 2}}); });
  expect_error(ErrorKind::usage, "Neumann: 0 terms; it needs 1 or more", [&] { Neumann(A, 0); });
  expect_error(ErrorKind::unsupported,
               "Chebyshev: the inner preconditioner says that it is not Hermitian; use another, or "
               "none",
               [&] { Chebyshev(A, Inner(true, false)); });
  EXPECT_FALSE(Neumann(A, Inner(true, false)).is_hermitian());
  for (const char* who : {"Chebyshev", "Neumann"}) {
    expect_error(ErrorKind::unsupported,
                 std::string(who) +
                     " needs a constant inner preconditioner, and this one says that it varies",
                 [&] {
                   who[0] == 'C' ? static_cast<void>(Chebyshev(A, Inner(false, true)))
                                 : static_cast<void>(Neumann(A, Inner(false, true)));
                 });
  }
  // A preconditioner for other fields.
  const Operator<E> larger(from_dense(Eigen::MatrixXd::Identity(4, 4)), Plan{});
  EXPECT_THROW(Chebyshev(A, Jacobi(larger)), Error);
  const Chebyshev M(A);
  Field<E> r(4), z(4);
  EXPECT_THROW(M.apply(r, z, A.device().stream()), Error);
  Field<E> own(3);
  EXPECT_THROW(M.apply(own, own, A.device().stream()), Error);

  using Dual = dual_quaternion<double>;
  const Operator<Dual> dual(dominant_system<Dual>(10, 2, 0.5, seed.generator).matrix, Plan{});
  expect_error(ErrorKind::unsupported,
               "Chebyshev: it needs a Hermitian matrix, and these entries have no adjoint; use "
               "Neumann or Jacobi",
               [&] { Chebyshev(dual, Jacobi(dual)); });
}

TEST(PolynomialMisuse, RefusesValuesThatAreNoNumbers) {
  using E = real<double>;
  Seed seed(11);
  auto matrix = random_system<E>(64, 3, 0.3, 0, seed.generator).matrix;
  Operator<E> A(matrix, Plan{});
  ConjugateGradient cg(A, Chebyshev(A, Jacobi(A)));
  Field<E> x(64);
  const auto b = random_vector<E>(64, seed.generator);
  ASSERT_TRUE(cg.solve(b, x).converged());
  const auto good = matrix;
  for (Offset i = matrix.offsets()[20]; i < matrix.offsets()[21]; ++i) {
    if (matrix.column()[i] != 20) matrix.values()[i] = std::nan("");
  }
  A.update_values(matrix);
  expect_error(
      ErrorKind::not_finite,
      "Chebyshev: products with the matrix are not finite: a matrix value is not a number, "
      "or too large",
      [&] { cg.solve(b, x); });
  A.update_values(good);
  EXPECT_TRUE(cg.solve(b, x).converged());
}

}  // namespace
}  // namespace heddle::test::polynomial_misuse_test
