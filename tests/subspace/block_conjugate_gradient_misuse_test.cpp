// How block conjugate gradients end without convergence, and what they refuse.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "support/message_of.hpp"
#include "support/refusing_memory.hpp"
#include "support/systems/block_systems.hpp"

namespace heddle::test::block_conjugate_gradient_misuse {
namespace {

using E = quaternion<double>;
/// The residual of x = 0; |b| and |b - A x| are sums of different trees.
constexpr double of_guess = 1 + 1e-15;

class BlockConjugateGradientEnds : public testing::Test {
 protected:
  template <class F>
  std::vector<Report> solve(const Operator<F>& A, const std::vector<Field<F>>& b,
                            SolverOptions options = {}) {
    auto x = zero_fields<F>(static_cast<int>(b.size()), A.rows());
    BlockConjugateGradient solver(A, std::move(options));
    return solver.solve(const_views_of(b), views_of(x));
  }
  Operator<E> definite(Index rows) {
    return {random_system<E>(rows, 3, 0.01, 0, generator).matrix, Plan{}};
  }
  Generator generator{11};
};

TEST_F(BlockConjugateGradientEnds, AtItsLimits) {
  const Operator<E> A = definite(300);
  const auto b = random_fields<E>(3, 300, generator);
  const auto expect = [&](Status status, long long iterations, SolverOptions options) {
    for (const Report& report : solve(A, b, std::move(options))) {
      EXPECT_EQ(report.status, status) << report;
      EXPECT_EQ(report.iterations, iterations);
      EXPECT_LE(report.residual, of_guess);
    }
  };
  expect(Status::iteration_limit, 4, {.max_iterations = 4});
  expect(Status::iteration_limit, 0, {.max_iterations = 0});
  expect(Status::time_limit, 1, {.time_limit = 0});
  long long seen = 0;
  const auto observer = [&](const SolveProgress& now) { return (seen = now.iteration) < 3; };
  expect(Status::cancelled, 3, {.observer = observer});
  EXPECT_EQ(seen, 3);
}

TEST_F(BlockConjugateGradientEnds, KeepingAHistory) {
  const Operator<E> A = definite(100);
  const auto b = random_fields<E>(2, 100, generator);
  auto x = zero_fields<E>(2, 100);
  BlockConjugateGradient solver(A, {.record_history = true});
  const auto reports = solver.solve(const_views_of(b), views_of(x));
  for (int k = 0; k < 2; ++k) {
    const Report& report = reports[static_cast<std::size_t>(k)];
    ASSERT_EQ(solver.history(k).size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_NEAR(solver.history(k).front(), 1, 1e-15);
    EXPECT_LE(solver.history(k).back(), 1e-10);
  }
}

TEST_F(BlockConjugateGradientEnds, OnMatricesThatAreNotDefinite) {
  const auto b = random_fields<E>(4, 60, generator);
  const Operator<E> indefinite(random_hermitian_matrix<E>(60, 6, generator), Plan{});
  for (const Report& report : solve(indefinite, b)) {
    EXPECT_EQ(report.status, Status::indefinite) << report;
    EXPECT_LE(report.residual, of_guess);
  }
  const Operator<E> skewed(general_system<E>(60, generator).matrix, Plan{});
  for (const Report& report : solve(skewed, b)) {
    EXPECT_EQ(report.status, Status::not_hermitian) << report;
    EXPECT_EQ(report.iterations, 0);
  }
}

/// b = A x has a solution for some columns, and none for others.
TEST_F(BlockConjugateGradientEnds, OnSingularMatrices) {
  const auto [matrix, null_vector] = random_laplacian<E>(50, 3, generator);
  const Operator<E> A(matrix, Plan{});
  std::vector<Field<E>> b;
  for (int k = 0; k < 3; ++k) b.push_back(image_of(matrix, random_vector<E>(50, generator)));
  for (const Report& report : solve(A, b)) EXPECT_TRUE(report.converged()) << report;
  b.push_back(random_vector<E>(50, generator));
  const auto reports = solve(A, b);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(reports[k].converged()) << k << " " << reports[k];
  EXPECT_TRUE(reports[3].status == Status::breakdown || reports[3].status == Status::stagnated)
      << reports[3];
  const Operator<E> zero(random_hermitian_matrix<E>(50, 0, generator, 0, 0), Plan{});
  for (const Report& report : solve(zero, b)) {
    EXPECT_EQ(report.status, Status::breakdown) << report;
  }
}

TEST_F(BlockConjugateGradientEnds, OnNumbersThatAreNone) {
  const System<E> system = random_system<E>(60, 3, 0.05, 0, generator);
  auto b = random_fields<E>(3, 60, generator);
  b[1].scalars()[7] = std::numeric_limits<double>::quiet_NaN();
  const auto reports = solve(Operator<E>(system.matrix, Plan{}), b);
  EXPECT_TRUE(reports[0].converged() && reports[2].converged());
  EXPECT_EQ(reports[1].status, Status::not_finite);
  auto matrix = random_system<E>(60, 3, 0.05, 0, generator).matrix;
  matrix.values()[5] = std::numeric_limits<double>::quiet_NaN();
  b[1].scalars()[7] = 0;
  for (const bool checks : {false, true}) {
    for (const Report& report : solve(Operator<E>(matrix, Plan{}), b, {.checks = checks})) {
      EXPECT_EQ(report.status, Status::not_finite) << report;
    }
  }
}

class Opposite : public Preconditioner<double> {
 public:
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    axpby<double>(-1.0, r, 0.0, z, stream);
  }
};
class Varying final : public Opposite {
 public:
  bool is_constant() const override { return false; }
};
class Skewed final : public Opposite {
 public:
  bool is_hermitian() const override { return false; }
};

TEST_F(BlockConjugateGradientEnds, OnPreconditionersThatAreNone) {
  const Operator<E> A = definite(40);
  const auto b = random_fields<E>(2, 40, generator);
  auto x = zero_fields<E>(2, 40);
  BlockConjugateGradient solver(A, Opposite());
  const auto reports = solver.solve(const_views_of(b), views_of(x));
  EXPECT_EQ(reports[0].status, Status::indefinite) << reports[0];
  EXPECT_NE(reports[0].detail.find("M^-1"), std::string::npos);
  EXPECT_NE(message_of([&] { BlockConjugateGradient(A, Varying()); }).find("varies"),
            std::string::npos);
  EXPECT_NE(message_of([&] { BlockConjugateGradient(A, Skewed()); }).find("not Hermitian"),
            std::string::npos);
}

TEST_F(BlockConjugateGradientEnds, BeforeItBeginsWhereArgumentsAreWrong) {
  const Operator<E> A = definite(10);
  const auto says = [&](const std::string& words, const auto& act) {
    const std::string message = message_of(act);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  says("tolerance", [&] { BlockConjugateGradient(A, {.tolerance = 1}); });
  says("the operator 10 of", [&] { BlockConjugateGradient(A, Jacobi(definite(11))); });
  BlockConjugateGradient solver(A);
  const auto with = [&](int columns, int solutions, Index rows) {
    const auto b = random_fields<E>(columns, rows, generator);
    auto x = zero_fields<E>(solutions, 10);
    solver.solve(const_views_of(b), views_of(x));
  };
  says("1 to 16", [&] { with(0, 0, 10); });
  says("1 to 16", [&] { with(17, 17, 10); });
  says("2 and 1", [&] { with(2, 1, 10); });
  says("11 of 4", [&] { with(1, 1, 11); });
  const auto b = random_fields<E>(2, 10, generator);
  auto x = zero_fields<E>(2, 10);
  const std::vector<FieldView<double>> same = {x[0].view(), x[0].view()};
  says("share", [&] { solver.solve(const_views_of(b), same); });
  using D = dual_quaternion<double>;
  const Operator<D> dual(dominant_system<D>(9, 2, 0.2, generator).matrix, Plan{});
  says("no adjoint", [&] { BlockConjugateGradient{dual}; });
}

TEST_F(BlockConjugateGradientEnds, WithTheMemoryThatItSays) {
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(2, &memory);
  const Operator<E> A(random_system<E>(4000, 3, 0.05, 0, generator).matrix, Plan{}, device);
  BlockConjugateGradient solver(A, {.max_iterations = 2});
  EXPECT_EQ(solver.memory(), 0);
  const long long before = memory.live;
  const auto b = random_fields<E>(4, 4000, generator);
  auto x = zero_fields<E>(4, 4000);
  solver.solve(const_views_of(b), views_of(x));
  const long long fields = 28LL * 4000 * 4 * 8;
  EXPECT_GE(memory.live - before, fields);
  EXPECT_LE(memory.live - before, solver.memory());
  const long long allocations = memory.allocations;
  solver.solve(const_views_of(b), views_of(x));
  EXPECT_EQ(memory.allocations, allocations);
}

}  // namespace
}  // namespace heddle::test::block_conjugate_gradient_misuse
