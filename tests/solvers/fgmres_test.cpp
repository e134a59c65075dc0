// Runs in the release.
// FGMRES: equal to GMRES with a constant preconditioner; with a varying one it minimizes the
// residual over the vectors that the preconditioner returned; and solvers as preconditioners.
#include "heddle/fgmres.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/problems.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"
#include "support/times_unit.hpp"

namespace heddle::test::fgmres {
namespace {

using Long = Eigen::Matrix<long double, -1, -1>;
using LongVector = Eigen::Matrix<long double, -1, 1>;

template <class E>
class FgmresEntries : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 2, 2>, quaternion<float>>;
TYPED_TEST_SUITE(FgmresEntries, FewOf<Entries>);

constexpr const char* plans[] = {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa", "K2rs"};

TYPED_TEST(FgmresEntries, IsGmresUnderAConstantPreconditioner) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(3);
  for (const Index n : {1, 2, 61, 300}) {
    const auto matrix = general_system<E>(n, generator).matrix;
    const Field<E> b = random_vector<E>(n, generator);
    for (const char* plan : plans) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + plan);
      const Operator<E> A(matrix, parse_plan(plan));
      const SolverOptions options{.restart = 9, .record_history = true};
      Gmres<S> gmres(A, Jacobi<E>(A), options);
      Fgmres<S> fgmres(A, Jacobi<E>(A), options), plain(A, options);
      Field<E> x(n), y(n), z(n);
      gmres.solve(b, x);
      const Report report = fgmres.solve(b, y);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LE(true_residual(matrix, b, y), report.target_norm * (1 + 1e-4));
      const std::size_t steps = std::min<std::size_t>(gmres.history().size(), 9);
      ASSERT_GE(fgmres.history().size(), steps);
      for (std::size_t k = 0; k < steps; ++k) {
        const double rounding = sizeof(S) == 4 ? 2e-4 : 1e-9;
        EXPECT_NEAR(fgmres.history()[k], gmres.history()[k], rounding * gmres.history()[k]) << k;
      }
      EXPECT_TRUE(plain.solve(b, z).converged());
    }
  }
}

/// Weights the rows differently in every application; keeps its results, in the user's order.
template <class S>
class VaryingWeights final : public Preconditioner<S> {
 public:
  VaryingWeights(Index rows, int components, std::vector<LongVector>& left)
      : rows_(rows), components_(components), left_(&left) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    LongVector kept(Eigen::Index(rows_) * components_);
    copy<S>(r, z, stream);
    for (Index i = 0; i < rows_; ++i) {
      const auto weight = static_cast<S>(uniform(generator_, 0.3, 1));
      for (int k = 0; k < components_; ++k) {
        z.at(i, k) *= weight;
        kept[Eigen::Index(i) * components_ + k] = z.at(i, k);
      }
    }
    left_->push_back(std::move(kept));
  }
  bool is_constant() const override { return false; }

 private:
  Index rows_;
  int components_;
  std::vector<LongVector>* left_;
  mutable Generator generator_{17};
};

TYPED_TEST(FgmresEntries, LeavesTheSmallestResidualOverWhatIsPreconditioned) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr Index n = 47;
  constexpr int steps = 8, K = vector_entry_t<E>::components;
  Generator generator(5);
  const auto matrix = general_system<E>(n, generator).matrix;
  const Long dense = Eigen::MatrixXd(expansion<double>(matrix)).template cast<long double>();
  const Field<E> b = random_vector<E>(n, generator);
  const LongVector rhs = components_of<long double>(b);
  for (const char* recurrence : {"CSR", "CSR,recurrence=real"}) {
    SCOPED_TRACE(recurrence);
    const Operator<E> A(matrix, parse_plan(recurrence));
    std::vector<LongVector> left;
    Fgmres<S> solver(A, VaryingWeights<S>(n, K, left),
                     {.tolerance = 1e-15,
                      .max_iterations = steps,
                      .restart = steps + 2,
                      .record_history = true});
    Field<E> x(n);
    const Report report = solver.solve(b, x);
    ASSERT_EQ(solver.history().size(), std::size_t(steps + 1));
    Long images(rhs.size(), 0);
    const double rounding = sizeof(S) == 4 ? 1e-4 : 1e-9;
    for (std::size_t k = 0; k < std::size_t(steps); ++k) {
      for (int u = 0; u < ring_size(A.coefficient_ring()); ++u) {
        images.conservativeResize(Eigen::NoChange, images.cols() + 1);
        images.rightCols(1) = dense * times_unit(left[k], A.coefficient_ring(), u);
      }
      const LongVector y = solution_by_qr(images, rhs);
      const auto smallest = static_cast<double>((rhs - images * y).norm() / rhs.norm());
      EXPECT_NEAR(solver.history()[k + 1] / smallest, 1, rounding) << "step " << k;
    }
    // x is a combination of the same vectors.
    EXPECT_NEAR(report.residual / solver.history().back(), 1, rounding);
  }
}

TYPED_TEST(FgmresEntries, TakesSolvers) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr Index n = 400;
  Generator generator(6);
  auto matrix = general_system<E>(n, generator).matrix;
  const Field<E> b = random_vector<E>(n, generator);
  Operator<E> A(matrix, parse_plan("K1rs"));
  const SolverOptions few{.tolerance = 0.1, .max_iterations = 6};
  auto inner = std::make_shared<BiCGStab<S>>(A, Jacobi<E>(A), few);
  Fgmres<S> solver(A, SolverPreconditioner<S>(inner));
  Field<E> x(n);
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
  Field<E> y(n);
  EXPECT_LT(report.iterations, Gmres<S>(A, Jacobi<E>(A)).solve(b, y).iterations);

  // New values reach the inner solver and the preconditioner of that.
  for (auto& value : matrix.values()) value *= -3;
  A.update_values(matrix);
  Field<E> z(n);
  const Report after = solver.solve(b, z);
  EXPECT_TRUE(after.converged()) << after;
  EXPECT_LE(true_residual(matrix, b, z), after.target_norm * (1 + 1e-4));
}

TEST(Fgmres, TakesConjugateGradientAndItself) {
  using E = block<double, 3, 3>;
  Generator generator(8);
  const auto matrix = random_system<E>(300, 3, 0.2, 0, generator).matrix;
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_vector<E>(300, generator);
  Field<E> x(300), y(300);
  auto cg = std::make_shared<ConjugateGradient<double>>(A, SolverOptions{.max_iterations = 5});
  EXPECT_TRUE(Fgmres(A, SolverPreconditioner<double>(cg)).solve(b, x).converged());
  auto nested = std::make_shared<Fgmres<double>>(A, SolverPreconditioner<double>(cg),
                                                 SolverOptions{.max_iterations = 3});
  EXPECT_TRUE(Fgmres(A, SolverPreconditioner<double>(nested)).solve(b, y).converged());
}

TEST(Fgmres, AloneTakesWhatVaries) {
  using E = real<double>;
  Generator generator(9);
  const auto matrix = random_system<E>(50, 3, 0.2, 0, generator).matrix;
  const Operator<E> A(matrix, Plan{}),
      other(random_system<E>(51, 3, 0.2, 0, generator).matrix, Plan{});
  const auto inner = [](const Operator<E>& of) {
    return SolverPreconditioner<double>(
        std::make_shared<ConjugateGradient<double>>(of, SolverOptions{.max_iterations = 5}));
  };
  const std::string why =
      " needs a constant preconditioner, and this one says that it varies; use FGMRES";
  expect_error(ErrorKind::unsupported, "conjugate gradient" + why,
               [&] { ConjugateGradient<double>(A, inner(A)); });
  expect_error(ErrorKind::unsupported, "GMRES" + why, [&] { Gmres<double>(A, inner(A)); });
  expect_error(ErrorKind::unsupported, "BiCGStab" + why, [&] { BiCGStab<double>(A, inner(A)); });
  expect_error(ErrorKind::size_mismatch,
               "the preconditioner has 51 rows of 1 components, the operator 50 of 1",
               [&] { Fgmres<double>(A, inner(other)); });
  expect_error(ErrorKind::usage, "a null pointer to a solver",
               [] { SolverPreconditioner<double>(nullptr); });
}

/// Upwind differences for convection and diffusion on a square.
CsrMatrix<real<double>> convection(Index side) {
  Tiles<real<double>> tiles(side * side);
  constexpr double wind = 0.4;
  for (Index i = 0; i < side * side; ++i) {
    const auto put = [&](Index j, double value) {
      tiles.at(i, j) += Eigen::MatrixXd::Constant(1, 1, value);
    };
    put(i, 4 + 2 * wind);
    if (i % side > 0) put(i - 1, -1 - wind);
    if (i % side + 1 < side) put(i + 1, -1);
    if (i >= side) put(i - side, -1 - wind);
    if (i + side < side * side) put(i + side, -1);
  }
  return tiles.assemble();
}

/// The true residual converges as with a basis in double, in few more iterations.
template <class E, class Make>
void expect_narrow_basis_does(const CsrMatrix<E>& matrix, const Make& make) {
  const Index n = matrix.rows();
  Generator generator(10);
  const Field<E> b = random_vector<E>(n, generator);
  const Operator<E> A(matrix, parse_plan("C=4,sigma=n"));
  const auto solve = [&](double tolerance, StoredScalar precision) {
    auto solver = make(A, SolverOptions{.tolerance = tolerance, .basis_precision = precision});
    Field<E> x(n);
    const Report report = solver->solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.basis, precision == StoredScalar::single ? "float" : "own");
    EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-6));
    return std::pair(report.iterations, solver->memory());
  };
  const auto [iterations, memory] = solve(1e-6, StoredScalar::own);
  const auto [narrow_iterations, narrow_memory] = solve(1e-6, StoredScalar::single);
  EXPECT_LE(static_cast<double>(narrow_iterations), 1.1 * static_cast<double>(iterations));
  const long long field = 8LL * n * E::components;
  using Solver = typename decltype(make(A, SolverOptions{}))::element_type;
  constexpr int bases = std::is_same_v<Solver, Fgmres<double>> ? 2 : 1;
  EXPECT_EQ(memory - narrow_memory, field * 15 * bases);
  solve(1e-10, StoredScalar::single);
}

TEST(Fgmres, KeepsItsBasisInFloats) {
  const auto fgmres = []<class E>(const Operator<E>& A, const SolverOptions& options) {
    auto inner = std::make_shared<Gmres<double>>(
        A, SolverOptions{.tolerance = 0.1, .max_iterations = 3, .restart = 3});
    return std::make_unique<Fgmres<double>>(
        A, std::make_shared<SolverPreconditioner<double>>(inner), options);
  };
  const auto gmres = []<class E>(const Operator<E>& A, const SolverOptions& options) {
    return std::make_unique<Gmres<double>>(A, std::make_shared<Jacobi<E>>(A), options);
  };
  const auto plain = []<class E>(const Operator<E>& A, const SolverOptions& options) {
    return std::make_unique<Gmres<double>>(A, options);
  };
  const auto wind = convection(40);
  const auto waves = helmholtz(1728);
  expect_narrow_basis_does(wind, fgmres);
  expect_narrow_basis_does(wind, gmres);
  expect_narrow_basis_does(wind, plain);
  expect_narrow_basis_does(waves, fgmres);
  expect_narrow_basis_does(waves, gmres);
}

/// The preconditioned vectors are as far from 1 as the matrix, and outside the range of floats.
TEST(Fgmres, KeepsItsBasisInFloatsOfMatricesOfAnySize) {
  using E = real<double>;
  const auto matrix = convection(12);
  Generator generator(12);
  const Field<E> b = random_vector<E>(matrix.rows(), generator);
  const auto iterations = [&](double size) {
    auto scaled = matrix;
    for (double& value : scaled.values()) value *= size;
    const Operator<E> A(scaled, Plan{});
    Field<E> x(matrix.rows());
    const SolverOptions options{.tolerance = 1e-9, .basis_precision = StoredScalar::single};
    const Report report = Fgmres<double>(A, Jacobi<E>(A), options).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_LE(true_residual(scaled, b, x), report.target_norm * (1 + 1e-6));
    return report.iterations;
  };
  const long long usual = iterations(1);
  for (const double size : {0x1p200, 0x1p-200, 0x1p40}) EXPECT_EQ(iterations(size), usual) << size;
}

TEST(Fgmres, KeepsToThePrecisionOfItsBasis) {
  const Operator<real<double>> A(convection(5), Plan{});
  Fgmres<double> solver(A);
  expect_error(ErrorKind::usage,
               "solver options: the precision of a basis is fixed by the solver's construction",
               [&] { solver.set_options({.basis_precision = StoredScalar::single}); });
#ifdef HEDDLE_HAS_LONG_DOUBLE
  Generator generator(11);
  const Operator<real<long double>> wide(general_system<real<long double>>(9, generator).matrix,
                                         Plan{});
  expect_error(ErrorKind::unsupported,
               "solver options: a basis in single precision needs a solve in double precision",
               [&] { Fgmres<long double>(wide, {.basis_precision = StoredScalar::single}); });
#endif
}

/// Counts products.
class Counted final : public LinearOperator<double> {
 public:
  explicit Counted(Index rows) : rows_(rows) {}
  Index rows() const override { return rows_; }
  int row_components() const override { return 1; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    ++products;
    for (Index i = 0; i < rows_; ++i) {
      const double last = i > 0 ? x.data[i - 1] : 0, next = i + 1 < rows_ ? x.data[i + 1] : 0;
      y.data[i] =
          alpha * (2 * x.data[i] - 1.1 * last - 0.9 * next) + (beta == 0 ? 0 : beta * y.data[i]);
    }
  }

  mutable long long products = 0;

 private:
  Index rows_;
};

/// A limit of the outer solve ends an inner solve of any length after one iteration.
TEST(Fgmres, LimitsWhatItsPreconditionerTakes) {
  constexpr Index n = 4000;
  const Counted A(n);
  const auto inner = std::make_shared<Gmres<double>>(
      A, SolverOptions{.tolerance = 0, .max_iterations = 1000000, .restart = 10, .checks = false});
  const auto nested = std::make_shared<Fgmres<double>>(
      A, std::make_shared<SolverPreconditioner<double>>(inner),
      SolverOptions{.tolerance = 0, .max_iterations = 1000000, .restart = 10, .checks = false});
  std::vector<double> ones(n, 1), zeros(n, 0);
  const FieldView<const double> b{ones.data(), n, 1, VectorLayout::aos, nullptr};
  const FieldView<double> x{zeros.data(), n, 1, VectorLayout::aos, nullptr};
  for (const auto& solver : {std::shared_ptr<KrylovSolver<double>>(inner),
                             std::shared_ptr<KrylovSolver<double>>(nested)}) {
    const auto preconditioner = std::make_shared<SolverPreconditioner<double>>(solver);
    std::fill(zeros.begin(), zeros.end(), 0);
    Fgmres<double> limited(A, preconditioner, {.time_limit = 0.05});
    const Report report = limited.solve(b, x);
    EXPECT_EQ(report.status, Status::time_limit) << report;
    EXPECT_LT(report.iterate_seconds, 1);
    long long seen = 0;
    const auto observe = [&](const SolveProgress& now) {
      if (now.inner_iterations > 0) ++seen;
      return seen < 20;
    };
    std::fill(zeros.begin(), zeros.end(), 0);
    Fgmres<double> watched(A, preconditioner, {.observer = observe});
    const long long before = A.products;
    EXPECT_EQ(watched.solve(b, x).status, Status::cancelled);
    EXPECT_EQ(seen, 20);
    EXPECT_LT(A.products - before, 60);
  }
}

TEST(Fgmres, EndsOnNan) {
  using E = real<double>;
  Generator generator(10);
  auto matrix = general_system<E>(50, generator).matrix;
  const Operator<E> A(matrix, Plan{});
  std::vector<double> weights(50, 1);
  weights[7] = std::nan("");
  Field<E> b = random_vector<E>(50, generator), x(50);
  const Report report = Fgmres<double>(A, RowWeights<double>(weights)).solve(b, x);
  EXPECT_FALSE(report.converged()) << report;
}

}  // namespace
}  // namespace heddle::test::fgmres
