// Products on the caller's arrays with plans that number and lay out fields differently.
#include "heddle/multiply.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "heddle/operator.hpp"
#include "heddle/problems.hpp"

namespace {

using namespace heddle;

/// y = alpha A x + beta y, entry by entry.
template <class E>
std::vector<double> expected(const CsrMatrix<E>& matrix, const std::vector<double>& x,
                             std::vector<double> y, double alpha, double beta) {
  constexpr int n = vector_entry_t<E>::components;
  for (Index row = 0; row < matrix.rows(); ++row) {
    auto sum = zero_vector<vector_entry_t<E>>();
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      vector_entry_t<E> v;
      for (int k = 0; k < n; ++k) v.component[k] = x[matrix.column()[i] * n + k];
      multiply_add(sum, matrix.entry(i), v);
    }
    for (int k = 0; k < n; ++k) {
      y[row * n + k] = alpha * sum.component[k] + beta * y[row * n + k];
    }
  }
  return y;
}

template <class E>
void agrees(const CsrMatrix<E>& matrix) {
  const auto scalars = static_cast<std::size_t>(matrix.rows()) * vector_entry_t<E>::components;
  std::vector<double> x(scalars), y(scalars);
  for (std::size_t i = 0; i < scalars; ++i) {
    x[i] = static_cast<double>(i % 17) - 8;
    y[i] = static_cast<double>(i % 5);
  }
  for (const char* plan : {"CSR", "C=32,sigma=n,order=rcm", "C=8,sigma=64,order=rcm,vector=soa"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan));
    for (const double beta : {0.0, -0.5}) {
      std::vector<double> product = y;
      multiply(A, field_view<E>(x), field_view<E>(product), 2, beta);
      const auto right = expected(matrix, x, y, 2, beta);
      for (std::size_t i = 0; i < scalars; ++i) {
        ASSERT_NEAR(product[i], right[i], 1e-11) << i;
      }
    }
  }
}

TEST(Multiply, IsInTheUsersOrderUnderAnyPlan) {
  agrees(poisson(300));
  agrees(elasticity(100));
}

TEST(Multiply, TakesStandardComplexNumbers) {
  const auto matrix = helmholtz(200);
  const Operator<complex<double>> A(matrix, parse_plan("C=32,sigma=n,order=rcm"));
  const std::vector<std::complex<double>> x(static_cast<std::size_t>(matrix.rows()), {1, 0});
  std::vector<std::complex<double>> y(x.size());
  multiply(A, x, y);
  for (Index row = 0; row < matrix.rows(); ++row) {
    std::complex<double> sum = 0;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      sum += std::complex<double>(matrix.entry(i).re(), matrix.entry(i).im());
    }
    ASSERT_NEAR(std::abs(y[static_cast<std::size_t>(row)] - sum), 0, 1e-11);
  }
}

TEST(Multiply, NamesAFieldThatDoesNotFit) {
  const Operator<real<double>> A(poisson(100), parse_plan("CSR"));
  std::vector<double> x(static_cast<std::size_t>(A.rows())), y(x.size() + 1);
  try {
    multiply(A, x, y);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::size_mismatch);
    EXPECT_NE(std::string(error.what()).find("y has"), std::string::npos) << error.what();
  }
}

}  // namespace
