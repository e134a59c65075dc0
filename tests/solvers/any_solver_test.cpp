// The run-time typed front: new values, observers, and the solver that it wraps.
#include "heddle/runtime/any_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "heddle/approximate_inverse.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/composed_preconditioner.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/polynomial.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;
constexpr Index n = 300;

AnyField some_field(const AnyOperator& A) {
  AnyField field = A.row_field();
  const Offset scalars = Offset(field.rows()) * field.components();
  for (Offset i = 0; i < scalars; ++i) field.set(i, std::cos(static_cast<double>(i)));
  return field;
}

std::vector<double> numbers(const AnyField& field) {
  const FieldView<const double> view = field.view<double>();
  return {view.data, view.data + view.scalars()};
}

/// The same matrix by type and by definition.
std::vector<AnyMatrix> both(const CsrMatrix<E>& matrix) {
  return {AnyMatrix(matrix), AnyMatrix(as_defined(matrix, quaternion_definition()))};
}

TEST(AnySolver, SolvesWithNewValues) {
  Seed seed(5801);
  const auto first = random_positive_definite_matrix<E>(n, 6, seed.generator);
  auto second = first;
  for (double& value : second.values()) value *= 3;
  for (const char* plan : {"CSR", "K2rs,inner=soa,vector=soa,stored=float"}) {
    for (const bool is_defined : {false, true}) {
      SCOPED_TRACE(std::string(plan) + (is_defined ? ", defined" : ""));
      AnyOperator A(both(first)[is_defined], parse_plan(plan), Device::cpu(2));
      const AnyOperator fresh(both(second)[is_defined], A.plan(), Device::cpu(2));
      EXPECT_EQ(A.entry().name(), is_defined ? "my-quaternion" : "quaternion");
      const AnyField b = some_field(A);
      const auto solution = [&](AnySolver& solver) {
        AnyField x = A.column_field();
        EXPECT_TRUE(solver.solve(b, x).converged());
        return numbers(x);
      };
      AnySolver solver(A, find_method("cg"), PreconditionerKind::jacobi, {}),
          expected(fresh, find_method("cg"), PreconditionerKind::jacobi, {});
      const auto before = solution(solver);
      A.update_values<double>(second.values().span());
      const auto after = solution(solver);
      EXPECT_EQ(after, solution(expected));
      EXPECT_NE(after, before);
      EXPECT_THROW(A.update_values<double>(second.values().span().first(4)), Error);
      expect_error(ErrorKind::size_mismatch,
                   "single precision was requested, but double precision is stored",
                   [&] { A.update_values<float>({}); });
    }
  }
}

TEST(AnySolver, CallsItsObserver) {
  Seed seed(5802);
  const AnyOperator A(both(random_positive_definite_matrix<E>(n, 6, seed.generator))[1], Plan{},
                      Device::cpu(2));
  long long calls = 0;
  SolverOptions options;
  options.record_history = true;
  options.observer = [&](const SolveProgress& progress) {
    EXPECT_EQ(progress.iteration, ++calls);
    return calls < 3;
  };
  AnySolver solver(A, find_method("bicgstab"), PreconditionerKind::none, options);
  AnyField x = A.column_field();
  const Report report = solver.solve(some_field(A), x);
  EXPECT_EQ(report.status, Status::cancelled);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(solver.history().size(), 4u);
}

/// Listed methods, block methods and refined solvers take other options.
TEST(AnySolver, TakesOtherOptions) {
  Seed seed(5805);
  const AnyOperator A(both(random_positive_definite_matrix<E>(n, 6, seed.generator))[0], Plan{},
                      Device::cpu(2));
  const AnyField b = some_field(A);
  for (const char* const kind : {"listed", "block", "refined"}) {
    SCOPED_TRACE(kind);
    const bool is_block = kind == std::string("block");
    AnySolver solver(A, is_block ? block_conjugate_gradient_info : find_method("cg"),
                     PreconditionerKind::jacobi, {});
    if (kind == std::string("refined")) solver.refine(A, PreconditionerKind::jacobi);
    const auto iterations = [&](double tolerance, long long limit) {
      SolverOptions options = solver.options();
      options.tolerance = tolerance;
      options.max_iterations = limit;
      solver.set_options(options);
      EXPECT_EQ(solver.options().tolerance, tolerance);
      AnyField x = A.column_field();
      return solver.solve(b, x).iterations;
    };
    const long long far = iterations(1e-10, 1000);
    EXPECT_LT(iterations(1e-2, 1000), far);
    EXPECT_EQ(iterations(1e-10, 2), 2);
    EXPECT_EQ(iterations(1e-10, 1000), far);
    SolverOptions wrong;
    wrong.tolerance = -3;
    EXPECT_THROW(solver.set_options(wrong), Error);
  }
}

TEST(AnyOperator, AMassHasTheBasisOfItsMatrix) {
  Seed seed(5807);
  const auto matrix = random_positive_definite_matrix<E>(n, 6, seed.generator);
  const auto mass = random_positive_definite_matrix<E>(n, 4, seed.generator);
  for (const bool is_defined : {false, true}) {
    const AnyOperator A(both(matrix)[is_defined], parse_plan("C=8,sigma=64"), Device::cpu(2));
    const AnyOperator M(both(mass)[is_defined], A);
    const AnyOperator alone(both(mass)[is_defined], Plan{}, Device::cpu(2));
    EXPECT_EQ(M.sliced<double>().row_basis(), A.sliced<double>().row_basis());
    const AnyField x = some_field(A);
    AnyField y = A.row_field(), expected = A.row_field();
    M.apply(x, y);
    alone.apply(x, expected);
    const std::vector<double> found = numbers(y), wanted = numbers(expected);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
  }
  const AnyOperator A(both(matrix)[0], Plan{}, Device::cpu(2));
  expect_error(ErrorKind::size_mismatch, "the mass is 10 x 10, the matrix 300 x 300", [&] {
    AnyOperator(AnyMatrix(random_positive_definite_matrix<E>(10, 3, seed.generator)), A);
  });
}

/// Jacobi where it exists, otherwise no preconditioner.
TEST(AnySolver, TakesAnAutomaticPreconditioner) {
  Seed seed(5803);
  SolverOptions options;
  options.record_history = true;
  const auto history = [&](const AnyMatrix& matrix, const ComposedChoice& preconditioner) {
    const AnyOperator A(matrix, Plan{}, Device::cpu(2));
    AnySolver solver(A, find_method("minres"), preconditioner, options);
    AnyField x = A.column_field();
    EXPECT_TRUE(solver.solve(some_field(A), x).converged());
    return solver.history();
  };
  const ComposedChoice automatic = ComposedChoice::parse("auto");
  for (const AnyMatrix& matrix : both(random_positive_definite_matrix<E>(n, 6, seed.generator))) {
    EXPECT_EQ(history(matrix, automatic), history(matrix, PreconditionerKind::jacobi));
  }
  Array<Offset> offsets(3);
  Array<Index> column(2);
  Array<double> values(2);
  for (Index row = 0; row < 2; ++row) {
    offsets[static_cast<std::size_t>(row) + 1] = row + 1;
    column[static_cast<std::size_t>(row)] = 1 - row;
    values[static_cast<std::size_t>(row)] = 1;
  }
  const AnyMatrix hole(
      CsrMatrix<real<double>>(2, 2, std::move(offsets), std::move(column), std::move(values)));
  EXPECT_EQ(history(hole, automatic), history(hole, PreconditionerKind::none));
}

TEST(AnyOperator, OneThatWasMovedFromAnswersNothing) {
  Seed seed(5804);
  AnyOperator A(both(random_positive_definite_matrix<E>(n, 6, seed.generator))[1], Plan{},
                Device::cpu(2));
  const AnyOperator moved = std::move(A);
  EXPECT_EQ(moved.rows(), n);
  const auto expect_refused = [](const auto& ask) {
    expect_error(ErrorKind::usage, "this operator was moved from: it no longer has a matrix", ask);
  };
  expect_refused([&] { static_cast<void>(A.rows()); });
  expect_refused([&] { static_cast<void>(A.entry()); });
  expect_refused([&] { static_cast<void>(A.kind()); });
  expect_refused([&] { static_cast<void>(A.precision()); });
}

TEST(AnySolver, HandsOutItsSolver) {
  Seed seed(5803);
  const AnyOperator A(both(random_positive_definite_matrix<E>(n, 6, seed.generator))[1], Plan{},
                      Device::cpu(2));
  const AnyField b = some_field(A);
  AnySolver solver(A, find_method("minres"), PreconditionerKind::jacobi, {});
  AnyField x = A.column_field();
  ASSERT_TRUE(solver.solve(b, x).converged());
  std::vector<double> own(4 * n);
  const FieldView<double> own_x(own.data(), n, 4);
  EXPECT_TRUE(solver.solver<double>().solve(b.view<double>(), own_x).converged());
  EXPECT_EQ(own, numbers(x));
  DeviceReport report;
  EXPECT_THROW(solver.solver<double>().enqueue(b.view<double>(), own_x, &report), Error);
  EXPECT_THROW(solver.solver<float>(), Error);
}

/// A text and the classes that it names give the same bits.
TEST(AnySolver, ComposesPreconditionersAsTheirTextSays) {
  Seed seed(5804);
  const auto matrix = random_positive_definite_matrix<E>(n, 6, seed.generator);
  const Plan plan = parse_plan("order=rcm,C=4,sigma=16");
  const AnyOperator any(AnyMatrix(matrix), plan, Device::cpu(2));
  const Operator<E> A(matrix, plan, Device::cpu(2));
  const AnyField b = some_field(any);
  const auto expect = [&](const char* method, const char* text, auto&& solver) {
    SCOPED_TRACE(text);
    AnySolver composed(any, find_method(method), ComposedChoice::parse(text), {});
    AnyField x = any.column_field(), expected = any.column_field();
    const Report report = composed.solve(b, x),
                 other = solver.solve(b.view<double>(), expected.view<double>());
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.iterations, other.iterations);
    EXPECT_EQ(numbers(x), numbers(expected));
  };
  const auto jacobi = std::make_shared<Jacobi<E>>(A);
  const auto blocks = std::make_shared<BlockJacobi<double>>(A, 2);
  const auto fsai = std::make_shared<Fsai<double>>(A);
  expect("bicgstab", "jacobi*fsai", BiCGStab(A, product(A, jacobi, fsai)));
  expect("bicgstab", "block-jacobi:2,fsai", BiCGStab(A, multiplicative(A, blocks, fsai)));
  expect("bicgstab", "block-jacobi:2*fsai,jacobi",
         BiCGStab(A, multiplicative(A, product(A, blocks, fsai), jacobi)));
  expect("cg", "jacobi*fsai*jacobi", ConjugateGradient(A, symmetric_product(A, jacobi, fsai)));
  const auto chebyshev =
      std::make_shared<Chebyshev<double>>(A, jacobi, ChebyshevOptions{.degree = 2});
  expect("cg", "chebyshev:2,fsai,chebyshev:2",
         ConjugateGradient(A, symmetric_multiplicative(A, chebyshev, fsai)));
  expect_error(
      ErrorKind::unsupported,
      "conjugate gradient needs a Hermitian preconditioner, and this one says that it is "
      "not; use BiCGStab",
      [&] { AnySolver(any, find_method("cg"), ComposedChoice::parse("jacobi*fsai"), {}); });
}

}  // namespace
