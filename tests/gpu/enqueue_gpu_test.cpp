// Whole solves in stream order: equal to `solve`, replayed, and part of a caller's graph.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "support/enqueued.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace enqueue_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

constexpr const char* graph_plans[] = {"C=32,T=4,sigma=n,inner=aosoa16,loop=graph",
                                       "C=16,T=2,sigma=n,inner=soa,vector=soa,loop=graph",
                                       "C=32,schedule=dynamic,loop=graph,launch=overlapped",
                                       "CSR,loop=replay,launch=overlapped,reductions=1"};
constexpr const char* persistent_plans[] = {"C=32,T=4,sigma=n,inner=aosoa16,loop=persistent",
                                            "C=1,loop=persistent"};

template <class E>
class EnqueueOnGpu : public OnGpu {};
using Entries =
    testing::Types<complex<double>, quaternion<double>, block<double, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(EnqueueOnGpu, Entries);

TYPED_TEST(EnqueueOnGpu, SolvesAsSolve) {
  using E = TypeParam;
  Seed seed(3101 + sizeof(E));
  SolverOptions options;
  options.record_history = true;
  for (const Index rows : {1, 37, 2001}) {
    SCOPED_TRACE(rows);
    const auto matrix =
        random_positive_definite_matrix<E>(rows, std::min<Index>(rows, 7), seed.generator);
    const Field<E> b = random_field<E>(rows, seed.generator);
    const Field<E> guess = rows == 37 ? random_field<E>(rows, seed.generator) : Field<E>(rows);
    for (const bool jacobi : {false, true}) {
      for (const char* plan : graph_plans) {
        expect_as_solve<E, ConjugateGradient>(matrix, plan, jacobi, options, b, guess,
                                              this->device);
        expect_as_solve<E, BiCGStab>(matrix, plan, jacobi, options, b, guess, this->device);
        expect_as_solve<E, Minres>(matrix, plan, jacobi, options, b, guess, this->device);
        expect_as_solve<E, Gmres>(matrix, plan, jacobi, options, b, guess, this->device);
        if (this->HasFailure()) return;
      }
      for (const char* plan : persistent_plans) {
        expect_as_solve<E, ConjugateGradient>(matrix, plan, jacobi, options, b, guess,
                                              this->device);
        if (this->HasFailure()) return;
      }
    }
  }
}

using EnqueuedSolves = EnqueuedOnGpu;

TEST_F(EnqueuedSolves, EndForEveryReason) {
  Seed seed(3111);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const Field<E> guess = random_field<E>(rows, seed.generator);
  auto negative = matrix;
  for (auto& value : negative.values()) value = -value;
  auto not_finite = matrix;
  not_finite.values()[7] = std::numeric_limits<double>::quiet_NaN();
  for (const char* plan : both_loops) {
    const auto check = [&](const CsrMatrix<E>& of, const SolverOptions& options) {
      for (const bool from_zero : {true, false}) {
        expect_as_solve<E, ConjugateGradient>(of, plan, false, options, b,
                                              from_zero ? Field<E>(rows) : guess, device);
      }
    };
    check(matrix, {.max_iterations = 0});
    check(matrix, {.max_iterations = 3});
    check(matrix, {.tolerance = 1e-300});  // restarts, then stagnates
    check(matrix, {.tolerance = 0.9999});
    check(matrix, {.tolerance = 1e-9, .baseline = Baseline::initial_residual});
    check(matrix, {.tolerance = 0, .absolute_tolerance = 1e-6});
    check(negative, {});
  }
  for (const char* plan : both_loops) {
    const Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, {.tolerance = 0, .time_limit = 0});
    const Field<E> b_there = on_gpu(b, device);
    Field<E> x(rows, device);
    const PinnedReport report;
    solver.enqueue(b_there.view(), x.view(), report.get());
    EXPECT_EQ(report.after(device).status, Status::time_limit);
    const Operator<E> N(not_finite, parse_plan(plan), device);
    ConjugateGradient<double> lost(N);
    lost.enqueue(b_there.view(), x.view(), report.get());
    EXPECT_EQ(report.after(device).status, Status::not_finite);
  }
}

TEST_F(EnqueuedSolves, SingularMatricesBreakDownAsInSolve) {
  // A zero row and column from the start: p* A p vanishes.
  auto matrix = CsrMatrix<real<double>>(
      2, 2, Array<Offset>(std::span<const Offset>(std::vector<Offset>{0, 1, 2})),
      Array<Index>(std::span<const Index>(std::vector<Index>{0, 1})),
      Array<double>(std::span<const double>(std::vector<double>{1, 0})));
  Field<real<double>> b(2);
  b.scalars()[1] = 1;
  for (const char* plan : both_loops) {
    expect_as_solve<real<double>, ConjugateGradient>(matrix, plan, false, {}, b,
                                                     Field<real<double>>(2), device);
  }
  expect_as_solve<real<double>, BiCGStab>(matrix, both_loops[0], false, {}, b,
                                          Field<real<double>>(2), device);
}

TEST_F(EnqueuedSolves, RightHandSidesOfEverySize) {
  Seed seed(3112);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    const PinnedReport report;
    const Field<E> b = random_field<E>(rows, seed.generator);
    Field<E> b_there(rows, device), x(rows, device);
    const auto status_of = [&](double factor, double guess) {
      Field<E> scaled = b, from(rows);
      for (double& value : scaled.scalars()) value *= factor;
      for (double& value : from.scalars()) value = guess;
      assign(b_there, scaled);
      assign(x, from);
      solver.enqueue(b_there.view(), x.view(), report.get());
      return report.after(device).status;
    };
    EXPECT_EQ(status_of(1, 0), Status::converged);
    const Array<double> solution = x.to_host().scalars();
    for (const double factor : {1e-250, 1e250}) {
      SCOPED_TRACE(factor);
      ASSERT_EQ(status_of(factor, factor), Status::converged);
      Array<double> found = x.to_host().scalars();
      for (double& value : found) value /= factor;
      EXPECT_FALSE(!(distance(found, solution) <= 1e-8));
      EXPECT_FALSE(!(report.get()->residual <= 1e-10));
      // The residual has the caller's scale.
      Array<double> r(x.scalars().size(), device);
      detail::copy_bytes(r.data(), solver.residual().data, r.size() * sizeof(double),
                         device.stream());
      double sum = 0;
      for (const double value : r.to_host()) sum += value / factor * (value / factor);
      EXPECT_NEAR(std::sqrt(sum) * factor, report.get()->residual_norm,
                  1e-6 * report.get()->residual_norm);
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double guess : {0.0, 5.0, nan}) {
      ASSERT_EQ(status_of(0, guess), Status::converged);
      EXPECT_EQ(report.get()->iterations, 0);
      EXPECT_EQ(report.get()->residual_norm, 0);
      const Field<E> zero = x.to_host();
      for (const double value : zero.scalars()) ASSERT_EQ(value, 0);
    }
    for (const double factor : {nan, std::numeric_limits<double>::infinity()}) {
      ASSERT_EQ(status_of(factor, 5), Status::not_finite);
      EXPECT_TRUE(std::isnan(report.get()->residual));
      const Field<E> untouched = x.to_host();
      for (const double value : untouched.scalars()) ASSERT_EQ(value, 5);
    }
    EXPECT_EQ(status_of(1, nan), Status::not_finite);
    // Earlier right-hand sides and guesses have no effect afterwards.
    ASSERT_EQ(status_of(1, 0), Status::converged);
    EXPECT_EQ(distance(x.to_host().scalars(), solution), 0);
  }
}

TEST_F(EnqueuedSolves, FieldsInTheOperatorsBasisStayWhereTheyAre) {
  Seed seed(3113);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A);
    Field<E> in_basis = A.field(), x_in_basis = A.field();
    const Field<E> b_there = on_gpu(b, device);
    permute<double>(b_there.view(), in_basis.view(), 1.0, device.stream());
    Field<E> x(rows, device), again(rows, device);
    const PinnedReport report;
    solver.enqueue(b_there.view(), x.view(), report.get());
    EXPECT_EQ(report.after(device).status, Status::converged);
    // The fields are others: the graph is captured again.
    solver.enqueue(in_basis.view(), x_in_basis.view(), report.get());
    EXPECT_EQ(report.after(device).status, Status::converged);
    permute<double>(x_in_basis.view(), again.view(), 1.0, device.stream());
    EXPECT_EQ(distance(again.to_host().scalars(), x.to_host().scalars()), 0);
  }
}

TEST_F(EnqueuedSolves, ReportsMayLieOnTheGpu) {
  Seed seed(3114);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan(both_loops[0]), device);
  ConjugateGradient<double> solver(A);
  const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
  Field<E> x(rows, device);
  Array<DeviceReport> report(1, device);
  solver.enqueue(b.view(), x.view(), report.data());
  EXPECT_EQ(report.to_host()[0].status, Status::converged);
  EXPECT_GT(report.to_host()[0].iterations, 0);
}

TEST_F(EnqueuedSolves, ImpossiblePreconditionersAreAStatus) {
  Seed seed(3118);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, Fsai<double>(A));
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
    Field<E> x(rows, device);
    const PinnedReport report;
    auto singular = matrix;
    for (const Index row : {977, 311}) {
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        if (matrix.column()[i] != row) continue;
        for (int k = 0; k < E::components; ++k) singular.values()[i * E::components + k] *= -1;
      }
    }
    A.update_values(singular);
    solver.enqueue(b.view(), x.view(), report.get());
    DeviceReport found = report.after(device);
    EXPECT_EQ(found.status, Status::breakdown);
    EXPECT_EQ(found.singular_row, 311);
    EXPECT_EQ(found.iterations, 0);
    EXPECT_FALSE(!(std::abs(found.residual - 1) <= 1e-12));
    A.update_values(matrix);
    solver.enqueue(b.view(), x.view(), report.get());
    found = report.after(device);
    EXPECT_EQ(found.status, Status::converged);
    EXPECT_EQ(found.singular_row, -1);
  }
}

TEST_F(EnqueuedSolves, AreCancelledFromOutside) {
  constexpr Index length = 30000;
  const auto matrix = long_chain(length);
  Field<real<double>> one(length);
  for (double& value : one.scalars()) value = 1;
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    const Operator<real<double>> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, {.max_iterations = 1000000});
    const auto b = on_gpu(one, device);
    Field<real<double>> x(length, device);
    const PinnedReport report;
    solver.cancel();  // there is no solve to end yet
    solver.prepare_enqueue(b.view(), x.view(), report.get());
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      solver.cancel();
    });
    solver.enqueue(b.view(), x.view(), report.get());
    other.join();
    DeviceReport found = report.after(device);
    EXPECT_EQ(found.status, Status::cancelled);
    EXPECT_LT(found.iterations, length);
    // If no solve is running, the next one is cancelled, and only that one.
    solver.cancel();
    solver.enqueue(b.view(), x.view(), report.get());
    found = report.after(device);
    EXPECT_EQ(found.status, Status::cancelled);
    EXPECT_EQ(found.iterations, 0);
    solver.set_options({.max_iterations = 20});
    solver.enqueue(b.view(), x.view(), report.get());
    found = report.after(device);
    EXPECT_EQ(found.status, Status::iteration_limit);
    EXPECT_EQ(found.iterations, 20);
  }
}

class CountingMemory final : public std::pmr::memory_resource {
 public:
  explicit CountingMemory(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
  int allocations = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    ++allocations;
    return upstream_->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    upstream_->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  std::pmr::memory_resource* upstream_;
};

TEST_F(EnqueuedSolves, AllocateNothingAfterTheFirst) {
  Seed seed(3119);
  CountingMemory memory(device.memory());
  const Device counted = Device::cuda(0, device.stream().queue, &memory);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    Operator<E> A(matrix, parse_plan(plan), counted);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), counted);
    const Array<double> values(std::span<const double>(matrix.values()), counted);
    Field<E> x(rows, counted);
    const PinnedReport report;
    solver.prepare_enqueue(b.view(), x.view(), report.get());
    const int before = memory.allocations;
    for (int repetition = 0; repetition < 4; ++repetition) {
      A.update_values(values);
      solver.enqueue(b.view(), x.view(), report.get());
    }
    EXPECT_EQ(report.after(counted).status, Status::converged);
    EXPECT_EQ(memory.allocations, before);
  }
}

/// `solve` and `enqueue` of one object, in turns.
TEST_F(EnqueuedSolves, MixWithSolve) {
  Seed seed(3120);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
    Field<E> x(rows, device), y(rows, device);
    const PinnedReport report;
    for (int repetition = 0; repetition < 3; ++repetition) {
      fill<double>(0.0, x.view(), device.stream());
      fill<double>(0.0, y.view(), device.stream());
      solver.enqueue(b.view(), x.view(), report.get());
      const Report waited = solver.solve(b.view(), y.view());
      EXPECT_TRUE(waited.converged()) << waited;
      EXPECT_EQ(report.get()->status, Status::converged);
      EXPECT_EQ(report.get()->iterations, waited.iterations);
      EXPECT_FALSE(!(distance(x.to_host().scalars(), y.to_host().scalars()) <= 1e-12));
    }
  }
}

}  // namespace
}  // namespace enqueue_gpu
