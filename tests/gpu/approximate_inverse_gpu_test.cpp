// Approximate inverses on a GPU in every form of a loop; inverse_values_gpu_test.cpp tests their
// values.
#include "heddle/approximate_inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/operator.hpp"
#include "support/distance.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace approximate_inverse_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

const char* const plans[] = {"pJDS,loop=graph",
                             "Sl-32,vector=soa,inner=soa,loop=graph",
                             "K1rs,loop=replay",
                             "pJDS,loop=graph,schedule=dynamic",
                             "pJDS,loop=persistent",
                             "pJDS,loop=stepped",
                             "pJDS,loop=graph,iteration-precision=single"};

template <class E>
class ApproximateInverseOnGpu : public OnGpu {};
using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(ApproximateInverseOnGpu, Entries);

template <class E, template <class> class Method, template <class> class Inverse>
void expect_same(const Device& device, std::uint64_t number) {
  Seed seed(number);
  constexpr Index rows = 1501;
  auto matrix = random_positive_definite_matrix<E>(rows, 5, seed.generator, 0.8);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const std::string plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> on_cpu(matrix, parse_plan(plan));
    Operator<E> A(matrix, parse_plan(plan), device);
    const auto expect_solved = [&](Method<double>& solver) {
      Method<double> other(on_cpu, Inverse<double>(on_cpu, 2));
      Field<E> x(rows), expected(rows);
      const Report host = other.solve(b.view(), expected.view());
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(host.converged()) << host;
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.loop, plan.find("stepped") != plan.npos  ? "stepped"
                             : plan.find("replay") != plan.npos ? "replay"
                                                                : "graph");
      EXPECT_LE(std::abs(report.iterations - host.iterations), 2 + host.iterations / 10);
      const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
      const std::vector<double> reference(expected.scalars().begin(), expected.scalars().end());
      EXPECT_FALSE(!(distance(scalars, reference) <= 1e-8)) << distance(scalars, reference);
      return scalars;
    };
    Inverse<double> inverse(A, 2);
    Method<double> solver(A, inverse);
    const auto first = expect_solved(solver);
    EXPECT_EQ(expect_solved(solver), first);

    // New values: the solver renews the inverse in place, in memory that a graph has recorded.
    auto changed = matrix;
    for (double& value : changed.values()) value *= 2;
    A.update_values(changed);
    Field<E> halved(rows);
    const Report report = solver.solve(b.view(), halved.view());
    EXPECT_TRUE(report.converged()) << report;
    std::vector<double> twice(halved.scalars().begin(), halved.scalars().end());
    for (double& value : twice) value *= 2;
    EXPECT_FALSE(!(distance(twice, first) <= 1e-8)) << distance(twice, first);
  }
}

TYPED_TEST(ApproximateInverseOnGpu, SolvesAsOnTheCpu) {
  expect_same<TypeParam, ConjugateGradient, Fsai>(this->device, 4401);
  expect_same<TypeParam, BiCGStab, Isai>(this->device, 4402);
  expect_same<TypeParam, ConjugateGradient, BlockJacobi>(this->device, 4405);
}

TYPED_TEST(ApproximateInverseOnGpu, IsPartOfAnEnqueuedSolve) {
  using E = TypeParam;
  Seed seed(4404);
  constexpr Index rows = 800;
  const auto matrix = random_positive_definite_matrix<E>(rows, 5, seed.generator, 0.8);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), this->device);
  ConjugateGradient<double> solver(A, Fsai<double>(A));
  Field<E> x(rows);
  ASSERT_TRUE(solver.solve(b.view(), x.view()).converged());
  Field<E> right(rows, this->device), there(rows, this->device);
  copy<double>(b.view(), right.view(), this->device.stream());
  Array<DeviceReport> report(1, this->device);
  solver.enqueue(right.view(), there.view(), report.data());
  this->device.synchronize();
  EXPECT_EQ(report.to_host()[0].status, Status::converged);
  const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
  EXPECT_EQ(there.scalars().to_host(), scalars);
}

}  // namespace
}  // namespace approximate_inverse_gpu
