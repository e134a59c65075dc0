// Several systems with one matrix on a GPU: each solve gives the same bits as alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace side_by_side_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class SideBySideOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, block<double, 6, 6>, real<float>,
                               quaternion<float>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(SideBySideOnGpu, Entries);

template <class E>
std::vector<Field<E>> random_fields(std::size_t count, Index rows, Generator& generator) {
  std::vector<Field<E>> made;
  for (std::size_t k = 0; k < count; ++k) made.push_back(random_field<E>(rows, generator));
  return made;
}

template <class E>
void expect_each_alone(KrylovSolver<vector_scalar_t<E>>& solver, Index rows, std::size_t count,
                       Generator& generator) {
  using S = vector_scalar_t<E>;
  auto b = random_fields<E>(count, rows, generator);
  for (auto& scalar : b.front().scalars()) scalar = 0;  // ends at once
  std::vector<Field<E>> x(count, Field<E>(rows)), expected = x;
  const std::vector<FieldView<const S>> from(b.begin(), b.end());
  const std::vector<FieldView<S>> to(x.begin(), x.end());
  const auto reports = solver.solve(from, to);
  for (std::size_t k = 0; k < count; ++k) {
    SCOPED_TRACE(k);
    const Report alone = solver.solve(b[k].view(), expected[k].view());
    EXPECT_TRUE(reports[k].solved()) << reports[k];
    EXPECT_EQ(reports[k].status, alone.status);
    EXPECT_EQ(reports[k].iterations, alone.iterations);
    const auto& a = x[k].scalars();
    const auto& c = expected[k].scalars();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), c.begin()));
  }
}

TYPED_TEST(SideBySideOnGpu, HasTheBitsThatEachHasAlone) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(4311 + sizeof(E));
  for (const Index rows : {1, 33, 4001}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_positive_definite_matrix<E>(rows, std::min<Index>(rows, 7), seed.generator);
    for (const MethodInfo& method : method_table()) {
      if (method.needs_symmetric && E::ring != Ring::real) continue;
      for (const char* loop : {"stepped", "graph", "replay,launch=overlapped"}) {
        for (const char* layout :
             {"C=32,T=4,sigma=n,inner=aosoa16", "C=16,T=2,sigma=n,inner=soa,vector=soa", "CSR"}) {
          for (const bool jacobi : {false, true}) {
            const std::string plan = std::string(layout) + ",loop=" + loop;
            SCOPED_TRACE(std::string(method.name) + " under " + plan + (jacobi ? ", Jacobi" : ""));
            AnySolver solver(AnyOperator(AnyMatrix(matrix), parse_plan(plan), this->device), method,
                             jacobi ? PreconditionerKind::jacobi : PreconditionerKind::none, {});
            const std::size_t count = rows == 33 ? 8 : 3;
            expect_each_alone<E>(solver.template solver<S>(), rows, count, seed.generator);
            if (this->HasFailure()) return;
          }
        }
      }
    }
  }
}

class ManyOnGpu : public OnGpu {};

TEST_F(ManyOnGpu, AreSolvedEightAtATimeAndPreconditionedByOthersWork) {
  using E = quaternion<double>;
  Seed seed(4312);
  const auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan("C=32,sigma=n,inner=aosoa16,loop=graph"), device);
  ConjugateGradient solver(A, Neumann(A, Jacobi(A), 2));
  for (const std::size_t count : {11U, 10U, 2U}) {
    expect_each_alone<E>(solver, 2000, count, seed.generator);
  }
  EXPECT_EQ(solver.systems_at_once(11), 8U);
  EXPECT_EQ(solver.systems_at_once(2), 1U);
}

TEST_F(ManyOnGpu, InOneKernelAreSolvedOneAfterTheOther) {
  using E = quaternion<double>;
  Seed seed(4314);
  const auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan("C=32,sigma=n,loop=persistent"), device);
  ConjugateGradient solver(A, Jacobi(A));
  EXPECT_EQ(solver.systems_at_once(5), 1U);
  expect_each_alone<E>(solver, 2000, 5, seed.generator);
}

TEST_F(ManyOnGpu, ManyPartialSumsAreAddedApart) {
  using E = real<double>;
  constexpr Index rows = 600'000;
  Seed seed(4313);
  const auto matrix = random_positive_definite_matrix<E>(rows, 3, seed.generator);
  const Operator<E> A(matrix, parse_plan("C=32,loop=graph,threads=64"), device);
  ConjugateGradient solver(A);
  expect_each_alone<E>(solver, rows, 5, seed.generator);
}

}  // namespace
}  // namespace side_by_side_gpu
