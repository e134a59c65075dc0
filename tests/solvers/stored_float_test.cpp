// Solves whose iterations read the matrix in floats reach the same residuals as in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

constexpr double tolerance = 1e-12;
const char* const layouts[] = {"CSR", "K2rs,inner=aosoa16", "C=8,T=2,inner=soa,vector=soa"};

Plan with_floats(const std::string& layout) { return parse_plan(layout + ",stored=float"); }

/// A bound on the rounding of b - A x by products in double (Higham 2002, section 3.1).
template <class E>
double rounding_of_residual(const CsrMatrix<E>& matrix, const Field<E>& x) {
  const auto A = expansion<double>(matrix);
  int terms = 0;
  for (Eigen::Index row = 0; row < A.rows(); ++row) {
    terms = std::max(terms, static_cast<int>(A.innerVector(row).nonZeros()));
  }
  const Vector<double> sums = A.cwiseAbs() * components_of<double>(x).cwiseAbs();
  return (terms + 2) * (std::numeric_limits<double>::epsilon() / 2) * sums.norm();
}

template <class E, class Solver>
void expect_solves_as_double(const System<E>& system, bool jacobi, Generator& generator) {
  const Field<E> b = random_vector<E>(system.matrix.rows(), generator);
  const SolverOptions options{.tolerance = tolerance};
  const auto solve = [&](const Plan& plan, Field<E>& x) {
    const Operator<E> A(system.matrix, plan);
    Solver solver = jacobi ? Solver(A, Jacobi<E>(A), options) : Solver(A, options);
    return solver.solve(b.view(), x.view());
  };
  for (const char* layout : layouts) {
    SCOPED_TRACE(layout);
    Field<E> expected(b.size()), x(b.size());
    const Report in_double = solve(parse_plan(layout), expected);
    const Report report = solve(with_floats(layout), x);
    ASSERT_TRUE(in_double.converged()) << in_double;
    ASSERT_TRUE(report.converged()) << report;
    EXPECT_EQ(in_double.stored, "own");
    EXPECT_EQ(report.stored, "float");
    EXPECT_GE(report.restarts, 1);
    EXPECT_LT(report.bytes_per_iteration, in_double.bytes_per_iteration);
    EXPECT_LE(report.iterations, 2 * in_double.iterations) << in_double;

    const auto norm = static_cast<double>(components_of<long double>(b).norm());
    const auto residual = static_cast<double>(true_residual(system.matrix, b, x));
    const auto of_double = static_cast<double>(true_residual(system.matrix, b, expected));
    const double allowed = tolerance * norm + rounding_of_residual(system.matrix, x);
    EXPECT_FALSE(!(residual <= allowed)) << residual << " > " << allowed;
    const double apart = (components_of<double>(x) - components_of<double>(expected)).norm();
    EXPECT_FALSE(!(apart <= system.inverse_norm * (residual + of_double) * 1.01)) << apart;
  }
}

template <class E>
class StoredFloat : public ::testing::Test {};
TYPED_TEST_SUITE(StoredFloat, FewOf<AllEntries<double>>);

TYPED_TEST(StoredFloat, ConjugateGradientReachesTheResidualOfDouble) {
  using E = TypeParam;
  if constexpr (has_adjoint<E>) {
    for (const unsigned seed : {41, 42}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Generator generator(seed);
      const auto system = random_system<E>(seed == 41 ? 257 : 60, 3, 0.02, 0, generator);
      expect_solves_as_double<E, ConjugateGradient<double>>(system, false, generator);
      expect_solves_as_double<E, ConjugateGradient<double>>(system, true, generator);
    }
  }
}

TYPED_TEST(StoredFloat, BiCGStabReachesTheResidualOfDouble) {
  using E = TypeParam;
  for (const unsigned seed : {51, 52}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto system = general_system<E>(seed == 51 ? 257 : 60, generator);
    expect_solves_as_double<E, BiCGStab<double>>(system, false, generator);
    expect_solves_as_double<E, BiCGStab<double>>(system, true, generator);
  }
}

TYPED_TEST(StoredFloat, ProductsOfTheUserAreOfTheMatrixAndIterationsOfItsFloats) {
  using E = TypeParam;
  using Narrow = stored_as<float, E>;
  Generator generator(61);
  const auto matrix = dominant_system<E>(200, 5, 1, generator).matrix;
  std::vector<Narrow> entries(static_cast<std::size_t>(matrix.entries()));
  for (Offset i = 0; i < matrix.entries(); ++i) {
    const E entry = matrix.entry(i);
    for (int k = 0; k < E::components; ++k) {
      entries[static_cast<std::size_t>(i)].component[k] = static_cast<float>(entry.component[k]);
    }
  }
  std::vector<float> values;
  for (const Narrow& entry : entries) {
    values.insert(values.end(), entry.component, entry.component + E::components);
  }
  const CsrMatrix<Narrow> rounded(matrix.rows(), matrix.columns(), matrix.offsets(),
                                  matrix.column(), Array<float>(std::span<const float>(values)));
  for (const char* layout :
       {"CSR", "C=3,inner=aosoa16", "K2rs,inner=aosoa16", "Sl-32,inner=aosoa,vector=soa",
        "ELL,inner=aosoa16", "K1,inner=soa", "C=1,inner=aosoa16,sigma=7"}) {
    SCOPED_TRACE(layout);
    const Operator<E> A(matrix, with_floats(layout));
    const Operator<E> own(matrix, parse_plan(layout));
    const Operator<Narrow> narrow(rounded, parse_plan(layout));
    Field<E> x = own.field();
    fill_randomly(x, generator);
    const auto image = [&](const LinearOperator<double>& of) {
      Field<E> y(x.size(), Device::cpu(), of.vector_layout(), A.row_basis());
      // The bases of the three are equal, but not the same object.
      FieldView<const double> from = x.view();
      from.basis = of.column_basis();
      FieldView<double> to = y.view();
      to.basis = of.row_basis();
      of.apply(1, from, 0, to, Stream{});
      return bits_of(y);
    };
    EXPECT_EQ(image(A), image(own));
    EXPECT_EQ(image(A.iterated()), image(narrow));
    EXPECT_EQ(A.bytes_of_product(), own.bytes_of_product());
    EXPECT_EQ(A.iterated().bytes_of_product(), narrow.bytes_of_product());
    EXPECT_EQ(A.compulsory_bytes(), narrow.compulsory_bytes());
    EXPECT_EQ(A.memory().total() - own.memory().total(), A.pattern().slots * sizeof(Narrow));
  }
}

/// The solver continues with floats or the matrix, no matter how good the 16-bit copy is.
TYPED_TEST(StoredFloat, IterationsOnSixteenBitsReachTheResidualOfDouble) {
  using E = TypeParam;
  Generator generator(62);
  const auto positive = random_system<E>(60, 3, 0.02, 0, generator);
  const auto general = general_system<E>(60, generator);
  const Field<E> b = random_vector<E>(60, generator);
  // A system so well conditioned that the copy suffices.
  const auto easy = random_system<E>(60, 3, 20, 0, generator);
  const auto norm = static_cast<double>(components_of<long double>(b).norm());
  const SolverOptions options{.tolerance = tolerance};
  int layout = 0;
  for (const char* kept : {"half", "bfloat", "scaled"}) {
    const std::string text = layouts[layout++] + (",iteration-precision=" + std::string(kept));
    SCOPED_TRACE(text);
    const auto expect_solved = [&](const CsrMatrix<E>& matrix, const Field<E>& x,
                                   const Report& report) {
      ASSERT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.detail.empty(), report.stored == kept) << report;
      EXPECT_TRUE(report.stored == kept || report.stored == "float" || report.stored == "own");
      const auto residual = static_cast<double>(true_residual(matrix, b, x));
      EXPECT_FALSE(!(residual <= tolerance * norm + rounding_of_residual(matrix, x)));
    };
    if constexpr (has_adjoint<E>) {
      for (const auto* const of : {&positive.matrix, &easy.matrix}) {
        const Operator<E> A(*of, parse_plan(text));
        Field<E> x(60);
        const Report report = ConjugateGradient<double>(A, Jacobi<E>(A), options).solve(b, x);
        expect_solved(*of, x, report);
        EXPECT_TRUE(of == &positive.matrix || report.stored == kept) << report;
      }
    }
    const Operator<E> A(general.matrix, parse_plan(text));
    Field<E> x(60);
    BiCGStab<double> solver(A, options);
    expect_solved(general.matrix, x, solver.solve(b.view(), x.view()));
  }
}

TEST(StoredFloatPlan, SixteenBitsStepUpToFloatsAndThenToTheMatrix) {
  using E = quaternion<double>;
  Generator generator(63);
  const Field<E> b = random_vector<E>(120, generator);
  for (const auto& [shift, stored, detail] :
       {std::tuple{1e-5, "float",
                   "the copy in 16 bits did not suffice, the last iterations read "
                   "one in float"},
        {1e-10, "own",
         "the copy in 16 bits did not suffice, the last iterations read the matrix "
         "itself"}}) {
    SCOPED_TRACE(shift);
    auto [matrix, null_vector] = random_laplacian<E>(120, 3, generator);
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        if (matrix.column()[i] == row) matrix.values()[4 * i] += shift;
      }
    }
    const Operator<E> A(matrix, parse_plan("iteration-precision=bfloat"));
    ConjugateGradient<double> solver(A, {.tolerance = 1e-6});
    for (const char* solve : {"first", "again"}) {
      SCOPED_TRACE(solve);
      Field<E> x(120);
      const Report report = solver.solve(b.view(), x.view());
      ASSERT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.stored, stored);
      EXPECT_EQ(report.detail, detail);
    }
  }
}

TEST(StoredFloatPlan, NewValuesReachBothCopies) {
  using E = quaternion<double>;
  Generator generator(71);
  auto matrix = random_system<E>(150, 3, 0.1, 0, generator).matrix;
  const Field<E> b = random_vector<E>(150, generator);
  Operator<E> A(matrix, with_floats("K1rs,inner=aosoa16"));
  ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = tolerance});
  const auto expect_solved = [&](const char* how) {
    SCOPED_TRACE(how);
    Field<E> x(150);
    const Report report = solver.solve(b.view(), x.view());
    ASSERT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.stored, "float");
    const auto residual = static_cast<double>(true_residual(matrix, b, x));
    const auto norm = static_cast<double>(components_of<long double>(b).norm());
    EXPECT_FALSE(!(residual <= tolerance * norm + rounding_of_residual(matrix, x)));
  };
  expect_solved("as built");
  for (double& value : matrix.values()) value *= -7;
  for (double& value : matrix.values()) value = -value;
  A.update_values(matrix);
  expect_solved("update_values");
  for (double& value : matrix.values()) value *= 3;
  for (double& value : A.values_in_basis()) value *= 3;
  A.values_changed();
  expect_solved("values_in_basis");
  for (double& value : matrix.values()) value /= 5;
  const Operator<E> other(A, matrix);
  Field<E> x = other.field(), y = other.field(), z = other.field();
  fill_randomly(x, generator);
  other.apply(1, x.view(), 0, y.view(), Stream{});
  other.iterated().apply(1, x.view(), 0, z.view(), Stream{});
  double apart = 0;
  for (std::size_t i = 0; i < y.scalars().size(); ++i) {
    apart = std::max(apart, std::abs(y.scalars()[i] - z.scalars()[i]));
  }
  EXPECT_GT(apart, 0);
  EXPECT_FALSE(!(apart <= 1e-5));
}

/// The matrix is so nearly singular that its floats are an entirely different system.
TEST(StoredFloatPlan, GoesOnWithTheMatrixWhereFloatsDoNotSuffice) {
  using E = complex<double>;
  for (const unsigned seed : {81, 82, 83}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    auto [matrix, null_vector] = random_laplacian<E>(120, 3, generator);
    constexpr double shift = 1e-8;
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        if (matrix.column()[i] == row) matrix.values()[2 * i] += shift;
      }
    }
    const Field<E> b = random_vector<E>(120, generator);
    for (const char* method : {"cg", "bicgstab"}) {
      SCOPED_TRACE(method);
      const Operator<E> A(matrix, with_floats("CSR"));
      const SolverOptions options{.tolerance = 1e-6};
      Field<E> x(120);
      const Report report = std::string(method) == "cg"
                                ? ConjugateGradient<double>(A, options).solve(b.view(), x.view())
                                : BiCGStab<double>(A, options).solve(b.view(), x.view());
      ASSERT_TRUE(report.converged()) << report;
      EXPECT_EQ(report.stored, "own");
      EXPECT_EQ(report.detail,
                "the copy in float did not suffice, the last iterations read the matrix itself");
      const auto residual = static_cast<double>(true_residual(matrix, b, x));
      const auto norm = static_cast<double>(components_of<long double>(b).norm());
      EXPECT_FALSE(!(residual <= 1e-6 * norm + rounding_of_residual(matrix, x)));
    }
  }
}

/// The matrix in floats is not singular, or has other null vectors.
TEST(StoredFloatPlan, SolvesWithANullSpace) {
  using E = quaternion<double>;
  for (const unsigned seed : {86, 87, 88, 89}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto [matrix, null_vector] = random_laplacian<E>(400, 2, generator);
    const Field<E> b = image_of(matrix, random_vector<E>(400, generator));
    const auto solve = [&](const char* plan) {
      const Operator<E> A(matrix, parse_plan(plan));
      ConjugateGradient<double> solver(A, Jacobi<E>(A), {.tolerance = 1e-11});
      solver.set_null_space({null_vector.view()});
      Field<E> x(400);
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(report.converged()) << report;
      return report.iterations;
    };
    EXPECT_LE(solve("stored=float"), 2 * solve("stored=own"));
  }
}

TEST(StoredFloatPlan, EndsAsDoubleDoes) {
  using E = real<double>;
  Generator generator(91);
  const auto matrix = random_system<E>(100, 3, 0.1, 0, generator).matrix;
  const Field<E> b = random_vector<E>(100, generator);
  const auto report = [&](const CsrMatrix<E>& of, const char* plan, SolverOptions options) {
    const Operator<E> A(of, parse_plan(plan));
    ConjugateGradient<double> solver(A, std::move(options));
    Field<E> x(100);
    return solver.solve(b.view(), x.view());
  };
  auto negative = matrix, not_finite = matrix, indefinite = matrix;
  for (double& value : negative.values()) value = -value;
  not_finite.values()[7] = std::numeric_limits<double>::infinity();
  for (Offset i = indefinite.offsets()[50]; i < indefinite.offsets()[51]; ++i) {
    if (indefinite.column()[i] == 50) indefinite.values()[i] *= -1;
  }
  for (const char* plan : {"stored=own", "stored=float"}) {
    SCOPED_TRACE(plan);
    EXPECT_EQ(report(negative, plan, {}).status, Status::indefinite);
    EXPECT_EQ(report(indefinite, plan, {}).status, Status::indefinite);
    EXPECT_EQ(report(not_finite, plan, {}).status, Status::not_finite);
    EXPECT_EQ(report(matrix, plan, {.tolerance = 1e-300}).status, Status::accuracy_limit);
    const Report limited = report(matrix, plan, {.max_iterations = 3});
    EXPECT_EQ(limited.status, Status::iteration_limit);
    EXPECT_EQ(limited.iterations, 3);
    EXPECT_EQ(report(matrix, plan, {.time_limit = 0}).status, Status::time_limit);
    const auto never = [](const SolveProgress&) { return false; };
    EXPECT_EQ(report(matrix, plan, {.observer = never}).status, Status::cancelled);
  }
}

template <class F>
void expect_refusal(const std::string& message, F&& f) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_plan);
    EXPECT_EQ(std::string(error.what()), "plan: iteration-precision=single: " + message);
  }
}

TEST(StoredFloatPlan, RefusesWhatNoFloatHolds) {
  using E = complex<double>;
  Generator generator(101);
  // Dense, so that entry i is in row i / 9 and column i % 9.
  Tiles<E> tiles(9);
  for (Index i = 0; i < 81; ++i) tiles.at(i / 9, i % 9) = random_tile<E>(generator, 1);
  const CsrMatrix<E> matrix = tiles.assemble();
  for (const char* layout : {"CSR", "C=4,T=2,inner=aosoa16", "K2rs,order=rcm", "K1,inner=soa"}) {
    SCOPED_TRACE(layout);
    const Plan plan = with_floats(layout);
    Operator<E> A(matrix, plan);
    const std::string advice =
        " (counted from 0) is beyond the range of a float; scale the matrix, or leave "
        "iteration-precision=single out";
    CsrMatrix<E> wide = matrix;
    wide.values()[2 * (9 * 7 + 3) + 1] = -1e39;
    const std::string refusal = "the entry of row 7, column 3" + advice;
    expect_refusal(refusal, [&] { Operator<E>(wide, plan); });
    expect_refusal(refusal, [&] { A.update_values(wide); });
    A.update_values(matrix);

    CsrMatrix<E> tiny = matrix;
    for (double& value : tiny.values()) value = 0;
    Operator<E>(tiny, plan);  // zero is a float
    tiny.values()[2 * (9 * 2 + 8)] = 1e-40;
    expect_refusal(
        "the entry of row 2, column 8 (counted from 0) is beyond the "
        "range of a float: all entries are too small; scale the matrix, or leave "
        "iteration-precision=single out",
        [&] { Operator<E>(tiny, plan); });
    tiny.values()[0] = 1;  // negligible next to this one
    Operator<E>(tiny, plan);
  }
}

TEST(StoredFloatPlan, FloatsAreKeptOnce) {
  using E = quaternion<float>;
  Generator generator(111);
  const auto matrix = random_system<E>(80, 3, 0.1, 0, generator).matrix;
  const Operator<E> A(matrix, with_floats("CSR"));
  EXPECT_EQ(&A.iterated(), &A);
  EXPECT_EQ(A.memory().copy, 0);
  const Field<E> b = random_vector<E>(80, generator);
  Field<E> x(80);
  const Report report = ConjugateGradient<float>(A).solve(b.view(), x.view());
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(report.stored, "own");
}

}  // namespace
}  // namespace heddle::test
