// Same results on a GPU as on the CPU: systems at the limits of a scalar's range, tolerances below
// rounding, and matrices that are not Hermitian; with every form of the loop, and enqueued.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/gpu.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::accuracy_gpu {
namespace {

class AccuracyOnGpu : public OnGpu {
 protected:
  static constexpr const char* loops[] = {"stepped", "graph", "replay", "persistent"};

  /// The report must state |b - A x| / |b| in long double, and "converged" only if that is small
  /// enough.
  template <class E, class R>
  static void expect_honest(const R& report, const CsrMatrix<E>& matrix, const Field<E>& b,
                            const Field<E>& x) {
    for (const auto value : x.scalars()) ASSERT_TRUE(std::isfinite(value));
    const auto residual = static_cast<double>(true_residual(matrix, b, x) /
                                              components_of<long double>(b).stableNorm());
    EXPECT_NEAR(report.residual, residual, 1e-3 * residual + 1e-12) << name(report.status);
    EXPECT_EQ(report.status == Status::converged,
              report.residual <= default_tolerance<vector_scalar_t<E>> * (1 + 1e-9));
  }

  template <class E>
  static Field<E> host_copy(const Field<E>& field) {
    Field<E> host(field.size());
    permute<vector_scalar_t<E>>(field.view(), host.view(), 1, field.stream());
    field.device().synchronize();
    return host;
  }
  template <class E>
  Field<E> device_copy(const Field<E>& field) const {
    Field<E> there(field.size(), device);
    permute<vector_scalar_t<E>>(field.view(), there.view(), 1, device.stream());
    return there;
  }

  /// Solves from the host's memory, and enqueues with fields on the GPU.
  template <class E, template <class> class Method, class Check>
  void solve_both_ways(const CsrMatrix<E>& matrix, const Field<E>& b, const char* loop, bool jacobi,
                       const SolverOptions& options, const Check& check) const {
    using S = vector_scalar_t<E>;
    SCOPED_TRACE(std::string(loop) + (jacobi ? ", Jacobi" : ""));
    const Operator<E> A(matrix, parse_plan(std::string("pJDS,loop=") + loop), device);
    Method<S> solver = jacobi ? Method<S>(A, Jacobi<E>(A), options) : Method<S>(A, options);
    Field<E> x(matrix.rows());
    check(solver.solve(b.view(), x.view()), x);
    if (std::string(loop) == "stepped") return;
    const Field<E> b_there = device_copy(b);
    Field<E> x_there(matrix.rows(), device);
    Array<DeviceReport> report(1, device);
    for (int repetition = 0; repetition < 2; ++repetition) {
      fill<S>(S(0), x_there.view(), device.stream());
      solver.enqueue(b_there.view(), x_there.view(), report.data());
      device.synchronize();
      check(report.to_host()[0], host_copy(x_there));
    }
  }

  template <class E, template <class> class Method>
  void expect_honest_at(double of_matrix, double of_b) const {
    using S = vector_scalar_t<E>;
    Generator generator(3);
    auto matrix = random_system<E>(41, 3, 0.5, 0, generator).matrix;
    Field<E> b = random_vector<E>(41, generator);
    for (auto& value : matrix.values()) value = static_cast<S>(double(value) * of_matrix);
    for (auto& value : b.scalars()) value = static_cast<S>(double(value) * of_b);
    for (const char* loop : loops) {
      for (const bool jacobi : {false, true}) {
        solve_both_ways<E, Method>(
            matrix, b, loop, jacobi, {},
            [&](const auto& report, const Field<E>& x) { expect_honest(report, matrix, b, x); });
      }
    }
  }
};

TEST_F(AccuracyOnGpu, OfScaledSystems) {
  const std::vector<std::pair<double, double>> in_double = {
      {1e-200, 1e200}, {1e200, 1e-200}, {1, 5e-324}, {1, 1e300}, {1e-100, 1e-90}};
  for (const auto& [of_matrix, of_b] : in_double) {
    SCOPED_TRACE(std::to_string(std::log10(of_matrix)) + ", " + std::to_string(std::log10(of_b)));
    expect_honest_at<real<double>, ConjugateGradient>(of_matrix, of_b);
    expect_honest_at<quaternion<double>, BiCGStab>(of_matrix, of_b);
  }
  const std::vector<std::pair<double, double>> in_single = {
      {1e-20, 1e20}, {1e20, 1e-20}, {1, 1e-30}, {1e15, 1e-15}};
  for (const auto& [of_matrix, of_b] : in_single) {
    SCOPED_TRACE(std::to_string(std::log10(of_matrix)) + ", " + std::to_string(std::log10(of_b)));
    expect_honest_at<quaternion<float>, ConjugateGradient>(of_matrix, of_b);
    expect_honest_at<real<float>, BiCGStab>(of_matrix, of_b);
  }
}

TEST_F(AccuracyOnGpu, OfAllDigits) {
  const auto check_entry = [&]<class E>(E) {
    using S = vector_scalar_t<E>;
    constexpr double epsilon = std::numeric_limits<S>::epsilon();
    Generator generator(7);
    const auto matrix = random_system<E>(333, 3, 0.1, 0, generator).matrix;
    const Field<E> b = random_vector<E>(333, generator);
    for (const double tolerance : {0.0, 1e-300}) {
      for (const char* loop : loops) {
        for (const bool jacobi : {false, true}) {
          solve_both_ways<E, ConjugateGradient>(
              matrix, b, loop, jacobi, {.tolerance = tolerance},
              [&](const auto& report, const Field<E>& x) {
                EXPECT_EQ(name(report.status), name(Status::accuracy_limit));
                EXPECT_LE(report.backward_error, 64 * epsilon);
                const auto residual = static_cast<double>(true_residual(matrix, b, x));
                EXPECT_NEAR(report.residual_norm, residual,
                            1e-6 * residual + 1e-13 * report.baseline_norm);
              });
        }
      }
    }
  };
  check_entry(real<double>());
  check_entry(quaternion<double>());
  check_entry(block<double, 3, 3>());
  check_entry(complex<float>());
}

TEST_F(AccuracyOnGpu, OfConjugateGradientNeedsAHermitianMatrix) {
  using E = quaternion<double>;
  Generator generator(5);
  const auto matrix = random_system<E>(200, 3, 0.5, 0.3, generator).matrix;
  const Field<E> b = random_vector<E>(200, generator);
  for (const char* loop : loops) {
    const Operator<E> A(matrix, parse_plan(std::string("pJDS,loop=") + loop), device);
    ConjugateGradient<double> solver(A);
    Field<E> x(200);
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_EQ(report.status, Status::not_hermitian) << report;
    EXPECT_EQ(report.iterations, 0);
  }
}

}  // namespace
}  // namespace heddle::test::accuracy_gpu
