// Solves on a GPU whose iterations read the matrix in floats, in every form of the loop, compared
// with the CPU in double.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/refined_solver.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/in_floats.hpp"
#include "support/random_matrix.hpp"

namespace stored_float_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class StoredFloatOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(StoredFloatOnGpu, Entries);

const char* const loops[] = {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"};
const char* const layouts[] = {"C=32,T=4,sigma=n,inner=aosoa16", "C=1",
                               "C=16,T=2,sigma=n,inner=soa,vector=soa", "K2rs,inner=aosoa"};

template <class S>
double norm_of(std::span<const S> scalars) {
  double sum = 0;
  for (const S value : scalars) sum += double(value) * double(value);
  return std::sqrt(sum);
}

/// Solves under `plan` on the GPU to a residual that no float reaches.
template <class Solver, class E>
void expect_solved(Operator<E>& A, bool jacobi, const char* loop, const Field<E>& b,
                   const Field<E>& expected) {
  const SolverOptions options{.tolerance = 1e-12};
  Solver solver = jacobi ? Solver(A, Jacobi<E>(A), options) : Solver(A, options);
  Field<E> x(b.size());
  const Report report = solver.solve(b.view(), x.view());
  ASSERT_TRUE(report.converged()) << report;
  EXPECT_EQ(report.stored, "float");
  EXPECT_EQ(report.loop, loop);
  EXPECT_GE(report.restarts, 1);
  std::vector<double> apart(x.scalars().size());
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] = x.scalars()[i] - expected.scalars()[i];
  // The matrix is diagonally dominant: its inverse has norm 1 or less, see the generator.
  const double allowed = 2.1e-12 * norm_of<double>(b.scalars());
  EXPECT_FALSE(!(norm_of<double>(apart) <= allowed)) << norm_of<double>(apart);
}

TYPED_TEST(StoredFloatOnGpu, EveryLoopReachesTheResidualOfDouble) {
  using E = TypeParam;
  Seed seed(2701 + sizeof(E));
  for (const Index rows : {33, 4001}) {
    SCOPED_TRACE(rows);
    const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
    const Field<E> b = random_field<E>(rows, seed.generator);
    Field<E> expected(rows);
    const Operator<E> on_cpu(matrix, Plan{});
    const Report in_double =
        ConjugateGradient<double>(on_cpu, {.tolerance = 1e-13}).solve(b.view(), expected.view());
    ASSERT_LE(in_double.residual, 1e-12) << in_double;
    for (const char* loop : loops) {
      for (const char* layout : layouts) {
        const std::string text = std::string(layout) + ",stored=float," + loop;
        Operator<E> A(matrix, parse_plan(text), this->device);
        for (const bool jacobi : {false, true}) {
          SCOPED_TRACE(text + (jacobi ? ", Jacobi" : ""));
          const char* form = loop + std::string_view("loop=").size();
          expect_solved<ConjugateGradient<double>>(A, jacobi, form, b, expected);
          expect_solved<BiCGStab<double>>(A, jacobi, form, b, expected);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

/// The floats and their places match the CPU's, for values from the host and from the GPU.
TYPED_TEST(StoredFloatOnGpu, ProductsAreThoseOfTheCpu) {
  using E = TypeParam;
  Seed seed(2702 + sizeof(E));
  auto matrix = random_positive_definite_matrix<E>(1003, 9, seed.generator);
  const Field<E> users_x = random_field<E>(1003, seed.generator);
  for (const char* layout : layouts) {
    SCOPED_TRACE(layout);
    const Plan plan = parse_plan(std::string(layout) + ",stored=float");
    Operator<E> on_cpu(matrix, plan), on_gpu(matrix, plan, this->device);
    const auto image = [&](const LinearOperator<double>& of) {
      const Device& device = of.device();
      const Stream stream = device.stream();
      Field<E> x(1003, device, of.vector_layout(), of.column_basis());
      Field<E> y(1003, device, of.vector_layout(), of.row_basis()), users_y(1003);
      permute<double>(users_x.view(), x.view(), 1, stream);
      of.apply(1, x.view(), 0, y.view(), stream);
      permute<double>(y.view(), users_y.view(), 1, stream);
      device.synchronize();
      return std::vector<double>(users_y.scalars().begin(), users_y.scalars().end());
    };
    const auto expect_same = [&](const char* how) {
      SCOPED_TRACE(how);
      const auto narrow = image(on_cpu.iterated()), narrow_on_gpu = image(on_gpu.iterated());
      const auto own = image(on_cpu), own_on_gpu = image(on_gpu);
      double between_copies = 0;
      constexpr double rounding = 1e-11;  // about a hundred terms that add up to about a hundred
      for (std::size_t i = 0; i < own.size(); ++i) {
        ASSERT_FALSE(!(std::abs(narrow[i] - narrow_on_gpu[i]) <= rounding)) << i;
        ASSERT_FALSE(!(std::abs(own[i] - own_on_gpu[i]) <= rounding)) << i;
        between_copies = std::max(between_copies, std::abs(own[i] - narrow[i]));
      }
      EXPECT_GT(between_copies, 1e-9);
    };
    expect_same("as built");
    for (double& value : matrix.values()) value *= 1.1;
    on_cpu.update_values(matrix);
    on_gpu.update_values(matrix);
    expect_same("from the host");
    for (double& value : matrix.values()) value /= 1.3;
    on_cpu.update_values(matrix);
    const Array<double> there(std::span<const double>(matrix.values()), this->device);
    on_gpu.update_values(there);
    expect_same("from the GPU");
  }
}

const char* const sixteen_bits[] = {"half", "bfloat", "scaled"};

/// The words of a copy match the CPU's in every layout, and so do its products except for the order
/// of sums; each loop solves on one of them.
TYPED_TEST(StoredFloatOnGpu, SixteenBitsAreThoseOfTheCpuAndReachTheResidualOfDouble) {
  using E = TypeParam;
  Seed seed(2706 + sizeof(E));
  constexpr Index rows = 1003;
  auto matrix = random_positive_definite_matrix<E>(rows, 9, seed.generator);
  for (double& value : matrix.values()) value *= 1e9;  // beyond the range of half precision
  const Field<E> users_x = random_field<E>(rows, seed.generator);
  const Field<E> b = random_field<E>(rows, seed.generator);
  const auto words = [](const Operator<E>& A) {
    const auto& copy = A.iterated();
    std::vector<CodeWord> all(static_cast<std::size_t>(A.pattern().slots * E::components + 1));
    detail::copy_bytes(all.data(), copy.stored_values().data(), all.size() * sizeof(CodeWord),
                       A.device().stream());
    return all;
  };
  const auto image = [&](const LinearOperator<double>& of) {
    const Device& device = of.device();
    Field<E> x(rows, device, of.vector_layout(), of.column_basis());
    Field<E> y(rows, device, of.vector_layout(), of.row_basis()), users_y(rows);
    permute<double>(users_x.view(), x.view(), 1, device.stream());
    of.apply(1, x.view(), 0, y.view(), device.stream());
    permute<double>(y.view(), users_y.view(), 1, device.stream());
    device.synchronize();
    return std::vector<double>(users_y.scalars().begin(), users_y.scalars().end());
  };
  int turn = 0;
  for (const char* layout : layouts) {
    for (const char* kept : sixteen_bits) {
      const Plan plan = parse_plan(std::string(layout) + ",iteration-precision=" + kept);
      SCOPED_TRACE(to_string(plan));
      Operator<E> on_cpu(matrix, plan), on_gpu(matrix, plan, this->device);
      ASSERT_EQ(words(on_cpu), words(on_gpu));
      for (double& value : matrix.values()) value *= -1.7;
      on_cpu.update_values(matrix);
      on_gpu.update_values(matrix);
      ASSERT_EQ(words(on_cpu), words(on_gpu));
      for (double& value : matrix.values()) value /= -1.7;
      if (turn++ % 3 != 0) continue;  // the rest compiles kernels
      const auto expected = image(on_cpu.iterated()), found = image(on_gpu.iterated());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_FALSE(!(std::abs(expected[i] - found[i]) <= 1e-11 * 1.7e9)) << i;
      }
    }
  }
  for (const char* loop : loops) {
    const std::string text = std::string(layouts[turn % 4]) +
                             ",iteration-precision=" + sixteen_bits[turn % 3] + "," + loop;
    ++turn;
    SCOPED_TRACE(text);
    const Operator<E> A(matrix, parse_plan(text), this->device);
    Field<E> x(rows);
    ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-12});
    const Report report = solver.solve(b.view(), x.view());
    ASSERT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.stored, sixteen_bits[(turn - 1) % 3]) << report;
    const Operator<E> exact(matrix, Plan{});
    Field<E> r(rows);
    exact.apply(1, x.view(), 0, r.view(), Stream{});
    for (std::size_t i = 0; i < r.scalars().size(); ++i) r.scalars()[i] -= b.scalars()[i];
    EXPECT_FALSE(!(norm_of<double>(r.scalars()) <= 1.1e-12 * norm_of<double>(b.scalars())));
  }
}

class StoredFloatEndsOnGpu : public OnGpu {};

TEST_F(StoredFloatEndsOnGpu, RefusesWhatNoFloatHolds) {
  using E = block<double, 3, 3>;
  Seed seed(2703);
  const auto matrix = random_positive_definite_matrix<E>(700, 7, seed.generator);
  const auto refusal = [](const CsrMatrix<E>& of, const Plan& plan, const Device& on) {
    try {
      const Operator<E> A(of, plan, on);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* layout : layouts) {
    SCOPED_TRACE(layout);
    const Plan plan = parse_plan(std::string(layout) + ",stored=float");
    auto wide = matrix, tiny = matrix;
    wide.values()[9 * 1234 + 5] = 1e300;
    for (double& value : tiny.values()) value = 0;
    tiny.values()[9 * 432 + 7] = -1e-300;
    for (const auto* bad : {&wide, &tiny}) {
      const std::string expected = refusal(*bad, plan, Device::cpu());
      EXPECT_NE(expected, "");
      EXPECT_EQ(refusal(*bad, plan, device), expected);
    }
    EXPECT_EQ(refusal(matrix, plan, device), "");
  }
}

TEST_F(StoredFloatEndsOnGpu, QueuesNothingOnAStreamThatIsBeingCaptured) {
  using E = quaternion<double>;
  Seed seed(2705);
  auto matrix = random_positive_definite_matrix<E>(700, 7, seed.generator);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  for (const char* layout : layouts) {
    SCOPED_TRACE(layout);
    Operator<E> A(matrix, parse_plan(std::string(layout) + ",stored=float"), own);
    const auto stored = [&] {
      std::vector<double> values(A.values_in_basis().size());
      detail::copy_bytes(values.data(), A.values_in_basis().data(), values.size() * sizeof(double),
                         own.stream());
      return values;
    };
    const std::vector<double> before = stored();
    for (double& value : matrix.values()) value *= 1.25;
    const Array<double> there(std::span<const double>(matrix.values()), own);
    own.synchronize();
    const std::span<const double> on_gpu_and_host[] = {there.span(), matrix.values().span()};
    for (const std::span<const double> values : on_gpu_and_host) {
      const OwnGraph graph(stream.get(), [&] {
        expect_error(
            ErrorKind::unsupported,
            "new values under an iteration-precision other than full cannot become part "
            "of a graph: pass them before its launch, or leave iteration-precision out of the plan",
            [&] { A.update_values(values); });
      });
      EXPECT_EQ(graph.nodes(), 0u);
      EXPECT_EQ(A.generation(), 1);
      EXPECT_EQ(stored(), before);
    }
  }
}

TEST_F(StoredFloatEndsOnGpu, AsDoubleDoes) {
  using E = complex<double>;
  Seed seed(2704);
  const auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const Field<E> b = random_field<E>(2000, seed.generator);
  auto negative = matrix;
  for (double& value : negative.values()) value = -value;
  for (const char* loop : loops) {
    SCOPED_TRACE(loop);
    const Plan plan = parse_plan(std::string("pJDS,stored=float,") + loop);
    const auto solve = [&](const CsrMatrix<E>& of, SolverOptions options) {
      const Operator<E> A(of, plan, device);
      ConjugateGradient<double> solver(A, std::move(options));
      Field<E> x(2000);
      // The second solve begins on the copy again.
      solver.solve(b.view(), x.view());
      fill<double>(0, x.view(), Stream{});
      return solver.solve(b.view(), x.view());
    };
    EXPECT_EQ(solve(matrix, {.max_iterations = 3}).status, Status::iteration_limit);
    EXPECT_EQ(solve(matrix, {.tolerance = 0, .time_limit = 0}).status, Status::time_limit);
    const Report undecided = solve(negative, {});
    EXPECT_EQ(undecided.stored, "own");
    EXPECT_EQ(undecided.loop, name(plan.loop.form));
    EXPECT_EQ(undecided.status, Status::indefinite);
    EXPECT_EQ(solve(matrix, {.tolerance = 1e-300}).status, Status::accuracy_limit);
  }
}

TEST_F(StoredFloatEndsOnGpu, FieldsInFloatsAreRefined) {
  using E = quaternion<double>;
  Seed seed(2706);
  const auto matrix = random_positive_definite_matrix<E>(2000, 7, seed.generator);
  const auto floats = in_floats(matrix);
  const Field<E> b = random_field<E>(2000, seed.generator);
  for (const char* loop : loops) {
    for (const char* narrow_plan : {"Sl-32,", "pJDS,iteration-precision=scaled,"}) {
      SCOPED_TRACE(std::string(narrow_plan) + loop);
      const Operator<E> A(matrix, parse_plan(std::string("pJDS,") + loop), device);
      const Operator<quaternion<float>> narrow_A(
          floats, parse_plan(std::string(narrow_plan) + loop), device);
      RefinedSolver solver(narrow_A, Jacobi(narrow_A),
                           std::make_shared<ConjugateGradient<double>>(
                               A, Jacobi(A), SolverOptions{.tolerance = 1e-12}));
      Field<E> x(2000), there(2000, device, A.vector_layout(), A.row_basis());
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.stored, narrow_plan[0] == 'S' ? "float" : "scaled");
      EXPECT_EQ(report.detail, "");
      fill<double>(0, there.view(), device.stream());
      EXPECT_TRUE(solver.solve(b.view(), there.view()).converged());
      Field<E> back(2000);
      permute<double>(there.view(), back.view(), 1, device.stream());
      double apart = 0;
      for (std::size_t i = 0; i < x.scalars().size(); ++i) {
        apart = std::hypot(apart, back.scalars()[i] - x.scalars()[i]);
      }
      // The bound is the same as above.
      EXPECT_FALSE(!(apart <= 2.1e-12 * norm_of<double>(b.scalars()))) << apart;
    }
  }
}

}  // namespace
}  // namespace stored_float_gpu
