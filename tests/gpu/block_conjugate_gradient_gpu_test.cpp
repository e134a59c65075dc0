// Block conjugate gradients on a GPU compared with the CPU: over every ring, with Jacobi, dependent
// columns, and fields in either memory.
#include "heddle/block_conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/systems/block_systems.hpp"

namespace block_conjugate_gradient_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class BlockConjugateGradientOnGpu : public OnGpu {};

template <class E>
void expect_as_on_the_cpu(Index rows, const Device& device) {
  Generator generator(21);
  constexpr int count = 4;
  const System<E> system = random_system<E>(rows, 3, 0.05, 0, generator);
  std::vector<Field<E>> b = random_fields<E>(count - 1, rows, generator);
  b.emplace_back(b.front());
  const Operator<E> on_cpu(system.matrix, Plan{});
  BlockConjugateGradient reference(on_cpu, Jacobi(on_cpu));
  auto expected = zero_fields<E>(count, rows);
  const auto known = reference.solve(const_views_of(b), views_of(expected));
  for (const std::string plan : {"CSR", "pJDS", "K1rs"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(system.matrix, parse_plan(plan), device);
    BlockConjugateGradient solver(A, Jacobi(A));
    auto x = zero_fields<E>(count, rows), y = zero_fields<E>(count, rows, device);
    std::vector<Field<E>> there = zero_fields<E>(count, rows, device);
    for (std::size_t k = 0; k < count; ++k) {
      copy<vector_scalar_t<E>>(b[k].view(), there[k].view(), device.stream());
    }
    const auto reports = solver.solve(const_views_of(b), views_of(x));
    expect_solutions(system, b, x, reports);
    const auto again = solver.solve(const_views_of(there), views_of(y));
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_LE(std::abs(reports[k].iterations - known[k].iterations), 2);
      EXPECT_EQ(again[k].residual_norm, reports[k].residual_norm);
      EXPECT_EQ(bits_of(y[k].to_host()), bits_of(x[k]));
    }
  }
}

TEST_F(BlockConjugateGradientOnGpu, SolvesWhatTheCpuSolves) {
  expect_as_on_the_cpu<real<double>>(301, device);
  expect_as_on_the_cpu<complex<double>>(203, device);
  expect_as_on_the_cpu<quaternion<double>>(101, device);
  expect_as_on_the_cpu<block<double, 3, 3>>(67, device);
  expect_as_on_the_cpu<quaternion<float>>(101, device);
}

TEST_F(BlockConjugateGradientOnGpu, EndsOnMatricesThatAreNotDefinite) {
  using E = complex<double>;
  Generator generator(22);
  const Operator<E> A(random_hermitian_matrix<E>(60, 6, generator), Plan{}, device);
  const auto b = random_fields<E>(3, 60, generator);
  auto x = zero_fields<E>(3, 60);
  BlockConjugateGradient solver(A);
  for (const Report& report : solver.solve(const_views_of(b), views_of(x))) {
    EXPECT_EQ(report.status, Status::indefinite) << report;
  }
}

}  // namespace
}  // namespace block_conjugate_gradient_gpu
