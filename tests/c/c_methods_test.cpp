// What methods and preconditioners take beside the rest, from C: beside C++, or a dense solution.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"
#include "heddle/heddle.hpp"
#include "heddle/runtime/any_block_conjugate_gradient.hpp"

using namespace heddle::c_test;

namespace {

/// A model problem with its operator under the plan CSR.
struct System {
  Context context;
  Matrix matrix;
  Operator A;
  std::int64_t rows = 0;
  heddle_entry entry;

  System(const char* problem, std::int64_t size, heddle_entry entry) : entry(entry) {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, problem, size, 1, &matrix), HEDDLE_OK);
    heddle_operator_options options;
    heddle_operator_options_init(&options, sizeof options);
    options.plan = "CSR";
    EXPECT_EQ(heddle_operator_create(matrix, &options, &A), HEDDLE_OK);
    std::int64_t columns = 0;
    EXPECT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  }
  std::vector<double> field(unsigned seed) const {
    return random_numbers(static_cast<std::size_t>(rows * heddle_row_scalars(entry)), seed);
  }
  /// x of A x = b from zero.
  std::vector<double> solve(const heddle_operator* of, const char* method,
                            const heddle_preconditioner* preconditioner,
                            const heddle_solver_options* options, std::vector<double> b,
                            heddle_report* told, heddle_outcome expected = HEDDLE_CONVERGED) const {
    Solver solver;
    EXPECT_EQ(heddle_solver_create(of, method, preconditioner, options, &solver), HEDDLE_OK)
        << message(context);
    std::vector<double> x(b.size());
    const heddle_view from = view(b, entry), to = view(x, entry);
    EXPECT_EQ(heddle_solver_solve(solver, &from, &to, told), HEDDLE_OK) << message(context);
    EXPECT_EQ(told->outcome, expected);
    return x;
  }
};

heddle_solver_options usual() {
  heddle_solver_options options;
  heddle_solver_options_init(&options, sizeof options);
  return options;
}

TEST(CMethods, AShiftedOperatorAddsToTheDiagonal) {
  const System s("dirac", 100, HEDDLE_QUATERNION);
  Operator shifted;
  ASSERT_EQ(heddle_operator_shifted(s.A, 0.75, &shifted), HEDDLE_OK);
  std::vector<double> x = s.field(1), y(x.size()), plain(x.size());
  const heddle_view from = view(x, s.entry), to = view(y, s.entry), other = view(plain, s.entry);
  ASSERT_EQ(heddle_operator_apply(s.A, &from, &other), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_apply(shifted, &from, &to), HEDDLE_OK);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], plain[i] + 0.75 * x[i], 1e-13);
  heddle_report told = report();
  s.solve(shifted, "cg", nullptr, nullptr, s.field(2), &told);
  Preconditioner jacobi;
  EXPECT_EQ(heddle_preconditioner_create(shifted, "jacobi", &jacobi), HEDDLE_ERROR_USAGE);
  Operator none;
  EXPECT_EQ(heddle_operator_shifted(s.A, std::nan(""), &none), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(none, nullptr);
}

/// Points, candidates and the strength, with the bits of C++.
TEST(CMethods, MultigridIsToldOfMotions) {
  const System s("elasticity", 300, HEDDLE_BLOCK3);
  const std::vector<double> points = random_numbers(static_cast<std::size_t>(3 * s.rows), 3);
  heddle_multigrid_options options;
  heddle_multigrid_options_init(&options, sizeof options);
  options.strength = 0.02;
  options.coordinates = points.data();
  Preconditioner motions;
  ASSERT_EQ(heddle_preconditioner_create_multigrid(s.A, "multigrid", &options, &motions), HEDDLE_OK)
      << message(s.context);
  const std::vector<double> b = s.field(4);
  heddle_report told = report();
  const std::vector<double> x = s.solve(s.A, "cg", motions, nullptr, b, &told);

  const heddle::AnyMatrix matrix(heddle::elasticity(300));
  const heddle::AnyOperator A(matrix, heddle::parse_plan("CSR"), heddle::Device::cpu());
  heddle::ComposedChoice choice(heddle::PreconditionerKind::multigrid);
  choice.multigrid.strength = 0.02;
  auto known = std::make_shared<std::vector<std::array<double, 3>>>();
  for (std::size_t i = 0; i < points.size(); i += 3) {
    known->push_back({points[i], points[i + 1], points[i + 2]});
  }
  choice.multigrid.points = known;
  heddle::AnySolver solver(A, heddle::find_method("cg"), choice, {});
  std::vector<double> expected(x.size());
  const auto rows = matrix.rows();
  ASSERT_TRUE(solver.solver<double>()
                  .solve(heddle::FieldView<const double>(b.data(), rows, 3),
                         heddle::FieldView<double>(expected.data(), rows, 3))
                  .converged());
  EXPECT_EQ(std::memcmp(x.data(), expected.data(), x.size() * sizeof(double)), 0);

  const auto expect_usage = [&](const char* text) {
    Preconditioner made;
    EXPECT_EQ(heddle_preconditioner_create_multigrid(s.A, text, &options, &made),
              HEDDLE_ERROR_USAGE);
    EXPECT_EQ(made, nullptr);
  };
  expect_usage("jacobi");
  options.adaptive = 1;
  expect_usage("multigrid");
  options.adaptive = 0;
  options.strength = 1;
  expect_usage("multigrid");
}

TEST(CMethods, MultigridTakesCandidates) {
  const System s("poisson", 1000, HEDDLE_REAL);
  std::vector<double> ones(static_cast<std::size_t>(s.rows), 1.0);
  const heddle_view candidate = view(ones, HEDDLE_REAL);
  heddle_multigrid_options options;
  heddle_multigrid_options_init(&options, sizeof options);
  options.candidates = &candidate;
  options.candidate_count = 1;
  Preconditioner own, usual_one;
  ASSERT_EQ(heddle_preconditioner_create_multigrid(s.A, "multigrid", &options, &own), HEDDLE_OK);
  ASSERT_EQ(heddle_preconditioner_create(s.A, "multigrid", &usual_one), HEDDLE_OK);
  heddle_report told = report(), expected = report();
  const std::vector<double> b = s.field(5);
  s.solve(s.A, "cg", own, nullptr, b, &told);
  s.solve(s.A, "cg", usual_one, nullptr, b, &expected);
  EXPECT_EQ(told.iterations, expected.iterations);  // constants are what it has without
  ones.pop_back();
  const heddle_view short_one = view(ones, HEDDLE_REAL);
  options.candidates = &short_one;
  Preconditioner none;
  EXPECT_EQ(heddle_preconditioner_create_multigrid(s.A, "multigrid", &options, &none),
            HEDDLE_ERROR_SIZE_MISMATCH);
}

/// Beside sliced storage, with preconditioners of the diagonal, of all entries and of products.
TEST(CMethods, ATreeMultipliesAndSolves) {
  const System s("dirac", 200, HEDDLE_QUATERNION);
  heddle_operator_options options;
  heddle_operator_options_init(&options, sizeof options);
  options.storage = "hisparse";
  options.node = 8;
  options.dense = "never";
  Operator tree, adjoint;
  ASSERT_EQ(heddle_operator_create(s.matrix, &options, &tree), HEDDLE_OK) << message(s.context);
  ASSERT_EQ(heddle_operator_adjoint(tree, &adjoint), HEDDLE_OK) << message(s.context);
  EXPECT_EQ(heddle_operator_plan(tree, nullptr, 0), 0U);
  std::vector<double> x = s.field(1), y(x.size()), z(x.size()), plain(x.size());
  const heddle_view from = view(x, s.entry), to = view(y, s.entry), other = view(plain, s.entry),
                    third = view(z, s.entry);
  ASSERT_EQ(heddle_operator_apply(s.A, &from, &other), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_apply(tree, &from, &to), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_apply(adjoint, &from, &third), HEDDLE_OK);  // Hermitian
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], plain[i], 1e-12);
    EXPECT_NEAR(z[i], plain[i], 1e-12);
  }
  const std::vector<double> b = s.field(2);
  for (const char* const text : {"none", "jacobi", "fsai", "chebyshev:3", "multigrid"}) {
    Preconditioner of_tree, of_sliced;
    ASSERT_EQ(heddle_preconditioner_create(tree, text, &of_tree), HEDDLE_OK) << message(s.context);
    ASSERT_EQ(heddle_preconditioner_create(s.A, text, &of_sliced), HEDDLE_OK);
    heddle_report told = report(), expected = report();
    s.solve(tree, "cg", of_tree, nullptr, b, &told);
    s.solve(s.A, "cg", of_sliced, nullptr, b, &expected);
    EXPECT_NEAR(double(told.iterations), double(expected.iterations), 1) << text;
  }
  const heddle_view values{x.data(), 1, s.entry, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
  EXPECT_EQ(heddle_operator_update_values(tree, &values), HEDDLE_ERROR_UNSUPPORTED);
  const auto expect_usage = [&] {
    Operator none;
    EXPECT_EQ(heddle_operator_create(s.matrix, &options, &none), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(none, nullptr);
  };
  options.node = 7;
  expect_usage();
  options.node = 8;
  options.plan = "CSR";
  expect_usage();
  options.plan = nullptr;
  for (const char* const dense : {"0", "101", "half", ""}) {
    options.dense = dense;
    expect_usage();
  }
  options.dense = "never";
  for (const char* const launch : {"warps=3", "warps=4,", "blocks=2", "warps=4"}) {
    options.launch = launch;  // the last one is for a GPU
    expect_usage();
  }
  options.launch = nullptr;
  options.storage = "sliced";
  options.node = 0;
  expect_usage();  // dense
  options.dense = nullptr;
  options.node = 8;
  expect_usage();
  options.storage = "tree";
  expect_usage();
}

TEST(CMethods, BlockCgHasTheBitsOfCpp) {
  const System s("dirac", 300, HEDDLE_QUATERNION);
  Preconditioner jacobi;
  Solver solver;
  heddle_solver_options options = usual();
  options.record_history = 1;
  ASSERT_EQ(heddle_preconditioner_create(s.A, "jacobi", &jacobi), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(s.A, "block-cg", jacobi, &options, &solver), HEDDLE_OK)
      << message(s.context);
  const double* history = nullptr;
  std::int64_t count = -1;
  ASSERT_EQ(heddle_solver_history(solver, &history, &count), HEDDLE_OK) << message(s.context);
  EXPECT_EQ(count, 0);
  std::vector<std::vector<double>> b, x;
  std::vector<heddle_view> from, to;
  for (unsigned k = 0; k < 3; ++k) {
    b.push_back(s.field(k));
    x.emplace_back(b.back().size());
  }
  for (std::size_t k = 0; k < 3; ++k) {
    from.push_back(view(b[k], s.entry));
    to.push_back(view(x[k], s.entry));
  }
  std::vector<heddle_report> reports(3, report());
  ASSERT_EQ(heddle_solver_solve_all(solver, 3, from.data(), to.data(), reports.data()), HEDDLE_OK)
      << message(s.context);
  ASSERT_EQ(heddle_solver_history(solver, &history, &count), HEDDLE_OK);
  EXPECT_EQ(count, reports[0].iterations + 1);

  const heddle::AnyOperator A(heddle::AnyMatrix(heddle::dirac(300)), heddle::parse_plan("CSR"),
                              heddle::Device::cpu());
  heddle::AnyBlockConjugateGradient block(A, heddle::PreconditionerKind::jacobi, {});
  std::vector<std::vector<double>> expected = x;
  std::vector<heddle::FieldView<const double>> right;
  std::vector<heddle::FieldView<double>> left;
  for (std::size_t k = 0; k < 3; ++k) {
    std::fill(expected[k].begin(), expected[k].end(), 0.0);
    right.emplace_back(b[k].data(), s.rows, 4);
    left.emplace_back(expected[k].data(), s.rows, 4);
  }
  const auto told = block.solver<double>().solve(right, left);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(reports[k].outcome, HEDDLE_CONVERGED);
    EXPECT_EQ(reports[k].iterations, told[k].iterations);
    EXPECT_EQ(x[k], expected[k]);
  }
  EXPECT_EQ(heddle_solver_set_null_space(solver, 1, from.data()), HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_prepare_enqueue(solver, from.data(), to.data(), nullptr),
            HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_wait(solver, nullptr), HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_cancel(solver), HEDDLE_ERROR_UNSUPPORTED);
}

/// Beside the normal equations, dense.
TEST(CMethods, LeastSquaresMinimizes) {
  constexpr int rows = 7, columns = 4;
  std::vector<double> values = random_numbers(rows * columns, 6), b = random_numbers(rows, 7);
  std::vector<std::int32_t> row, column;
  Eigen::MatrixXd dense(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      row.push_back(i);
      column.push_back(j);
      dense(i, j) = values[static_cast<std::size_t>(i * columns + j)];
    }
  }
  Context context;
  Matrix matrix;
  Operator A;
  heddle_pattern places = pattern(rows, row, column);
  places.columns = columns;
  const heddle_view entries = view(values, HEDDLE_REAL, true), right = view(b, HEDDLE_REAL);
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &places, &entries, &matrix), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  for (const double damping : {0.0, 0.5}) {
    heddle_least_squares_options options;
    heddle_least_squares_options_init(&options, sizeof options);
    options.damping = damping;
    options.tolerance = 1e-13;
    int asked = 0;
    options.user = &asked;
    options.observer = [](void* user, const heddle_progress*) {
      ++*static_cast<int*>(user);
      return 0;
    };
    LeastSquares solver;
    ASSERT_EQ(heddle_least_squares_create(A, &options, &solver), HEDDLE_OK) << message(context);
    std::vector<double> x(columns);
    const heddle_view left = view(x, HEDDLE_REAL);
    heddle_least_squares_report told{};
    told.struct_size = sizeof told;
    ASSERT_EQ(heddle_least_squares_solve(solver, &right, &left, &told), HEDDLE_OK);
    EXPECT_EQ(told.outcome, HEDDLE_CONVERGED);
    EXPECT_GE(asked, told.iterations);
    const Eigen::Map<const Eigen::VectorXd> known(b.data(), rows);
    const Eigen::MatrixXd normal =
        dense.transpose() * dense + damping * damping * Eigen::MatrixXd::Identity(columns, columns);
    const Eigen::VectorXd expected = normal.ldlt().solve(dense.transpose() * known);
    for (int j = 0; j < columns; ++j)
      EXPECT_NEAR(x[static_cast<std::size_t>(j)], expected(j), 1e-11);
    EXPECT_NEAR(told.residual_norm, (known - dense * expected).norm(), 1e-11);
    EXPECT_EQ(heddle_least_squares_solve(solver, &left, &left, nullptr),
              HEDDLE_ERROR_SIZE_MISMATCH);
  }
  heddle_least_squares_options options;
  heddle_least_squares_options_init(&options, sizeof options);
  options.damping = -1;
  LeastSquares none;
  EXPECT_EQ(heddle_least_squares_create(A, &options, &none), HEDDLE_ERROR_USAGE);
}

TEST(CMethods, StepsAndBasesAreOfTheirMethods) {
  const System s("poisson", 200, HEDDLE_REAL);
  const std::vector<double> b = s.field(8);
  heddle_report told = report(), of_estimate = report();
  heddle_solver_options options = usual();
  options.lower = 0.05;
  options.upper = 20;
  s.solve(s.A, "chebyshev", nullptr, &options, b, &told);
  s.solve(s.A, "chebyshev", nullptr, nullptr, b, &of_estimate);
  EXPECT_NE(told.iterations, of_estimate.iterations);
  const auto expect_usage = [&](const char* method) {
    Solver none;
    EXPECT_EQ(heddle_solver_create(s.A, method, nullptr, &options, &none), HEDDLE_ERROR_USAGE);
  };
  expect_usage("cg");
  options.omega = 0.1;
  expect_usage("richardson");  // and the interval
  options.upper = 0;
  expect_usage("richardson");
  options.lower = 0;
  s.solve(s.A, "richardson", nullptr, &options, b, &told);
  expect_usage("chebyshev");
  options = usual();
  options.basis_in_single = 1;
  expect_usage("cg");
  expect_usage("block-cg");
  const std::vector<double> x = s.solve(s.A, "gmres", nullptr, &options, b, &told);
  EXPECT_NE(x, s.solve(s.A, "gmres", nullptr, nullptr, b, &of_estimate));
}

/// The x that a limit leaves is the last one, unless the best is asked for.
TEST(CMethods, KeepTheLastIterateOrTheBest) {
  const System s("poisson", 400, HEDDLE_REAL);
  heddle_solver_options options = usual();
  options.max_iterations = 3;
  heddle_report told = report();
  std::vector<double> b = s.field(1);
  // Far from smooth but at one end: the residual of conjugate gradient rises.
  for (std::size_t i = 0; i + 1 < b.size(); ++i) b[i] = 1;
  b.back() = 200;
  const std::vector<double> last =
      s.solve(s.A, "cg", nullptr, &options, b, &told, HEDDLE_ITERATION_LIMIT);
  EXPECT_EQ(told.returned, HEDDLE_RETURNED_LAST);
  options.keep_best = 1;
  heddle_report best = report();
  s.solve(s.A, "cg", nullptr, &options, b, &best, HEDDLE_ITERATION_LIMIT);
  EXPECT_LE(best.residual, told.residual);
  options.max_iterations = 0;
  s.solve(s.A, "cg", nullptr, &options, b, &best, HEDDLE_ITERATION_LIMIT);
  EXPECT_EQ(best.returned, HEDDLE_RETURNED_GUESS);
  // Programs that know neither have the last one, and room for no more than they know.
  options = usual();
  options.max_iterations = 3;
  options.keep_best = 1;
  options.struct_size = offsetof(heddle_solver_options, keep_best);
  told = report();
  told.struct_size = offsetof(heddle_report, returned);
  told.returned = HEDDLE_RETURNED_BEST;
  EXPECT_EQ(s.solve(s.A, "cg", nullptr, &options, b, &told, HEDDLE_ITERATION_LIMIT), last);
  EXPECT_EQ(told.returned, HEDDLE_RETURNED_BEST) << "not written to";
}

/// The residual of doubles, in any memory of options that is newer than the program's.
TEST(CMethods, FieldsMayBeInSingle) {
  const System s("dirac", 200, HEDDLE_QUATERNION);
  Preconditioner jacobi;
  ASSERT_EQ(heddle_preconditioner_create(s.A, "jacobi", &jacobi), HEDDLE_OK);
  heddle_solver_options options = usual();
  options.tolerance = 1e-11;
  options.record_history = 1;
  options.fields_in_single = 1;
  heddle_report told = report();
  const std::vector<double> b = s.field(1);
  const std::vector<double> x = s.solve(s.A, "cg", jacobi, &options, b, &told);
  EXPECT_LE(told.residual, 1e-11);
  EXPECT_GE(told.restarts, 3);
  options.struct_size = 96;  // of a program that knows nothing of it
  EXPECT_NE(x, s.solve(s.A, "cg", jacobi, &options, b, &told));
  options = usual();
  options.fields_in_single = 1;
  Solver none;
  EXPECT_EQ(heddle_solver_create(s.A, "block-cg", jacobi, &options, &none),
            HEDDLE_ERROR_UNSUPPORTED);
  Operator shifted;
  ASSERT_EQ(heddle_operator_shifted(s.A, 1, &shifted), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_create(shifted, "cg", nullptr, &options, &none),
            HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(s.context),
            "fields in single precision are of a matrix in sliced storage that no ranks share");
  ASSERT_EQ(heddle_solver_create(s.A, "cg", jacobi, &options, &none), HEDDLE_OK);
  std::vector<double> right = b, left = x;
  const heddle_view from = view(right, s.entry), out = view(left, s.entry);
  EXPECT_EQ(heddle_solver_enqueue(none, &from, &out, nullptr, nullptr), HEDDLE_ERROR_UNSUPPORTED);
}

}  // namespace
