// Every method on a GPU, in every form of the loop, compared with the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"

namespace methods_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class SolveOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, block<complex<double>, 3, 3>, real<float>,
                               quaternion<float>, block<float, 3, 3>>;
TYPED_TEST_SUITE(SolveOnGpu, Entries);

const char* const loops[] = {"loop=stepped",
                             "loop=graph",
                             "loop=graph,reductions=1",
                             "loop=graph,passes=1",
                             "loop=graph,launch=overlapped",
                             "loop=replay,launch=overlapped,reductions=1",
                             "loop=persistent"};
const char* const layouts[] = {"C=32,T=4,sigma=n,inner=aosoa16", "C=32,T=1,sigma=64", "C=1",
                               "C=16,T=2,sigma=n,inner=soa,vector=soa", "K2rs"};

template <class E>
void expect_solves_as_on_the_cpu(const MethodInfo& method, const CsrMatrix<E>& matrix,
                                 const std::string& text, bool jacobi, const Device& device,
                                 Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(std::string(method.name) + ", " + text + (jacobi ? ", Jacobi" : ""));
  const Plan plan = parse_plan(text);
  const Field<E> b = random_field<E>(matrix.rows(), generator);
  const auto solve = [&](const Device& on, Field<E>& x) {
    SolverOptions options;
    options.record_history = true;
    AnySolver solver(AnyOperator(AnyMatrix(matrix), plan, on), method,
                     jacobi ? PreconditionerKind::jacobi : PreconditionerKind::none, options);
    const Report report = solver.solver<S>().solve(b.view(), x.view());
    EXPECT_EQ(static_cast<long long>(solver.history().size()), report.iterations + 1);
    return report;
  };
  Field<E> expected(matrix.rows()), x(matrix.rows());
  const Report on_cpu = solve(Device::cpu(), expected);
  const Report on_gpu = solve(device, x);
  ASSERT_TRUE(on_cpu.converged()) << on_cpu;
  ASSERT_TRUE(on_gpu.converged()) << on_gpu;
  // Allow one iteration, or a tenth, for another order of sums; residuals jump in methods that do
  // not minimise them.
  const bool jumps = !method.needs_hermitian;
  EXPECT_LE(std::abs(on_gpu.iterations - on_cpu.iterations),
            std::max<long long>(jumps ? 3 : 1, on_cpu.iterations / (jumps ? 4 : 10)));
  // The matrix is diagonally dominant: its inverse has norm 1 or less, see the generator.
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    const double difference = double(x.scalars()[i]) - double(expected.scalars()[i]);
    error += difference * difference;
    size += double(expected.scalars()[i]) * double(expected.scalars()[i]);
  }
  EXPECT_FALSE(!(std::sqrt(error) <=
                 100 * (on_cpu.residual_norm + on_gpu.residual_norm) + 1e-14 * std::sqrt(size)))
      << std::sqrt(error);
}

TYPED_TEST(SolveOnGpu, AsOnTheCpu) {
  Seed seed(2601 + sizeof(TypeParam));
  for (const Index rows : {1, 33, 700, 4001}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_positive_definite_matrix<TypeParam>(rows, std::min<Index>(rows, 7), seed.generator);
    for (const MethodInfo& method : method_table()) {
      if (method.needs_symmetric && TypeParam::ring != Ring::real) continue;
      for (const char* loop : loops) {
        for (const char* layout : layouts) {
          // The other layouts share conjugate gradient's products.
          if (!method.needs_positive && layout != layouts[0] && layout != layouts[3]) continue;
          const std::string text = std::string(layout) + "," + loop;
          for (const bool jacobi : {false, true}) {
            expect_solves_as_on_the_cpu(method, matrix, text, jacobi, this->device, seed.generator);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(SolveOnGpu, BiCGStabAsOnTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2602 + sizeof(E));
  const auto matrix = random_positive_definite_matrix<E>(900, 7, seed.generator);
  const Field<E> b = random_field<E>(900, seed.generator);
  for (const char* loop : loops) {
    for (const char* recurrence : {"recurrence=ring", "recurrence=real"}) {
      const Operator<E> A(matrix, parse_plan(std::string("pJDS,") + loop + "," + recurrence),
                          this->device);
      for (const bool jacobi : {false, true}) {
        SCOPED_TRACE(std::string(loop) + recurrence + (jacobi ? ", Jacobi" : ""));
        BiCGStab<S> solver = jacobi ? BiCGStab<S>(A, Jacobi<E>(A)) : BiCGStab<S>(A);
        Field<E> x(900);
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
      }
    }
  }
}

template <class E>
class SolveComplexSymmetricOnGpu : public OnGpu {};
using ComplexEntries =
    testing::Types<complex<double>, block<complex<double>, 3, 3>, complex<float>>;
TYPED_TEST_SUITE(SolveComplexSymmetricOnGpu, ComplexEntries);

TYPED_TEST(SolveComplexSymmetricOnGpu, AsOnTheCpu) {
  Seed seed(2610 + sizeof(TypeParam));
  for (const Index rows : {1, 33, 4001}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_complex_symmetric_matrix<TypeParam>(rows, std::min<Index>(rows, 7), seed.generator);
    for (const char* method : {"cocg", "cocr"}) {
      for (const char* loop : {"stepped", "graph", "replay,launch=overlapped", "persistent"}) {
        for (const char* layout : {layouts[0], layouts[3]}) {
          for (const bool jacobi : {false, true}) {
            expect_solves_as_on_the_cpu(find_method(method), matrix,
                                        std::string(layout) + ",loop=" + loop, jacobi, this->device,
                                        seed.generator);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

class LoopsOnGpu : public OnGpu {};

TEST_F(LoopsOnGpu, BitsRepeat) {
  using E = quaternion<double>;
  Seed seed(2603);
  const auto matrix = random_positive_definite_matrix<E>(3001, 7, seed.generator);
  const Field<E> b = random_field<E>(3001, seed.generator);
  for (const char* loop : loops) {
    SCOPED_TRACE(loop);
    const Operator<E> A(matrix, parse_plan(std::string("pJDS,T=4,") + loop), device);
    ConjugateGradient<double> solver(A);
    std::vector<double> first;
    for (int repetition = 0; repetition < 5; ++repetition) {
      Field<E> x(3001);
      const Report report = solver.solve(b.view(), x.view());
      ASSERT_TRUE(report.converged()) << report;
      const std::vector<double> scalars(x.scalars().begin(), x.scalars().end());
      if (first.empty()) first = scalars;
      EXPECT_EQ(scalars, first);
    }
  }
}

TEST_F(LoopsOnGpu, ManyPartialSumsAreAddedApartToTheSameBits) {
  using E = real<double>;
  constexpr Index rows = 600'000;  // blocks of 64 leave more than a block of the next kernel adds
  Seed seed(2605);
  const auto matrix = random_positive_definite_matrix<E>(rows, 3, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* reductions : {",reductions=2", ",reductions=1", ",passes=1"}) {
    SCOPED_TRACE(reductions);
    std::vector<double> first;
    for (const char* threads : {"256", "64", "192", "384", "768", "1024"}) {
      const Operator<E> A(
          matrix, parse_plan(std::string("C=32,loop=graph,threads=") + threads + reductions),
          device);
      SolverOptions options;
      options.record_history = true;
      ConjugateGradient<double> solver(A, options);
      Field<E> x(rows);
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(report.converged()) << report;
      if (first.empty()) first = solver.history();
      EXPECT_EQ(solver.history(), first) << threads;
    }
  }
}

TEST_F(LoopsOnGpu, EndForEveryReason) {
  using E = complex<double>;
  Seed seed(2604);
  auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const Field<E> b = random_field<E>(2000, seed.generator);
  for (const char* loop : loops) {
    SCOPED_TRACE(loop);
    const Plan plan = parse_plan(std::string("pJDS,") + loop);
    const Operator<E> A(matrix, plan, device);
    const auto status = [&](const Operator<E>& of, SolverOptions options) {
      ConjugateGradient<double> solver(of, std::move(options));
      Field<E> x(2000);
      return solver.solve(b.view(), x.view()).status;
    };
    EXPECT_EQ(status(A, {.max_iterations = 3}), Status::iteration_limit);
    EXPECT_EQ(status(A, {.tolerance = 0, .time_limit = 0}), Status::time_limit);
    for (const double tolerance : {0.0, 1e-300}) {
      EXPECT_EQ(status(A, {.tolerance = tolerance}), Status::accuracy_limit);
    }
    auto negative = matrix;
    for (auto& value : negative.values()) value = -value;
    EXPECT_EQ(status(Operator<E>(negative, plan, device), {}), Status::indefinite);
    auto not_finite = matrix;
    not_finite.values()[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(status(Operator<E>(not_finite, plan, device), {}), Status::not_finite);
  }
}

}  // namespace
}  // namespace methods_gpu
