// Whole solves in stream order: as `solve`, replayed, and as part of a caller's graph.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

// Of CUDA's run-time library, whose headers are not the tests'.
extern "C" int cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
extern "C" int cudaFreeHost(void* data);

namespace enqueue_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

/// A report in pinned memory of the host.
class PinnedReport {
 public:
  PinnedReport() {
    if constexpr (has_cuda) {
      void* data = nullptr;
      EXPECT_EQ(cudaHostAlloc(&data, sizeof(DeviceReport), 2 /* mapped */), 0);
      report_ = new (data) DeviceReport;
    }
  }
  PinnedReport(const PinnedReport&) = delete;
  PinnedReport& operator=(const PinnedReport&) = delete;
  ~PinnedReport() {
    if constexpr (has_cuda) cudaFreeHost(report_);
  }
  DeviceReport* get() const { return report_; }
  /// Once the device is done.
  DeviceReport after(const Device& device) const {
    device.synchronize();
    return *report_;
  }

 private:
  DeviceReport* report_ = nullptr;
};

template <class E>
Field<E> on_gpu(const Field<E>& field, const Device& device) {
  Field<E> there(field.size(), device);
  copy<vector_scalar_t<E>>(field.view(), there.view(), device.stream());
  device.synchronize();
  return there;
}
template <class E>
void assign(Field<E>& there, const Field<E>& field) {
  copy<vector_scalar_t<E>>(field.view(), there.view(), there.stream());
}

template <class S>
double distance(const Array<S>& a, const Array<S>& b) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = double(a[i]) - double(b[i]);
    sum += difference * difference;
    size += double(b[i]) * double(b[i]);
  }
  return std::sqrt(sum / (size > 0 ? size : 1));
}

/// Enqueued, what `solve` reports and returns: the loops are the same, and so are their bits.
template <class E, template <class> class Method>
void expect_as_solve(const CsrMatrix<E>& matrix, const std::string& plan, bool jacobi,
                     const SolverOptions& options, const Field<E>& b, const Field<E>& guess,
                     const Device& device) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(plan + (jacobi ? ", Jacobi" : ""));
  const Operator<E> A(matrix, parse_plan(plan), device);
  const auto make = [&] {
    return jacobi ? std::make_unique<Method<S>>(A, Jacobi<E>(A), options)
                  : std::make_unique<Method<S>>(A, options);
  };
  const auto solver = make();
  Field<E> expected = guess;
  const Report report = solver->solve(b.view(), expected.view());

  const auto other = make();
  const Field<E> b_there = on_gpu(b, device);
  Field<E> x = on_gpu(guess, device);
  const PinnedReport pinned;
  for (int repetition = 0; repetition < 3; ++repetition) {
    SCOPED_TRACE(repetition);
    assign(x, guess);
    other->enqueue(b_there.view(), x.view(), pinned.get());
    const DeviceReport enqueued = pinned.after(device);
    EXPECT_EQ(name(enqueued.status), name(report.status)) << report;
    EXPECT_EQ(enqueued.stored, report.stored == "float" ? StoredScalar::single : StoredScalar::own);
    EXPECT_EQ(enqueued.iterations, report.iterations);
    EXPECT_EQ(enqueued.restarts, report.restarts);
    EXPECT_FALSE(!(std::abs(enqueued.residual - report.residual) <= 1e-6 * report.residual));
    EXPECT_FALSE(
        !(std::abs(enqueued.baseline_norm - report.baseline_norm) <= 1e-12 * report.baseline_norm));
    EXPECT_FALSE(
        !(std::abs(enqueued.target_norm - report.target_norm) <= 1e-12 * report.target_norm));
    EXPECT_FALSE(
        !(std::abs(enqueued.residual_norm - report.residual_norm) <= 1e-6 * report.residual_norm));
    EXPECT_EQ(enqueued.singular_row, -1);
    EXPECT_FALSE(!(distance(x.to_host().scalars(), expected.scalars()) <= 1e-12));
    EXPECT_EQ(other->enqueued_history(), solver->history());
  }
}

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

class EnqueuedSolves : public OnGpu {
 protected:
  using E = complex<double>;
  static constexpr Index rows = 1500;
};
constexpr const char* both_loops[] = {"pJDS,T=4,loop=graph", "pJDS,T=4,loop=persistent"};

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
  // A zero row and column, met from the start: p* A p vanishes.
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
    // Nothing of these stays behind.
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
    // Other fields: captured again.
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

/// The caller's graph: new values, then the solve. Replayed with others, it solves the others.
TEST_F(EnqueuedSolves, BecomePartOfTheCallersGraph) {
  Seed seed(3115);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto first = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : {both_loops[0], both_loops[1], "C=32,schedule=dynamic,loop=graph"}) {
    for (const bool bicgstab : {false, true}) {
      if (bicgstab && std::string(plan).find("graph") == std::string::npos) continue;
      SCOPED_TRACE(std::string(plan) + (bicgstab ? ", BiCGStab" : ""));
      Operator<E> A(first, parse_plan(plan), own);
      std::unique_ptr<KrylovSolver<double>> solver;
      if (bicgstab) {
        solver = std::make_unique<BiCGStab<double>>(A, Jacobi<E>(A));
      } else {
        solver = std::make_unique<ConjugateGradient<double>>(A, Jacobi<E>(A));
      }
      Array<double> values(std::span<const double>(first.values()), own);
      Field<E> b(rows, own), x(rows, own);
      const PinnedReport report;
      const auto queue = [&] {
        A.update_values(values);
        solver->enqueue(b.view(), x.view(), report.get());
      };
      solver->prepare_enqueue(b.view(), x.view(), report.get());
      own.synchronize();
      const OwnGraph graph(stream.get(), queue);
      if (HasFailure()) return;
      EXPECT_TRUE(solver->enqueued_history().empty());
      for (int replay = 0; replay < 3; ++replay) {
        SCOPED_TRACE(replay);
        auto matrix = first;
        const double factor = 1 + replay;
        for (double& value : matrix.values()) value *= factor;
        const Field<E> new_b = random_field<E>(rows, seed.generator);
        const Field<E> guess = random_field<E>(rows, seed.generator);
        detail::copy_bytes(values.data(), matrix.values().data(), values.size() * sizeof(double),
                           own.stream());
        assign(b, new_b);
        assign(x, guess);
        graph.launch(stream.get());
        const DeviceReport found = report.after(own);
        EXPECT_EQ(found.status, Status::converged);
        EXPECT_GT(found.iterations, 0);
        // By another solver of that matrix.
        const Operator<E> B(matrix, parse_plan(plan), own);
        ConjugateGradient<double> other(B);
        Field<E> expected(rows);
        ASSERT_TRUE(other.solve(new_b.view(), expected.view()).converged());
        EXPECT_FALSE(!(distance(x.to_host().scalars(), expected.scalars()) <= 1e-8));
      }
    }
  }
}

TEST_F(EnqueuedSolves, NeedPreparationBeforeACapture) {
  Seed seed(3116);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Operator<E> A(matrix, parse_plan(both_loops[0]), own);
  ConjugateGradient<double> solver(A);
  const Field<E> b(rows, own);
  Field<E> x(rows, own), other(rows, own);
  const PinnedReport report;
  const auto kind_of = [&](Field<E>& into) {
    try {
      solver.enqueue(b.view(), into.view(), report.get());
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  own.synchronize();
  const OwnGraph first(stream.get(), [&] { EXPECT_EQ(kind_of(x), ErrorKind::usage); });
  solver.prepare_enqueue(b.view(), x.view(), report.get());
  const OwnGraph second(stream.get(), [&] {
    EXPECT_EQ(kind_of(other), ErrorKind::usage);
    solver.enqueue(b.view(), x.view(), report.get());
  });
  second.launch(stream.get());
  EXPECT_EQ(report.after(own).status, Status::converged);
}

TEST_F(EnqueuedSolves, RefuseWhatTheyCannotDo) {
  Seed seed(3117);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
  Field<E> x(rows, device);
  const PinnedReport report;
  const auto kind_of = [&](KrylovSolver<double>& solver, const Field<E>& right, DeviceReport* to) {
    try {
      solver.enqueue(right.view(), x.view(), to);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  const Operator<E> stepped(matrix, parse_plan("pJDS,loop=stepped"), device);
  ConjugateGradient<double> by_steps(stepped);
  EXPECT_EQ(kind_of(by_steps, b, report.get()), ErrorKind::unsupported);
  const Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), device);
  ConjugateGradient<double> observed(A, {.observer = [](const SolveProgress&) { return true; }});
  EXPECT_EQ(kind_of(observed, b, report.get()), ErrorKind::unsupported);
  ConjugateGradient<double> solver(A);
  EXPECT_EQ(kind_of(solver, Field<E>(rows), report.get()), ErrorKind::usage);
  DeviceReport on_host;
  EXPECT_EQ(kind_of(solver, b, &on_host), ErrorKind::usage);
  EXPECT_EQ(kind_of(solver, b, nullptr), ErrorKind::usage);
  EXPECT_EQ(kind_of(solver, Field<E>(rows - 1, device), report.get()), ErrorKind::size_mismatch);
}

TEST_F(EnqueuedSolves, SingularDiagonalsAreAStatus) {
  Seed seed(3118);
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : both_loops) {
    SCOPED_TRACE(plan);
    Operator<E> A(matrix, parse_plan(plan), device);
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), device);
    Field<E> x(rows, device);
    const PinnedReport report;
    auto singular = matrix;
    for (const Index row : {977, 311}) {
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        if (matrix.column()[i] != row) continue;
        for (int k = 0; k < E::components; ++k) singular.values()[i * E::components + k] = 0;
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

/// Minus the second difference: conjugate gradient takes as many iterations as there are rows.
CsrMatrix<real<double>> long_chain(Index rows) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<double> values;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
      columns.push_back(j);
      values.push_back(i == j ? 2 : -1);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return {rows, rows, Array<Offset>(std::span<const Offset>(offsets)),
          Array<Index>(std::span<const Index>(columns)),
          Array<double>(std::span<const double>(values))};
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
    solver.cancel();  // nothing that it could end
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
    // Where none runs, the next is cancelled, and only that.
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

constexpr const char* refining_loops[] = {
    "pJDS,T=4,stored=float,loop=graph", "C=32,inner=soa,stored=float,loop=graph,reductions=1",
    "C=16,schedule=dynamic,vector=soa,stored=float,loop=graph",
    "pJDS,T=4,stored=float,loop=persistent"};

/// Runs that read the matrix in floats, and are refined on the matrix itself.
TEST_F(EnqueuedSolves, RefineWhatACopyHasFound) {
  Seed seed(3121);
  SolverOptions options;
  options.tolerance = 1e-12;
  options.record_history = true;
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  for (const char* plan : refining_loops) {
    for (const bool jacobi : {false, true}) {
      expect_as_solve<E, ConjugateGradient>(matrix, plan, jacobi, options, b, Field<E>(rows),
                                            device);
      expect_as_solve<E, BiCGStab>(matrix, plan, jacobi, options, b,
                                   random_field<E>(rows, seed.generator), device);
    }
    for (const SolverOptions& other :
         {SolverOptions{.max_iterations = 3}, SolverOptions{.tolerance = 0.9999},
          SolverOptions{.tolerance = 0, .absolute_tolerance = 1e-6}}) {
      expect_as_solve<E, ConjugateGradient>(matrix, plan, false, other, b, Field<E>(rows), device);
    }
    if (HasFailure()) return;
  }
}

/// A chain of springs whose stiffnesses no float holds, on a ground so soft that in floats it is
/// another one.
CsrMatrix<real<double>> soft_chain(Index rows, double ground, Generator& generator) {
  std::uniform_real_distribution<double> stiffness(1, 2);
  std::vector<double> spring(static_cast<std::size_t>(rows) + 1, 0.0);
  for (Index i = 1; i < rows; ++i) spring[static_cast<std::size_t>(i)] = stiffness(generator);
  auto chain = long_chain(rows);
  for (Index i = 0; i < rows; ++i) {
    const double before = spring[static_cast<std::size_t>(i)];
    const double behind = spring[static_cast<std::size_t>(i) + 1];
    for (Offset at = chain.offsets()[i]; at < chain.offsets()[i + 1]; ++at) {
      const Index j = chain.column()[at];
      chain.values()[at] = j < i ? -before : j > i ? -behind : before + behind + ground;
    }
  }
  return chain;
}

/// Where a copy in floats fails, a loop over the matrix itself goes on.
TEST_F(EnqueuedSolves, GoOnWithTheMatrixWhereFloatsDoNotSuffice) {
  constexpr Index length = 100;
  Seed seed(3122);
  const auto matrix = soft_chain(length, 1e-8, seed.generator);
  auto negative = matrix;
  for (double& value : negative.values()) value = -value;
  const Field<real<double>> b = random_field<real<double>>(length, seed.generator);
  const Field<real<double>> b_there = on_gpu(b, device);
  const Operator<real<double>> on_cpu(matrix, Plan{});
  for (const char* plan : refining_loops) {
    for (const auto& [bicgstab, checks] : {std::pair(false, true), {true, true}, {false, false}}) {
      SCOPED_TRACE(std::string(plan) + (bicgstab ? ", BiCGStab" : "") +
                   (checks ? "" : ", unchecked"));
      const SolverOptions options{.tolerance = 1e-5, .checks = checks};
      const auto make =
          [&](const Operator<real<double>>& of) -> std::unique_ptr<KrylovSolver<double>> {
        const Jacobi<real<double>> jacobi(of);
        if (bicgstab) return std::make_unique<BiCGStab<double>>(of, jacobi, options);
        return std::make_unique<ConjugateGradient<double>>(of, jacobi, options);
      };
      const Operator<real<double>> A(matrix, parse_plan(plan), device);
      const auto solver = make(A);
      Field<real<double>> x(length, device), waited(length, device);
      const PinnedReport report;
      for (int repetition = 0; repetition < 3; ++repetition) {
        fill<double>(0.0, x.view(), device.stream());
        solver->enqueue(b_there.view(), x.view(), report.get());
        const DeviceReport found = report.after(device);
        ASSERT_EQ(name(found.status), name(Status::converged));
        EXPECT_EQ(found.stored, StoredScalar::own);
        EXPECT_GE(found.restarts, 1);
        const Field<real<double>> solution = x.to_host();
        Field<real<double>> r(length);
        Reduction<double> reduction(length);
        const double residual =
            std::sqrt(on_cpu.residual(b.view(), solution.view(), r.view(), reduction, Stream{}));
        EXPECT_FALSE(!(residual <= 1.001e-5 * norm<double>(b.view(), Stream{}))) << residual;
        // In between a solve that leaves the copy too, in its own way.
        fill<double>(0.0, waited.view(), device.stream());
        const Report of_solve = solver->solve(b_there.view(), waited.view());
        EXPECT_TRUE(of_solve.converged()) << of_solve;
        EXPECT_EQ(of_solve.stored, "own");
      }
      if (bicgstab) continue;
      const Operator<real<double>> N(negative, parse_plan(plan), device);
      ConjugateGradient<double> indefinite(N);
      fill<double>(0.0, x.view(), device.stream());
      indefinite.enqueue(b_there.view(), x.view(), report.get());
      EXPECT_EQ(report.after(device).status, Status::indefinite);
      EXPECT_EQ(report.get()->stored, StoredScalar::own);
    }
  }
}

TEST_F(EnqueuedSolves, OnACopyBecomePartOfACallersGraph) {
  Seed seed(3123);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
  for (const char* plan : refining_loops) {
    SCOPED_TRACE(plan);
    Operator<E> A(matrix, parse_plan(plan), own);
    ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-12});
    const Field<E> b = on_gpu(random_field<E>(rows, seed.generator), own);
    Field<E> x(rows, own);
    const Array<double> values(std::span<const double>(matrix.values()), own);
    const PinnedReport report;
    solver.prepare_enqueue(b.view(), x.view(), report.get());
    own.synchronize();
    const OwnGraph graph(stream.get(), [&] { solver.enqueue(b.view(), x.view(), report.get()); });
    for (int replay = 0; replay < 3; ++replay) {
      A.update_values(values);
      fill<double>(0.0, x.view(), own.stream());
      graph.launch(stream.get());
      const DeviceReport found = report.after(own);
      EXPECT_EQ(found.status, Status::converged);
      EXPECT_EQ(found.stored, StoredScalar::single);
      EXPECT_FALSE(!(found.residual <= 1e-12));
    }
    const OwnGraph refused(stream.get(), [&] {
      expect_error(ErrorKind::unsupported,
                   "new values under iteration-precision=single cannot become part of a graph: "
                   "take them before its launch, or leave it out of the plan",
                   [&] { A.update_values(values); });
    });
  }
}

/// `solve` and `enqueue` of one object, in turn.
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
