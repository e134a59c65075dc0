// Operators made of operators, compared with the dense matrices that they represent.
#include "heddle/operator_algebra.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::operator_algebra_test {
namespace {

using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

constexpr const char* plans[] = {"CSR", "pJDS", "C=4,sigma=n,vector=soa", "order=rcm"};

template <class E>
Dense dense(const CsrMatrix<E>& matrix) {
  return expansion<long double>(matrix);
}

/// The action of a complex number from the right on numbers of two components.
Dense from_right(std::complex<double> sigma, Eigen::Index scalars) {
  Dense result = Dense::Zero(scalars, scalars);
  for (Eigen::Index i = 0; i < scalars; i += 2) {
    result(i, i) = result(i + 1, i + 1) = sigma.real();
    result(i + 1, i) = sigma.imag();
    result(i, i + 1) = -sigma.imag();
  }
  return result;
}

/// Checks `apply` with several alpha and beta, `apply_dot` and `residual` of a square operator.
template <class E>
void expect_is(const LinearOperator<double>& A, const Operator<E>& of_fields, const Dense& expected,
               Generator& generator) {
  const Stream stream = A.device().stream();
  Field<E> x = of_fields.field(), y = of_fields.field();
  fill_randomly(x, generator);
  const auto in = components_of<long double>(x);
  const auto expect_near = [](const auto& found, const Vector<long double>& exact) {
    EXPECT_FALSE(!((found - exact).norm() <= 1e-14L * (1 + exact.norm()) * 10));
  };
  for (const auto& [alpha, beta] :
       std::initializer_list<std::pair<double, double>>{{1, 0}, {-0.75, 0}, {2, 1}, {-1, -0.5}}) {
    fill_randomly(y, generator);
    if (beta == 0) fill<double>(std::nan(""), y, stream);  // not read
    const auto old = components_of<long double>(y);
    A.apply(alpha, x.view(), beta, y.view(), stream);
    Vector<long double> exact = alpha * (expected * in);
    if (beta != 0) exact += beta * old;
    expect_near(components_of<long double>(y), exact);
  }
  Reduction<double> reduction(A.rows());
  EXPECT_NEAR(A.apply_dot(x.view(), y.view(), reduction, stream),
              static_cast<double>(in.dot(expected * in)),
              1e-12 * static_cast<double>(in.norm() * (expected * in).norm()));
  Field<E> b = of_fields.field();
  fill_randomly(b, generator);
  const Vector<long double> exact = components_of<long double>(b) - expected * in;
  EXPECT_NEAR(A.residual(b.view(), x.view(), y.view(), reduction, stream),
              static_cast<double>(exact.squaredNorm()),
              1e-12 * static_cast<double>(exact.squaredNorm()));
  expect_near(components_of<long double>(y), exact);
  // The residual in place.
  A.residual(b.view(), x.view(), b.view(), reduction, stream);
  EXPECT_EQ(bits_of(b), bits_of(y));
  EXPECT_THROW(A.apply(1, x.view(), 0, x.view(), stream), Error);
  EXPECT_THROW(A.residual(b.view(), x.view(), x.view(), reduction, stream), Error);
}

template <class E>
class OperatorAlgebra : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(OperatorAlgebra, FewOf<Entries>);

TYPED_TEST(OperatorAlgebra, IsWhatItSays) {
  using E = TypeParam;
  Seed seed(1);
  constexpr Index n = 37;
  const CsrMatrix<E> first = dominant_system<E>(n, 3, 0.5, seed.generator).matrix,
                     second = dominant_system<E>(n, 2, 0.3, seed.generator).matrix;
  const Dense a = dense(first), b = dense(second), one = Dense::Identity(a.rows(), a.cols());
  const Dense ab = a * b, of_nested = (a + 2 * one) * (b + 0.25L * b * a);
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(first, parse_plan(plan)), B(second, parse_plan(plan), A.row_basis());
    expect_is<E>(shifted(A, -0.75), A, a - 0.75L * one, seed.generator);
    expect_is<E>(shifted(A, 1.5, B), A, a + 1.5L * b, seed.generator);
    expect_is<E>(sum(0.5, A, -2, B), A, 0.5L * a - 2 * b, seed.generator);
    expect_is<E>(product(A, B), A, ab, seed.generator);
    // Compositions of one another, and of copies.
    const auto nested = product(shifted(A, 2), sum(1, B, 0.25, product(B, A)));
    expect_is<E>(nested, A, of_nested, seed.generator);
    expect_is<E>(*nested.handle(), A, of_nested, seed.generator);
  }
}

TEST(OperatorAlgebra, ComplexCoefficientsActFromTheRight) {
  const auto expect_all = [&]<class E>() {
    Seed seed(2);
    constexpr Index n = 31;
    const CsrMatrix<E> first = dominant_system<E>(n, 3, 0.5, seed.generator).matrix,
                       second = dominant_system<E>(n, 2, 0.3, seed.generator).matrix;
    const Dense a = dense(first), b = dense(second);
    const std::complex<double> sigma(0.5, -1.25);
    for (const char* plan : plans) {
      SCOPED_TRACE(plan);
      const Operator<E> A(first, parse_plan(plan)), B(second, parse_plan(plan), A.row_basis());
      const Dense from = from_right(sigma, a.rows());
      expect_is<E>(shifted(A, sigma), A, a + from, seed.generator);
      expect_is<E>(shifted(A, sigma, B), A, a + b * from, seed.generator);
    }
  };
  expect_all.operator()<complex<double>>();
  expect_all.operator()<block<complex<double>, 3, 3>>();
}

TEST(OperatorAlgebra, OfRectangularOperators) {
  using E = real<double>;
  const Index offsets[] = {0, 2, 3}, columns[] = {0, 2, 1};
  const double values[] = {1, 2, 3};
  const Index transposed_offsets[] = {0, 1, 2, 3}, transposed_columns[] = {0, 1, 0};
  const double transposed_values[] = {1, 3, 2};
  const Plan plan = parse_plan("use=scatter");
  const Operator<E> A(CsrView<E>{2, 3, offsets, columns, values}, plan),
      transposed(CsrView<E>{3, 2, transposed_offsets, transposed_columns, transposed_values}, plan);
  Dense a(2, 3);
  a << 1, 0, 2, 0, 3, 0;
  Seed seed(3);
  const Operator<E> of_rows(from_dense(Eigen::MatrixXd::Identity(2, 2)), Plan{}),
      of_columns(from_dense(Eigen::MatrixXd::Identity(3, 3)), Plan{});
  expect_is<E>(product(A, transposed), of_rows, a * a.transpose(), seed.generator);
  expect_is<E>(product(transposed, A), of_columns, a.transpose() * a, seed.generator);
  const auto both = sum(1, A, 2, A);
  EXPECT_EQ(both.rows(), 2);
  EXPECT_EQ(both.columns(), 3);
  expect_error(ErrorKind::size_mismatch,
               "a product needs columns that match rows, not 3 of 1 components and 2 of 1",
               [&] { product(A, A); });
  expect_error(ErrorKind::size_mismatch,
               "a sum needs operators of one size, not rows 2 of 1 and 3 of 1 components, columns "
               "3 of 1 and 2 of "
               "1",
               [&] { sum(1, A, 1, transposed); });
  EXPECT_THROW(shifted(A, 1), Error);
}

template <class E>
void expect_solved(const Report& report, const Dense& A, const Field<E>& b, const Field<E>& x) {
  EXPECT_TRUE(report.converged()) << report;
  const auto right = components_of<long double>(b);
  const auto difference = (right - A * components_of<long double>(x)).norm();
  EXPECT_TRUE(difference <= 1e-10L * right.norm() * (1 + 1e-5L));
}

TEST(OperatorAlgebra, SolversTakeThem) {
  using E = quaternion<double>;
  Seed seed(4);
  constexpr Index n = 60;
  const CsrMatrix<E> matrix = random_system<E>(n, 3, 0.2, 0, seed.generator).matrix,
                     mass = random_system<E>(n, 2, 0.5, 0, seed.generator).matrix;
  const Dense a = dense(matrix), m = dense(mass), one = Dense::Identity(a.rows(), a.cols());
  const auto b = random_vector<E>(n, seed.generator);
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan)), M(mass, parse_plan(plan), A.row_basis());
    Field<E> x(n), y(n), z(n), w(n);
    ConjugateGradient cg(shifted(A, 0.75));
    expect_solved(cg.solve(b, x), a + 0.75L * one, b, x);
    Minres minres(shifted(A, -1, M));  // indefinite
    expect_solved(minres.solve(b, y), a - m, b, y);
    const auto kept = sum(1, A, 3, M);
    BiCGStab bicgstab(kept, Jacobi(A));
    expect_solved(bicgstab.solve(b, z), a + 3 * m, b, z);
    Gmres gmres(product(A, M), {.max_iterations = 100000, .restart = 200});
    expect_solved(gmres.solve(b, w), a * m, b, w);
  }
}

TEST(OperatorAlgebra, AComplexShiftIsNotHermitian) {
  using E = complex<double>;
  Seed seed(5);
  constexpr Index n = 150;
  const CsrMatrix<E> matrix = random_system<E>(n, 3, 0.2, 0, seed.generator).matrix;
  const Operator<E> A(matrix, parse_plan("K1rs,C=8"));
  const auto b = random_vector<E>(n, seed.generator);
  const std::complex<double> sigma(-0.5, 1);
  Field<E> x(n);
  BiCGStab bicgstab(shifted(A, sigma));
  const Dense a = dense(matrix);
  expect_solved(bicgstab.solve(b, x), a + from_right(sigma, a.rows()), b, x);
  ConjugateGradient cg(shifted(A, sigma));
  Field<E> y(n);
  EXPECT_EQ(cg.solve(b, y).status, Status::not_hermitian);
}

TEST(OperatorAlgebra, NewValuesAreSeen) {
  using E = real<double>;
  Seed seed(6);
  constexpr Index n = 50;
  const CsrMatrix<E> first = random_system<E>(n, 3, 0.2, 0, seed.generator).matrix;
  CsrMatrix<E> second = first;
  for (double& value : second.values()) value *= 2;
  std::optional<ShiftedOperator<double>> kept;
  Operator<E> A(first, parse_plan("pJDS"));
  {
    const Operator<E> same = A.scheduled(A.plan());  // need not outlive this
    kept = shifted(same, 1);
  }
  const Dense one = Dense::Identity(n, n);
  expect_is<E>(*kept, A, dense(first) + one, seed.generator);
  A.update_values(second);
  expect_is<E>(*kept, A, dense(second) + one, seed.generator);
}

TEST(OperatorAlgebra, PassesOnWhatItIs) {
  Seed seed(7);
  using Q = quaternion<double>;
  const CsrMatrix<Q> matrix = random_system<Q>(20, 3, 0.2, 0, seed.generator).matrix;
  const Operator<Q> A(matrix, parse_plan("CSR,vector=soa")),
      with_real(matrix, parse_plan("CSR,vector=soa,recurrence=real"));
  const auto same = shifted(A, 1);
  EXPECT_EQ(same.ring(), Ring::quaternion);
  EXPECT_EQ(same.recurrence(), Recurrence::ring);
  EXPECT_TRUE(same.has_adjoint());
  EXPECT_EQ(same.vector_layout(), VectorLayout::soa);
  EXPECT_EQ(same.row_basis(), A.row_basis());
  EXPECT_FALSE(same.is_capturable());
  EXPECT_EQ(same.bytes_of_product(), A.bytes_of_product() + 3LL * 20 * 4 * 8);
  EXPECT_EQ(product(A, A).bytes_of_product(), 2 * A.bytes_of_product());
  EXPECT_EQ(sum(1, A, 1, with_real).recurrence(), Recurrence::real);
  EXPECT_EQ(sum(1, with_real, 1, A).recurrence(), Recurrence::real);
  // Quaternions and 2x2 blocks of complex numbers have the same components, and only real numbers
  // multiply both in the same way.
  using C = block<complex<double>, 2, 2>;
  const Operator<C> complex_one(dominant_system<C>(20, 3, 0.2, seed.generator).matrix,
                                parse_plan("CSR,vector=soa"));
  const auto mixed = sum(1, A, 1, complex_one);
  EXPECT_EQ(mixed.ring(), Ring::real);
  EXPECT_EQ(product(complex_one, A).ring(), Ring::real);
  const Field<Q> b = random_vector<Q>(20, seed.generator);
  Field<Q> x(20), y(20);
  const SolverOptions one_cycle{.tolerance = 1e-12, .restart = 80};
  const Report by_gmres = Gmres<double>(mixed, one_cycle).solve(b.view(), x.view());
  EXPECT_TRUE(by_gmres.converged()) << by_gmres;
  EXPECT_EQ(by_gmres.restarts, 0);
  EXPECT_TRUE(BiCGStab<double>(mixed).solve(b.view(), y.view()).converged());
}

TEST(OperatorAlgebra, RefusesWhatDoesNotFit) {
  using E = real<double>;
  Seed seed(8);
  const CsrMatrix<E> matrix = random_system<E>(40, 3, 0.2, 0, seed.generator).matrix;
  const Operator<E> A(matrix, parse_plan("CSR")), sorted(matrix, parse_plan("pJDS"));
  using C = complex<double>;
  const CsrMatrix<C> numbers = random_system<C>(40, 3, 0.2, 0, seed.generator).matrix;
  const Operator<C> aos(numbers, parse_plan("CSR")), soa(numbers, parse_plan("CSR,vector=soa"));
  expect_error(ErrorKind::size_mismatch,
               "a sum needs operators in one basis; make one in the other's, Operator<E>(matrix, "
               "plan, basis)",
               [&] { sum(1, A, 1, sorted); });
  expect_error(
      ErrorKind::size_mismatch,
      "a product needs operators in one basis; make one in the other's, Operator<E>(matrix, "
      "plan, basis)",
      [&] { product(A, sorted); });
  expect_error(ErrorKind::size_mismatch,
               "a sum needs operators of one vector layout; use one plan for both",
               [&] { shifted(aos, 1, soa); });
  expect_error(ErrorKind::unsupported,
               "a shift with a complex coefficient needs operators over the complex numbers",
               [&] { shifted(A, std::complex<double>(0, 1)); });
  expect_error(ErrorKind::unsupported,
               "a sum with a complex coefficient needs operators over the complex numbers",
               [&] { shifted(A, std::complex<double>(0, 1), A); });
  EXPECT_NO_THROW(shifted(A, std::complex<double>(2, 0)));
  expect_error(ErrorKind::usage, "the shift is not finite in the operator's precision",
               [&] { shifted(A, std::nan("")); });
  expect_error(ErrorKind::usage, "a coefficient of the sum is not finite",
               [&] { sum(std::numeric_limits<double>::infinity(), A, 1, A); });
}

/// Counts the questions asked of it.
class Asked final : public LinearOperator<double> {
 public:
  Index rows() const override { return 20; }
  Ring ring() const override { return ++questions, Ring::real; }
  Recurrence recurrence() const override { return ++questions, Recurrence::ring; }
  bool has_adjoint() const override { return ++questions, true; }
  std::shared_ptr<const LinearOperator<double>> adjoint() const override {
    return ++questions, std::make_shared<Asked>();
  }
  long long bytes_of_product() const override { return ++questions, 160; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    for (Index i = 0; i < rows(); ++i) {
      y.data[i] = alpha * (2 + i % 3) * x.data[i] + (beta == 0 ? 0 : beta * y.data[i]);
    }
  }
  static inline int questions = 0;
};

/// However deeply operators are nested, a solver asks only a few questions per operator.
TEST(OperatorAlgebra, ChainsAskOncePerLevel) {
  constexpr int levels = 60;
  using Shared = std::shared_ptr<const LinearOperator<double>>;
  const auto expect_few = [&](const char* kind, const std::function<Shared(const Shared&)>& more) {
    SCOPED_TRACE(kind);
    Asked::questions = 0;
    Shared A = std::make_shared<Asked>();
    for (int level = 0; level < levels; ++level) A = more(A);
    ConjugateGradient<double> solver(A, SolverOptions{.tolerance = 1e-10});
    std::vector<double> b(20, 1), x(20);
    EXPECT_TRUE(solver.solve(FieldView<const double>(b), FieldView<double>(x)).converged());
    A->adjoint()->has_adjoint();
    A->is_capturable();
    EXPECT_LE(Asked::questions, 100 * levels);
  };
  expect_few("shifts", [](const Shared& A) {
    return std::make_shared<ShiftedOperator<double>>(shifted(A, 1e-3));
  });
  const Shared mass = std::make_shared<Asked>();
  expect_few("sums", [&](const Shared& A) {
    return std::make_shared<SumOperator<double>>(sum(1, A, 1e-3, mass));
  });
  const Shared small = std::make_shared<SumOperator<double>>(sum(1e-3, mass, 0, mass));
  const Shared near_one = std::make_shared<ShiftedOperator<double>>(shifted(small, 1));
  expect_few("products", [&](const Shared& A) {
    return std::make_shared<ProductOperator<double>>(product(near_one, A));
  });
  expect_few("adjoints", [](const Shared& A) {
    return std::make_shared<ShiftedOperator<double>>(shifted(A->adjoint(), 1e-3));
  });
}

}  // namespace
}  // namespace heddle::test::operator_algebra_test
