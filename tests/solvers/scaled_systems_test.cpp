// Systems at the limits of a scalar's range: no solve reports "converged" for an x that is not the
// solution, and the residual belongs to the x that is returned.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::scaled_systems {
namespace {

struct Scales {
  double of_matrix, of_b;
};

template <class E>
struct Scaled {
  CsrMatrix<E> matrix;
  Field<E> b;

  Scaled(CsrMatrix<E> unscaled, const Scales& scales, Generator& generator)
      : matrix(std::move(unscaled)), b(random_vector<E>(matrix.rows(), generator)) {
    using S = vector_scalar_t<E>;
    for (auto& value : matrix.values()) value = static_cast<S>(double(value) * scales.of_matrix);
    for (auto& value : b.scalars()) value = static_cast<S>(double(value) * scales.of_b);
  }
};

template <class E>
void expect_honest(const Report& report, const Scaled<E>& system, const Field<E>& x) {
  for (const auto value : x.scalars()) ASSERT_TRUE(std::isfinite(value)) << report;
  const long double size = components_of<long double>(system.b).stableNorm();
  if (size == 0) {
    EXPECT_TRUE(report.converged() && report.residual == 0) << report;
    return;
  }
  const auto residual = static_cast<double>(true_residual(system.matrix, system.b, x) / size);
  if (report.status == Status::not_finite && residual > 1e100) {  // no double holds its square
    EXPECT_FALSE(std::isfinite(report.residual)) << report;
    return;
  }
  EXPECT_LE(std::abs(report.residual - residual), 1e-3 * residual + 1e-12)
      << report << ", but it is " << residual;
  const double tolerance = default_tolerance<vector_scalar_t<E>>;
  EXPECT_EQ(report.converged(), report.residual <= tolerance * (1 + 1e-9)) << report;
}

template <class E, template <class> class Method>
void expect_honest_at(const Scales& scales) {
  using S = vector_scalar_t<E>;
  for (const Index n : {1, 5, 41}) {
    for (const bool jacobi : {false, true}) {
      SCOPED_TRACE("matrix " + std::to_string(std::log10(scales.of_matrix)) + ", b " +
                   std::to_string(std::log10(scales.of_b)) + ", rows " + std::to_string(n) +
                   (jacobi ? ", Jacobi" : ""));
      Generator generator(static_cast<unsigned>(n));
      const Scaled<E> system(random_system<E>(n, 3, 0.5, 0, generator).matrix, scales, generator);
      const Operator<E> A(system.matrix, Plan{});
      Method<S> solver = jacobi ? Method<S>(A, Jacobi<E>(A)) : Method<S>(A);
      Field<E> x(n);
      expect_honest(solver.solve(system.b, x), system, x);
      // Also starting from its own result, and from another guess.
      expect_honest(solver.solve(system.b, x), system, x);
      fill<S>(S(1), x.view(), x.stream());
      expect_honest(solver.solve(system.b, x), system, x);
    }
  }
}

template <class E>
class ScaledSystems : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                     real<float>, complex<float>, quaternion<float>, block<float, 2, 2>>;
TYPED_TEST_SUITE(ScaledSystems, FewOf<Entries>);

TYPED_TEST(ScaledSystems, AreSolvedOrRefused) {
  const std::vector<Scales> in_double = {{1e-200, 1e200},  {1e200, 1e-200}, {1e-150, 1e150},
                                         {1, 1e-322},      {1, 5e-324},     {1, 1e307},
                                         {1e-290, 1e-300}, {1e290, 1e300},  {1e-100, 1e-90},
                                         {1e200, 1e200},   {1e-200, 1e100}, {1e-230, 1e76}};
  const std::vector<Scales> in_single = {
      {1e-20, 1e20}, {1e20, 1e-20}, {1, 1e-44},     {1, 1e37},     {1e-30, 1e-30},
      {1e30, 1e30},  {1e15, 1e-15}, {1e-10, 1e-35}, {1e-15, 1e15}, {1e20, 1e-30}};
  constexpr bool is_double = std::is_same_v<vector_scalar_t<TypeParam>, double>;
  for (const Scales& scales : is_double ? in_double : in_single) {
    expect_honest_at<TypeParam, ConjugateGradient>(scales);
    expect_honest_at<TypeParam, BiCGStab>(scales);
  }
}

template <class S>
void expect_out_of_range(S of_matrix, S of_b) {
  const auto matrix = from_dense<S>(Eigen::MatrixXd::Constant(1, 1, double(of_matrix)));
  const Operator<real<S>> A(matrix, Plan{});
  Field<real<S>> b(1), x(1);
  b.scalars()[0] = of_b;
  ConjugateGradient<S> conjugate_gradient(A);
  BiCGStab<S> bicgstab(A);
  for (KrylovSolver<S>* solver : {static_cast<KrylovSolver<S>*>(&conjugate_gradient),
                                  static_cast<KrylovSolver<S>*>(&bicgstab)}) {
    const Report report = solver->solve(b, x);
    EXPECT_EQ(report.status, Status::out_of_range) << report;
    EXPECT_EQ(report.residual, 1);
    EXPECT_EQ(x.scalars()[0], 0);
    EXPECT_FALSE(report.detail.empty());
    EXPECT_FALSE(report.solved());
  }
}
TEST(ScaledSystem, WhoseSolutionOverflowsOrUnderflows) {
  expect_out_of_range<double>(1e-200, 1e200);
  expect_out_of_range<double>(1e200, 1e-200);
  expect_out_of_range<float>(1e-20F, 1e20F);
  expect_out_of_range<float>(1e25F, 1e-25F);
}

#ifdef HEDDLE_HAS_LONG_DOUBLE
TEST(ScaledSystem, InLongDouble) {
  class Identity final : public LinearOperator<long double> {
   public:
    Index rows() const override { return 7; }
    void apply(long double alpha, const FieldView<const long double>& x, long double beta,
               const FieldView<long double>& y, const Stream&) const override {
      for (Index i = 0; i < 7; ++i)
        y.data[i] = alpha * x.data[i] + (beta == 0 ? 0 : beta * y.data[i]);
    }
  };
  const Identity A;
  ConjugateGradient<long double> solver(A);
  for (const long double size : {1e-3000L, 1e3000L}) {
    std::vector<long double> b(7, size), x(7, 0);
    const Report report = solver.solve({b.data(), 7}, {x.data(), 7});
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(x, b);
  }
}
#endif

/// The residual has the scale of b, even if the solve used another one: b minus it is A x.
TEST(ScaledSystem, ResidualsAreThoseOfTheCaller) {
  Generator generator(5);
  const Scaled<real<double>> system(random_system<real<double>>(41, 3, 0.5, 0, generator).matrix,
                                    {1, 1e-200}, generator);
  const Operator<real<double>> A(system.matrix, Plan{});
  ConjugateGradient<double> solver(A);
  Field<real<double>> x(41), image(41);
  ASSERT_TRUE(solver.solve(system.b, x).converged());
  A.apply(1, x.view(), 0, image.view(), x.stream());
  const double* const r = solver.residual().data;
  for (std::size_t i = 0; i < 41; ++i) {
    const double b = system.b.scalars()[i];
    EXPECT_NEAR((b - r[i]) * 1e200, image.scalars()[i] * 1e200, 1e-14);
  }
}

/// The 40 rows of a Laplacian, solved outside its null space.
template <class S>
void expect_honest_with_a_null_space(const Scales& scales) {
  using E = real<S>;
  Generator generator(3);
  auto [matrix, null_vector] = random_laplacian<E>(40, 2, generator);
  Scaled<E> system(matrix, scales, generator);
  const Vector<long double> v = components_of<long double>(null_vector).normalized();
  const Vector<long double> given = components_of<long double>(system.b);
  const Vector<long double> along = v * v.dot(given);
  for (std::size_t i = 0; i < 40; ++i) {
    system.b.scalars()[i] -= static_cast<S>(along[static_cast<Eigen::Index>(i)]);
  }
  const Operator<E> A(system.matrix, Plan{});
  ConjugateGradient<S> solver(A);
  solver.set_null_space({null_vector.view()});
  Field<E> x(40);
  const Report report = solver.solve(system.b, x);
  for (const S value : x.scalars()) EXPECT_TRUE(std::isfinite(value)) << report;
  const auto residual = static_cast<double>(true_residual(system.matrix, system.b, x) /
                                            components_of<long double>(system.b).stableNorm());
  EXPECT_NEAR(report.residual, residual, 1e-3 * residual + 32 * std::numeric_limits<S>::epsilon());
  EXPECT_EQ(report.converged(), report.residual <= default_tolerance<S>) << report;
}
TEST(ScaledSystem, WithANullSpace) {
  for (const Scales& scales :
       {Scales{1e-200, 1e200}, Scales{1e200, 1e-200}, Scales{1e-100, 1e-90}, Scales{1, 1e-310}}) {
    expect_honest_with_a_null_space<double>(scales);
  }
  for (const Scales& scales : {Scales{1e-20, 1e20}, Scales{1e20, 1e-20}, Scales{1, 1e-30}}) {
    expect_honest_with_a_null_space<float>(scales);
  }
}

}  // namespace
}  // namespace heddle::test::scaled_systems
