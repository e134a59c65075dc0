// LOBPCG on a GPU compared with the CPU: over every ring, with a mass, Jacobi, and fields in either
// memory.
#include "heddle/lobpcg.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/systems/eigen_systems.hpp"

namespace lobpcg_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class LobpcgOnGpu : public OnGpu {};

template <class E>
EigenReport solve(const CsrMatrix<E>& matrix, const CsrMatrix<E>& mass, const std::string& plan,
                  std::vector<Field<E>>& x, const Device& device) {
  const Plan parsed = parse_plan(plan);
  const Operator<E> A(matrix, parsed, device);
  CsrView<E> view = mass.view();
  view.device = device;
  const Operator<E> M(view, parsed, A.row_basis());
  Lobpcg solver(A, M, Jacobi(A), {.count = static_cast<int>(x.size())});
  const auto views = views_of(x);
  return solver.solve(views);
}

template <class E>
void expect_as_on_the_cpu(Index rows, double tolerance, double rounding, const Device& device) {
  Seed seed(9200);
  constexpr int count = 3;
  const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
  const Operator<E> on_cpu(matrix, Plan{});
  auto expected = zero_fields<E>(count, rows);
  Lobpcg reference(on_cpu, {.count = count});
  const EigenReport known = reference.solve(views_of(expected));
  ASSERT_TRUE(known.converged()) << name(known.status);
  for (const std::string plan : {"CSR", "pJDS", "K1rs"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), device);
    Lobpcg solver(A, {.count = count});
    auto x = zero_fields<E>(count, rows), y = zero_fields<E>(count, rows, device);
    const EigenReport found = solver.solve(views_of(x)), there = solver.solve(views_of(y));
    ASSERT_TRUE(found.converged()) << name(found.status);
    expect_eigenpairs(expansion_of(matrix), Eigen::MatrixXd(), x, found, rounding);
    expect_eigenpairs(expansion_of(matrix), Eigen::MatrixXd(), y, there, rounding);
    EXPECT_EQ(found.eigenvalues, there.eigenvalues);
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_NEAR(found.eigenvalues[k], known.eigenvalues[k], tolerance);
    }
  }
}

TEST_F(LobpcgOnGpu, FindsWhatTheCpuFinds) {
  expect_as_on_the_cpu<real<double>>(301, 1e-10, 1e-12, device);
  expect_as_on_the_cpu<complex<double>>(203, 1e-10, 1e-12, device);
  expect_as_on_the_cpu<quaternion<double>>(101, 1e-10, 1e-12, device);
  expect_as_on_the_cpu<block<double, 3, 3>>(67, 1e-10, 1e-12, device);
  expect_as_on_the_cpu<block<complex<double>, 3, 3>>(45, 1e-10, 1e-12, device);
  expect_as_on_the_cpu<quaternion<float>>(101, 1e-4, 1e-5, device);
}

TEST_F(LobpcgOnGpu, SolvesGeneralisedProblemsWithJacobi) {
  using E = quaternion<double>;
  Seed seed(9300);
  constexpr Index rows = 150;
  const auto matrix = random_positive_definite_matrix<E>(rows, 6, seed.generator);
  const auto mass = random_positive_definite_matrix<E>(rows, 4, seed.generator);
  auto x = zero_fields<E>(4, rows), y = zero_fields<E>(4, rows, device);
  const EigenReport on_cpu = solve(matrix, mass, "pJDS", x, Device::cpu());
  const EigenReport on_gpu = solve(matrix, mass, "pJDS", y, device);
  ASSERT_TRUE(on_cpu.converged()) << name(on_cpu.status);
  ASSERT_TRUE(on_gpu.converged()) << name(on_gpu.status);
  expect_eigenpairs(expansion_of(matrix), expansion_of(mass), y, on_gpu, 1e-12);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(on_gpu.eigenvalues[k], on_cpu.eigenvalues[k], 1e-10);
  }
  auto again = zero_fields<E>(4, rows, device);
  EXPECT_EQ(solve(matrix, mass, "pJDS", again, device).eigenvalues, on_gpu.eigenvalues);
  EXPECT_EQ(bits_of(again[3].to_host()), bits_of(y[3].to_host()));
}

}  // namespace
}  // namespace lobpcg_gpu
