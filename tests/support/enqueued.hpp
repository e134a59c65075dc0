// Helpers shared by tests of enqueued solves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"
#include "solvers/stopping/report_text.hpp"
#include "support/gpu.hpp"

// Functions of CUDA's run-time library, whose headers the tests do not have.
extern "C" int cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
extern "C" int cudaFreeHost(void* data);

namespace heddle::test {

/// A report in pinned host memory.
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
  /// The report after the device has finished.
  DeviceReport after(const Device& device) const {
    device.synchronize();
    return *report_;
  }

 private:
  DeviceReport* report_ = nullptr;
};

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

/// An enqueued solve reports and returns the same as `solve`: the loops are the same, and so are
/// the bits.
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
    EXPECT_EQ(detail::text_of_copy(enqueued.stored), report.stored);
    EXPECT_EQ(enqueued.iterations, report.iterations);
    EXPECT_EQ(enqueued.restarts, report.restarts);
    EXPECT_EQ(name(enqueued.returned), name(report.returned));
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

/// Solves of 1500 complex rows, in both forms of a loop that a graph can hold.
class EnqueuedOnGpu : public OnGpu {
 protected:
  using E = complex<double>;
  static constexpr Index rows = 1500;
};
constexpr const char* both_loops[] = {"pJDS,T=4,loop=graph", "pJDS,T=4,loop=persistent"};

/// Minus the second difference: conjugate gradient takes one iteration per row.
inline CsrMatrix<real<double>> long_chain(Index rows) {
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

}  // namespace heddle::test
