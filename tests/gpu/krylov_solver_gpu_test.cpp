// Solves with a GPU operator made of field operations, driven by the host or in a graph, with
// right-hand side and solution on the host or the GPU.
#include "heddle/krylov_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace krylov_solver_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

/// A = 3 I + P in a basis, where P swaps the rows of each pair: symmetric with eigenvalues 2 and 4.
template <class S>
class PairSum final : public LinearOperator<S> {
 public:
  PairSum(Index rows, int components, Ring ring, std::shared_ptr<const Basis> basis,
          const Device& device, bool is_capturable = false)
      : rows_(rows),
        components_(components),
        ring_(ring),
        basis_(std::move(basis)),
        device_(device),
        is_capturable_(is_capturable),
        swapped_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components), device) {
    Array<Index> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    for (Index i = 0; i + 1 < rows; i += 2) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i) + 1]);
    }
    swap_ = Basis::from_order(std::move(order), Device::cpu());
  }

  Index rows() const override { return rows_; }
  int row_components() const override { return components_; }
  std::shared_ptr<const Basis> row_basis() const override { return basis_; }
  Device device() const override { return device_; }
  Ring ring() const override { return ring_; }
  bool is_capturable() const override { return is_capturable_; }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    ++applications;
    FieldView<S> swapped(const_cast<S*>(swapped_.data()), rows_, components_, VectorLayout::aos,
                         swap_);
    FieldView<const S> plain = x;
    plain.basis = nullptr;
    permute<S>(plain, swapped, S(1), stream);
    swapped.basis = x.basis;
    axpby<S>(3 * alpha, x, beta, y, stream);
    axpby<S>(alpha, swapped, S(1), y, stream);
  }

  mutable int applications = 0;

 private:
  Index rows_;
  int components_;
  Ring ring_;
  std::shared_ptr<const Basis> basis_;
  Device device_;
  bool is_capturable_;
  Array<S> swapped_;
  std::shared_ptr<const Basis> swap_;
};

template <class S>
class GpuSolves : public OnGpu {
 protected:
  static constexpr Index rows = 5001;
  static constexpr int components = 4;

  /// Solves for a known solution: b and x on the host, on the GPU, and unaligned on the GPU.
  template <class Solver>
  void check(Solver& solver, const PairSum<S>& matrix, const std::vector<S>& solution) {
    const std::size_t scalars = solution.size();
    std::vector<S> b(scalars);
    const FieldView<const S> solution_view(solution.data(), rows, components);
    // b = A x, computed by the operator itself in its basis.
    Array<S> in(scalars, device), out(scalars, device);
    const FieldView<S> in_view(in.data(), rows, components, VectorLayout::aos, matrix.row_basis());
    FieldView<S> out_view = in_view;
    out_view.data = out.data();
    permute<S>(solution_view, in_view, S(1), device.stream());
    matrix.apply(S(1), in_view, S(0), out_view, device.stream());
    const FieldView<S> b_view(b.data(), rows, components);
    permute<S>(out_view, b_view, S(1), device.stream());

    const auto expect_solved = [&](const Report& report, const std::vector<S>& x) {
      EXPECT_EQ(report.status, Status::converged) << report.detail;
      EXPECT_LE(report.iterations, 4);
      EXPECT_EQ(report.loop, matrix.is_capturable() ? "graph" : "stepped");
      for (std::size_t i = 0; i < scalars; ++i) {
        ASSERT_FALSE(!(std::abs(x[i] - solution[i]) <= 1e-4)) << i;
      }
    };
    std::vector<S> x(scalars);
    expect_solved(solver.solve(b_view, {x.data(), rows, components}), x);
    for (const std::size_t shift : {0, 1}) {
      SCOPED_TRACE("shift " + std::to_string(shift));
      Array<S> on_gpu(scalars + 1, device), b_on_gpu(scalars + 1, device);
      const FieldView<S> x_there(on_gpu.data() + shift, rows, components);
      const FieldView<S> b_there(b_on_gpu.data() + shift, rows, components);
      copy<S>(b_view, b_there, device.stream());
      const Report report = solver.solve(b_there, x_there);
      std::fill(x.begin(), x.end(), S(0));
      copy<S>(x_there, {x.data(), rows, components}, device.stream());
      expect_solved(report, x);
    }
    // In the operator's basis, without a copy; the second time with the same graph, if there is
    // one.
    Report report;
    for (int repetition = 0; repetition < 2; ++repetition) {
      fill<S>(S(0), in_view, device.stream());
      matrix.applications = 0;
      report = solver.solve(out_view, in_view);
    }
    if (matrix.is_capturable()) {
      constexpr int residuals_of_guess_and_solution = 2;
      EXPECT_EQ(matrix.applications, residuals_of_guess_and_solution);
    }
    permute<S>(in_view, {x.data(), rows, components}, S(1), device.stream());
    expect_solved(report, x);
    fill<S>(S(0), in_view, device.stream());
    Array<DeviceReport> queued(1, device);
    if (!matrix.is_capturable()) {
      EXPECT_THROW(solver.enqueue(out_view, in_view, queued.data()), Error);
      return;
    }
    const std::vector<S> solved = x;
    for (int repetition = 0; repetition < 2; ++repetition) {
      fill<S>(S(0), in_view, device.stream());
      solver.enqueue(out_view, in_view, queued.data());
      permute<S>(in_view, {x.data(), rows, components}, S(1), device.stream());
      const DeviceReport of_queued = queued.to_host()[0];
      EXPECT_EQ(of_queued.status, Status::converged);
      EXPECT_EQ(of_queued.iterations, report.iterations);
      EXPECT_EQ(of_queued.restarts, report.restarts);
      const auto apart = std::mismatch(x.begin(), x.end(), solved.begin());
      EXPECT_TRUE(apart.first == x.end())
          << "repetition " << repetition << ": the first of the other bits is scalar "
          << apart.first - x.begin() << ", off by " << *apart.first - *apart.second
          << "; residuals " << of_queued.residual << " and " << report.residual;
    }
  }

  void check_all(Ring ring, std::uint64_t seed_value) {
    Seed seed(seed_value);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<S> solution(static_cast<std::size_t>(rows) * components);
    Array<Index> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), seed.generator);
    const auto random = Basis::from_order(std::move(order), Device::cpu());
    for (const auto& basis : {std::shared_ptr<const Basis>(), random}) {
      SCOPED_TRACE(basis ? "random basis" : "the user's order");
      for (S& value : solution) value = static_cast<S>(uniform(seed.generator));
      for (const bool is_capturable : {false, true}) {
        SCOPED_TRACE(is_capturable ? "in a graph" : "driven by the host");
        const PairSum<S> matrix(rows, components, ring, basis, device, is_capturable);
        {
          SCOPED_TRACE("conjugate gradient");
          ConjugateGradient<S> solver(matrix);
          check(solver, matrix, solution);
        }
        SCOPED_TRACE("BiCGStab");
        BiCGStab<S> solver(matrix);
        check(solver, matrix, solution);
      }
      if (this->HasFailure()) return;
    }
  }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GpuSolves, Scalars);

TYPED_TEST(GpuSolves, OverRealNumbers) { this->check_all(Ring::real, 661); }
TYPED_TEST(GpuSolves, OverComplexNumbers) { this->check_all(Ring::complex, 662); }
TYPED_TEST(GpuSolves, OverQuaternions) { this->check_all(Ring::quaternion, 663); }

TYPED_TEST(GpuSolves, ScaleWhatIsTiny) {
  using S = TypeParam;
  const S tiny = static_cast<S>(std::is_same_v<S, float> ? 1e-30 : 1e-250);
  const PairSum<S> matrix(100, 1, Ring::real, nullptr, this->device);
  ConjugateGradient<S> solver(matrix);
  std::vector<S> b(100, tiny), x(100);
  const Report report = solver.solve({b.data(), 100}, {x.data(), 100});
  EXPECT_EQ(report.status, Status::converged);
  for (const S value : x) ASSERT_FALSE(!(std::abs(value / tiny - S(0.25)) <= S(1e-5)));
}

}  // namespace
}  // namespace krylov_solver_gpu
