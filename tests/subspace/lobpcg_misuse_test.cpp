// Runs in both builds.
// How LOBPCG ends without convergence, and what it refuses.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>
#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/operator.hpp"
#include "support/message_of.hpp"
#include "support/refusing_memory.hpp"
#include "support/systems/eigen_systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::lobpcg_misuse {
namespace {

using E = quaternion<double>;

class LobpcgEnds : public testing::Test {
 protected:
  EigenReport solve(const Operator<E>& A, EigenOptions options) {
    x = zero_fields<E>(options.count, A.rows());
    Lobpcg solver(A, std::move(options));
    return solver.solve(views_of(x));
  }
  Operator<E> hermitian(Index rows) {
    return {random_hermitian_matrix<E>(rows, 6, seed.generator), Plan{}};
  }

  Seed seed{8800};
  std::vector<Field<E>> x;
};

TEST_F(LobpcgEnds, AtItsLimits) {
  const Operator<E> A = hermitian(200);
  const EigenReport few = solve(A, {.count = 3, .tolerance = 1e-12, .max_iterations = 4});
  EXPECT_EQ(few.status, Status::iteration_limit);
  EXPECT_EQ(few.iterations, 4);
  EXPECT_EQ(few.eigenvalues.size(), 3u);
  const EigenReport none = solve(A, {.count = 3, .tolerance = 1e-12, .max_iterations = 0});
  EXPECT_EQ(none.status, Status::iteration_limit);
  const EigenReport late = solve(A, {.count = 3, .tolerance = 1e-12, .time_limit = 0});
  EXPECT_EQ(late.status, Status::time_limit);
  long long seen = 0;
  const auto observer = [&](const SolveProgress& now) { return (seen = now.iteration) < 3; };
  const EigenReport cancelled = solve(A, {.count = 3, .tolerance = 1e-12, .observer = observer});
  EXPECT_EQ(cancelled.status, Status::cancelled);
  EXPECT_EQ(seen, 3);
}

TEST_F(LobpcgEnds, WhereRoundingDoes) {
  HEDDLE_RELEASE_ONLY();
  const Operator<E> A = hermitian(120);
  const EigenReport report = solve(A, {.count = 4, .tolerance = 0});
  EXPECT_EQ(report.status, Status::accuracy_limit) << name(report.status);
  for (const double residual : report.residuals) EXPECT_LE(residual, 2e-14);
}

TEST_F(LobpcgEnds, OnSmallSpacesWithAllPairs) {
  for (const Index rows : {1, 2, 3, 4, 7}) {
    const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
    const Eigen::VectorXd expected = eigenvalues_of(expansion_of(matrix));
    const Operator<E> A(matrix, Plan{});
    const EigenReport report = solve(A, {.count = rows});
    ASSERT_TRUE(report.converged()) << name(report.status) << " " << rows;
    for (Index k = 0; k < rows; ++k) {
      EXPECT_NEAR(report.eigenvalues[static_cast<std::size_t>(k)], expected[4 * k], 1e-13);
    }
  }
}

TEST_F(LobpcgEnds, OnMatricesThatAreNotHermitian) {
  const Operator<E> A(random_dominant_matrix<E>({.rows = 40, .columns = 40}, seed.generator),
                      Plan{});
  const EigenReport report = solve(A, {.count = 2});
  EXPECT_EQ(report.status, Status::not_hermitian);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(bits_of(x[0]), std::vector<double>(160));
}

TEST_F(LobpcgEnds, OnMassesThatAreNotPositive) {
  const Operator<E> A = hermitian(40);
  const Operator<E> M(random_hermitian_matrix<E>(40, 6, seed.generator), Plan{});
  const Operator<E> N(random_dominant_matrix<E>({.rows = 40, .columns = 40}, seed.generator),
                      Plan{});
  const Operator<E> zero(random_hermitian_matrix<E>(40, 0, seed.generator, 0, 0), Plan{});
  x = zero_fields<E>(3, 40);
  Lobpcg indefinite(A, M, {.count = 3}), skewed(A, N, {.count = 3}), lost(A, zero, {.count = 3});
  EXPECT_EQ(indefinite.solve(views_of(x)).status, Status::indefinite);
  EXPECT_EQ(skewed.solve(views_of(x)).status, Status::not_hermitian);
  const EigenReport report = lost.solve(views_of(x));
  EXPECT_EQ(report.status, Status::breakdown) << name(report.status);
}

/// 1, 2, ... on the diagonal; the mass is 1 except for the last number, which random vectors hide
/// and residuals reveal.
TEST_F(LobpcgEnds, OnMassesThatAnIterateShowsToBeIndefinite) {
  constexpr Index n = 300;
  std::vector<Offset> offsets;
  std::vector<Index> columns;
  std::vector<double> values, masses(n, 1);
  for (Index i = 0; i <= n; ++i) offsets.push_back(i);
  for (Index i = 0; i < n; ++i) {
    columns.push_back(i);
    values.push_back(i + 1);
  }
  masses[n - 1] = -1;
  const auto matrix_of = [&](const std::vector<double>& of) {
    return Operator<real<double>>({n, n, offsets.data(), columns.data(), of.data()}, Plan{});
  };
  const auto A = matrix_of(values), M = matrix_of(masses);
  auto fields = zero_fields<real<double>>(2, n);
  Lobpcg solver(A, M, {.count = 2});
  const EigenReport report = solver.solve(views_of(fields));
  EXPECT_EQ(report.status, Status::indefinite) << name(report.status);
  EXPECT_GE(report.iterations, 1);
  EXPECT_TRUE(report.eigenvalues.empty() && report.residuals.empty());
  EXPECT_EQ(bits_of(fields[0]), std::vector<double>(n));
}

TEST_F(LobpcgEnds, OnNumbersThatAreNone) {
  auto matrix = random_hermitian_matrix<E>(40, 6, seed.generator);
  const auto sound = matrix;
  matrix.values()[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve(Operator<E>(matrix, Plan{}), {.count = 2}).status, Status::not_finite);
  EXPECT_EQ(solve(Operator<E>(matrix, Plan{}), {.count = 2, .checks = false}).status,
            Status::not_finite);
  const Operator<E> A(sound, Plan{});
  x = zero_fields<E>(2, 40);
  x[1].scalars()[7] = std::numeric_limits<double>::infinity();
  Lobpcg solver(A, {.count = 2});
  EXPECT_EQ(solver.solve(views_of(x)).status, Status::not_finite);
  for (double& value : matrix.values()) value = 0;
  const EigenReport of_zero = solve(Operator<E>(matrix, Plan{}), {.count = 2});
  EXPECT_TRUE(of_zero.converged());
  EXPECT_EQ(of_zero.eigenvalues, std::vector<double>(2));
  matrix = sound;
  for (double& value : matrix.values()) value *= 1e-200;
  EXPECT_EQ(solve(Operator<E>(matrix, Plan{}), {.count = 2}).status, Status::out_of_range);
  matrix = sound;
  for (double& value : matrix.values()) value *= 1e160;
  EXPECT_EQ(solve(Operator<E>(matrix, Plan{}), {.count = 2}).status, Status::out_of_range);
}

/// The symmetry test takes two products; the norm takes one.
class Counting final : public LinearOperator<double> {
 public:
  Index rows() const override { return 50; }
  int row_components() const override { return 1; }
  bool has_adjoint() const override { return true; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream& stream) const override {
    ++products;
    axpby<double>(alpha, x, beta, y, stream);
  }
  mutable int products = 0;
};
TEST(LobpcgChecks, SymmetryInTheFirstSolveOnly) {
  const Counting unit;
  Lobpcg solver(unit, {.count = 1});
  std::vector<double> x(50);
  const FieldView<double> view(x.data(), 50, 1);
  EXPECT_TRUE(solver.solve(view).converged());
  const int first = unit.products;
  std::fill(x.begin(), x.end(), 0.0);
  EXPECT_TRUE(solver.solve(view).converged());
  EXPECT_EQ(unit.products - first, first - 2);
}

/// An M^-1 that returns a NaN.
class Faulty final : public Preconditioner<double> {
 public:
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    copy<double>(r, z, stream);
    z.at(0, 0) = std::numeric_limits<double>::quiet_NaN();
  }
};
class Skewed final : public Preconditioner<double> {
 public:
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    copy<double>(r, z, stream);
  }
  bool is_hermitian() const override { return false; }
};

TEST_F(LobpcgEnds, OnPreconditionersThatAreNone) {
  const Operator<E> A = hermitian(40);
  x = zero_fields<E>(2, 40);
  Lobpcg solver(A, Faulty(), {.count = 2});
  EXPECT_EQ(solver.solve(views_of(x)).status, Status::not_finite);
  EXPECT_NE(message_of([&] { Lobpcg(A, Skewed(), {.count = 2}); }).find("Hermitian preconditioner"),
            std::string::npos);
}

TEST_F(LobpcgEnds, BeforeItBeginsWhereArgumentsAreWrong) {
  const Operator<E> A = hermitian(10);
  const auto says = [&](const std::string& words, const auto& act) {
    const std::string message = message_of(act);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  says("count is 1 to 16", [&] { Lobpcg(A, {.count = 0}); });
  says("count is 1 to 16", [&] { Lobpcg(A, {.count = 17}); });
  says("10 dimensions has no 11", [&] { Lobpcg(A, {.count = 11}); });
  says("tolerance", [&] { Lobpcg(A, {.tolerance = 1}); });
  says("guard", [&] { Lobpcg(A, {.guard = 17}); });
  says("limit", [&] { Lobpcg(A, {.max_iterations = -1}); });
  const Operator<E> other = hermitian(11);
  says("the mass has 11 rows", [&] { Lobpcg(A, other, {.count = 1}); });
  says("the operator 10 of", [&] { Lobpcg(A, Jacobi(other), {.count = 1}); });
  const Operator<E> sorted(random_hermitian_matrix<E>(10, 6, seed.generator), parse_plan("pJDS"));
  says("a different basis", [&] { Lobpcg(A, sorted, {.count = 1}); });
  using D = dual_quaternion<double>;
  const Operator<D> dual(random_dominant_matrix<D>({.rows = 9, .columns = 9}, seed.generator),
                         Plan{});
  says("no adjoint", [&] { Lobpcg{dual}; });
  Lobpcg solver(A, {.count = 2});
  auto one = zero_fields<E>(1, 10), two = zero_fields<E>(2, 11);
  says("1 fields for 2", [&] { solver.solve(views_of(one)); });
  says("11 of 4", [&] { solver.solve(views_of(two)); });
  const std::vector<FieldView<double>> same = {one[0].view(), one[0].view()};
  says("share", [&] { solver.solve(same); });
}

/// An operator with more rows than any memory holds.
class Vast final : public LinearOperator<double> {
 public:
  Index rows() const override { return std::numeric_limits<Index>::max() - 1; }
  int row_components() const override { return 64; }
  void apply(double, const FieldView<const double>&, double, const FieldView<double>&,
             const Stream&) const override {}
};
TEST(LobpcgMemory, IsPredicted) {
  const Vast vast;
  EXPECT_NE(message_of([&] {
              Lobpcg(vast, {.count = 16});
            }).find("LOBPCG of 20 vectors needs 160 fields"),
            std::string::npos);
}

TEST(LobpcgMemory, IsWhatItSays) {
  Seed seed(8900);
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(2, &memory);
  const Operator<E> A(random_hermitian_matrix<E>(4000, 6, seed.generator), Plan{}, device);
  const long long before = memory.live;
  Lobpcg solver(A, {.count = 4, .max_iterations = 2});
  const long long fields = 40LL * 4000 * 4 * 8;
  EXPECT_GE(memory.live - before, fields);
  EXPECT_LE(memory.live - before, solver.memory());
  const long long allocations = memory.allocations;
  auto x = zero_fields<E>(4, 4000);
  solver.solve(views_of(x));
  EXPECT_EQ(memory.allocations, allocations);
}

}  // namespace
}  // namespace heddle::test::lobpcg_misuse
