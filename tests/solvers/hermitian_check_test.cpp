// Conjugate gradient checks once that its matrix is Hermitian.
#include <gtest/gtest.h>

#include <limits>
#include <string_view>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/problems.hpp"
#include "support/few_entries.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::hermitian_check {
namespace {

template <class E>
class HermitianCheck : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 2, 2>,
                     block<double, 3, 3>, block<complex<double>, 3, 3>, real<float>, complex<float>,
                     quaternion<float>, block<float, 4, 4>>;
TYPED_TEST_SUITE(HermitianCheck, FewOf<Entries>);

template <class E>
Report report_of(const CsrMatrix<E>& matrix, SolverOptions options = {}, const char* plan = "CSR") {
  using S = vector_scalar_t<E>;
  Generator generator(9);
  const Field<E> b = random_vector<E>(matrix.rows(), generator);
  const Operator<E> A(matrix, parse_plan(plan));
  ConjugateGradient<S> solver(A, options);
  Field<E> x(matrix.rows());
  fill<S>(S(0.5), x.view(), x.stream());
  const Field<E> guess = x;
  Report report;
  for (int repetition = 0; repetition < 2; ++repetition) {
    report = solver.solve(b, x);
    if (report.status == Status::not_hermitian) {
      EXPECT_EQ(report.iterations, 0);
      EXPECT_EQ(bits_of(x), bits_of(guess));
      const auto residual = static_cast<double>(true_residual(matrix, b, x));
      EXPECT_NEAR(report.residual_norm, residual, 1e-5 * residual);
      EXPECT_NE(report.detail.find("BiCGStab"), std::string_view::npos);
    }
  }
  return report;
}

TYPED_TEST(HermitianCheck, TellsMatricesApart) {
  using E = TypeParam;
  for (const Index n : {2, 7, 333}) {
    for (const char* plan : {"CSR", "pJDS,vector=soa"}) {
      Generator generator(static_cast<unsigned>(n));
      const auto hermitian = random_system<E>(n, 3, 0.5, 0, generator).matrix;
      EXPECT_TRUE(report_of(hermitian, {}, plan).converged());
      const auto skewed = random_system<E>(n, 3, 0.5, 0.1, generator).matrix;
      EXPECT_EQ(report_of(skewed, {}, plan).status, Status::not_hermitian);
      EXPECT_NE(report_of(skewed, {.max_iterations = 5, .checks = false}, plan).status,
                Status::not_hermitian);
      // Change one entry out of many.
      auto one = hermitian;
      for (Offset i = 0; i < one.entries(); ++i) {
        if (one.column()[i] == 0) continue;
        one.values()[i * E::components] += 4;
        break;
      }
      EXPECT_EQ(report_of(one, {}, plan).status, Status::not_hermitian) << n;
    }
  }
}

TYPED_TEST(HermitianCheck, OverlooksRoundingAndScale) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(4);
  const auto matrix = random_system<E>(200, 3, 0.5, 0, generator).matrix;
  auto rounded = matrix;
  for (auto& value : rounded.values()) {
    value *= static_cast<S>(1 + uniform(generator) * 8 * std::numeric_limits<S>::epsilon());
  }
  EXPECT_TRUE(report_of(rounded).converged());
  for (const double scale : {1e-30, 1e25}) {
    auto scaled = matrix;
    for (auto& value : scaled.values()) value *= static_cast<S>(scale);
    EXPECT_NE(report_of(scaled).status, Status::not_hermitian) << scale;
  }
}

/// y = (A + skew) x for a diagonal A; counts the products.
class Counting final : public LinearOperator<double> {
 public:
  explicit Counting(double skew) : skew_(skew) {}
  Index rows() const override { return 30; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    ++products;
    for (Index i = 0; i < 30; ++i) {
      const double image = (1 + i) * x.data[i] + (i % 2 == 0 ? skew_ : -skew_) * x.data[i ^ 1];
      y.data[i] = alpha * image + (beta == 0 ? 0 : beta * y.data[i]);
    }
  }
  mutable int products = 0;

 private:
  double skew_;
};

TEST(HermitianCheckOf, AMatrixFreeOperatorIsMadeOnce) {
  std::vector<double> b(30, 1);
  const auto products = [&](const Counting& A, ConjugateGradient<double>& solver) {
    std::vector<double> x(30);
    const int before = A.products;
    const Report report = solver.solve({b.data(), 30}, {x.data(), 30});
    EXPECT_EQ(report.converged(), report.status != Status::not_hermitian) << report;
    return A.products - before;
  };
  const Counting hermitian(0), skewed(0.1);
  ConjugateGradient<double> solver(hermitian), unchecked(hermitian, {.checks = false});
  const int counted = products(hermitian, unchecked);
  EXPECT_EQ(products(hermitian, solver), counted + 2);
  EXPECT_EQ(products(hermitian, solver), counted);
  ConjugateGradient<double> refusing(skewed);
  EXPECT_EQ(products(skewed, refusing), 3);
  EXPECT_EQ(products(skewed, refusing), 1) << "the residual of the guess";
}

TEST(HermitianCheck, NamesTheMethodsOfComplexSymmetricMatrices) {
  const auto waves = helmholtz(216);
  const Operator<complex<double>> A(waves, Plan{});
  Field<complex<double>> b(A.rows()), x(A.rows());
  fill<double>(1, b.view(), b.stream());
  constexpr std::string_view said =
      "the matrix is complex symmetric, not Hermitian: use COCR or COCG";
  EXPECT_EQ(ConjugateGradient(A).solve(b, x).detail, said);
  EXPECT_EQ(Minres(A).solve(b, x).detail, said);
}

}  // namespace
}  // namespace heddle::test::hermitian_check
