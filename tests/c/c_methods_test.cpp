// Inputs of methods and preconditioners beyond the common ones, from C: compared with C++, or with
// a dense solution.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"
#include "heddle/heddle.hpp"
#include "heddle/runtime/any_solver.hpp"

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
    const Settings settings(context, {{"plan", "CSR"}});
    EXPECT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK);
    std::int64_t columns = 0;
    EXPECT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  }
  std::vector<double> field(unsigned seed) const {
    return random_numbers(static_cast<std::size_t>(rows * heddle_row_scalars(entry)), seed);
  }
  /// Solves A x = b from zero and returns x.
  std::vector<double> solve(const heddle_operator* of, const char* method,
                            const heddle_preconditioner* preconditioner,
                            const heddle_settings* settings, std::vector<double> b,
                            heddle_report* result,
                            heddle_outcome expected = HEDDLE_CONVERGED) const {
    Solver solver;
    EXPECT_EQ(heddle_solver_create(of, method, preconditioner, settings, &solver), HEDDLE_OK)
        << message(context);
    std::vector<double> x(b.size());
    const heddle_view from = view(b, entry), to = view(x, entry);
    EXPECT_EQ(heddle_solver_solve(solver, &from, &to, result), HEDDLE_OK) << message(context);
    EXPECT_EQ(result->outcome, expected);
    return x;
  }
};

TEST(CMethods, AShiftedOperatorAddsToTheDiagonal) {
  const System s("dirac", 100, HEDDLE_QUATERNION);
  Operator shifted;
  ASSERT_EQ(heddle_operator_shifted(s.A, 0.75, &shifted), HEDDLE_OK);
  std::vector<double> x = s.field(1), y(x.size()), plain(x.size());
  const heddle_view from = view(x, s.entry), to = view(y, s.entry), other = view(plain, s.entry);
  ASSERT_EQ(heddle_operator_apply(s.A, &from, &other), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_apply(shifted, &from, &to), HEDDLE_OK);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], plain[i] + 0.75 * x[i], 1e-13);
  heddle_report result = report();
  s.solve(shifted, "cg", nullptr, nullptr, s.field(2), &result);
  Preconditioner jacobi;
  EXPECT_EQ(heddle_preconditioner_create(shifted, "jacobi", nullptr, &jacobi), HEDDLE_ERROR_USAGE);
  Operator none;
  EXPECT_EQ(heddle_operator_shifted(s.A, std::nan(""), &none), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(none, nullptr);
}

/// Passes points, candidates and the strength, with the bits of C++.
TEST(CMethods, MultigridTakesMotions) {
  const System s("elasticity", 300, HEDDLE_BLOCK3);
  const std::vector<double> points = random_numbers(static_cast<std::size_t>(3 * s.rows), 3);
  Settings settings(s.context, {{"strength", "0.02"}});
  ASSERT_EQ(heddle_settings_use_coordinates(settings, points.data()), HEDDLE_OK);
  Preconditioner motions;
  ASSERT_EQ(heddle_preconditioner_create(s.A, "multigrid", settings, &motions), HEDDLE_OK)
      << message(s.context);
  const std::vector<double> b = s.field(4);
  heddle_report result = report();
  const std::vector<double> x = s.solve(s.A, "cg", motions, nullptr, b, &result);

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

  const auto expect_usage = [&](const char* text, const std::string& words) {
    Preconditioner made;
    EXPECT_EQ(heddle_preconditioner_create(s.A, text, settings, &made), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(made, nullptr);
    EXPECT_NE(message(s.context).find(words), std::string::npos) << message(s.context);
  };
  expect_usage("jacobi", "coordinates is for the preconditioner multigrid, not for jacobi");
  settings.set("candidates", "adaptive");
  expect_usage("multigrid", "exclude one another: give one of them");
  ASSERT_EQ(heddle_settings_use_coordinates(settings, nullptr), HEDDLE_OK);
  expect_usage("fsai", "strength is for the preconditioner multigrid, not for fsai");
}

/// Settings come from parts of the text, from settings, or from both.
TEST(CMethods, MultigridIsChosenByTextOrSettings) {
  const System s("poisson", 30000, HEDDLE_REAL);  // has several levels
  const std::vector<double> b = s.field(9);
  const auto solved = [&](const char* text, std::initializer_list<Setting> given) {
    const Settings settings(s.context, given);
    Preconditioner made;
    EXPECT_EQ(heddle_preconditioner_create(s.A, text, settings, &made), HEDDLE_OK);
    heddle_report result = report();
    return s.solve(s.A, "fgmres", made, nullptr, b, &result);
  };
  const Setting cycle{"cycle", "k"}, smoother{"smoother", "gauss-seidel"};
  const Setting interpolation{"interpolation", "plain"}, precision{"level_precision", "single"};
  const std::vector<double> x = solved("multigrid:k:gauss-seidel:plain:single", {});
  EXPECT_EQ(solved("multigrid", {cycle, smoother, interpolation, precision}), x);
  EXPECT_EQ(solved("multigrid:plain:k", {{"estimates_again", "yes"}, precision, smoother}), x);
  EXPECT_NE(solved("multigrid:plain", {precision, smoother}), x);
}

TEST(CMethods, MultigridTakesCandidates) {
  const System s("poisson", 1000, HEDDLE_REAL);
  std::vector<double> ones(static_cast<std::size_t>(s.rows), 1.0);
  const heddle_view candidate = view(ones, HEDDLE_REAL);
  const Settings settings(s.context);
  ASSERT_EQ(heddle_settings_use_candidates(settings, 1, &candidate), HEDDLE_OK);
  Preconditioner own, usual_one;
  ASSERT_EQ(heddle_preconditioner_create(s.A, "multigrid", settings, &own), HEDDLE_OK);
  ASSERT_EQ(heddle_preconditioner_create(s.A, "multigrid", nullptr, &usual_one), HEDDLE_OK);
  heddle_report result = report(), expected = report();
  const std::vector<double> b = s.field(5);
  s.solve(s.A, "cg", own, nullptr, b, &result);
  s.solve(s.A, "cg", usual_one, nullptr, b, &expected);
  EXPECT_EQ(result.iterations, expected.iterations);  // constants are its default candidates
  ones.pop_back();
  const heddle_view short_one = view(ones, HEDDLE_REAL);
  ASSERT_EQ(heddle_settings_use_candidates(settings, 1, &short_one), HEDDLE_OK);
  Preconditioner none;
  EXPECT_EQ(heddle_preconditioner_create(s.A, "multigrid", settings, &none),
            HEDDLE_ERROR_SIZE_MISMATCH);
  for (const std::int64_t count : {-1, 7}) {
    EXPECT_EQ(heddle_settings_use_candidates(settings, count, &candidate), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(message(s.context), "give 0 to 6 candidates");
  }
  EXPECT_EQ(heddle_settings_use_candidates(settings, 1, nullptr), HEDDLE_ERROR_USAGE);
  ASSERT_EQ(heddle_settings_use_candidates(settings, 0, nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_preconditioner_create(s.A, "multigrid", settings, &none), HEDDLE_OK);
}

/// Compared with sliced storage, with preconditioners made of the diagonal, of all entries and of
/// products.
TEST(CMethods, ATreeMultipliesAndSolves) {
  const System s("dirac", 200, HEDDLE_QUATERNION);
  const Settings settings(s.context, {{"storage", "hisparse"}, {"node", "8"}, {"dense", "never"}});
  Operator tree, adjoint;
  ASSERT_EQ(heddle_operator_create(s.matrix, settings, &tree), HEDDLE_OK) << message(s.context);
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
    ASSERT_EQ(heddle_preconditioner_create(tree, text, nullptr, &of_tree), HEDDLE_OK)
        << message(s.context);
    ASSERT_EQ(heddle_preconditioner_create(s.A, text, nullptr, &of_sliced), HEDDLE_OK);
    heddle_report result = report(), expected = report();
    s.solve(tree, "cg", of_tree, nullptr, b, &result);
    s.solve(s.A, "cg", of_sliced, nullptr, b, &expected);
    EXPECT_NEAR(double(result.iterations), double(expected.iterations), 1) << text;
  }
  const heddle_view values{x.data(), 1, s.entry, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
  EXPECT_EQ(heddle_operator_update_values(tree, &values), HEDDLE_ERROR_UNSUPPORTED);
}

TEST(CMethods, SettingsOfStorageMayExcludeOneAnother) {
  const System s("dirac", 200, HEDDLE_QUATERNION);
  const auto expect_usage = [&](std::initializer_list<Setting> given, const std::string& words) {
    Operator none;
    const Settings settings(s.context, given);
    EXPECT_EQ(heddle_operator_create(s.matrix, settings, &none), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(none, nullptr);
    EXPECT_NE(message(s.context).find(words), std::string::npos) << message(s.context);
  };
  const Setting tree{"storage", "hisparse"};
  expect_usage({tree, {"plan", "CSR"}},
               "a plan is for sliced storage, but the storage is hisparse");
  for (const char* const dense : {"0", "101", "half"}) {
    expect_usage({tree, {"dense", dense}}, "dense is 1 to 100, never or bytes");
  }
  for (const char* const launch : {"warps=3", "warps=4,", "blocks=2"}) {
    expect_usage({tree, {"launch", launch}}, "");
  }
  expect_usage({tree, {"launch", "warps=4"}}, "launch is for products on a GPU, not on a CPU");
  for (const Setting& of_tree : {Setting{"node", "8"}, {"dense", "never"}, {"launch", "warps=4"}}) {
    const std::string words =
        std::string(of_tree.name) + " is for the storage hisparse, not for sliced storage";
    expect_usage({of_tree}, words);
    expect_usage({{"storage", "sliced"}, of_tree}, words);
  }
}

TEST(CMethods, BlockCgHasTheBitsOfCpp) {
  const System s("dirac", 300, HEDDLE_QUATERNION);
  Preconditioner jacobi;
  Solver solver;
  const Settings settings(s.context, {{"record_history", "true"}});
  ASSERT_EQ(heddle_preconditioner_create(s.A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(s.A, "block-cg", jacobi, settings, &solver), HEDDLE_OK)
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
  heddle::AnySolver block(A, heddle::block_conjugate_gradient_info,
                          heddle::PreconditionerKind::jacobi, {});
  std::vector<std::vector<double>> expected = x;
  std::vector<heddle::FieldView<const double>> right;
  std::vector<heddle::FieldView<double>> left;
  for (std::size_t k = 0; k < 3; ++k) {
    std::fill(expected[k].begin(), expected[k].end(), 0.0);
    right.emplace_back(b[k].data(), s.rows, 4);
    left.emplace_back(expected[k].data(), s.rows, 4);
  }
  std::vector<heddle::Report> expected_reports;
  block.visit([&]<class S>(heddle::SystemSolver<S>& solved) {
    if constexpr (std::is_same_v<S, double>) {
      expected_reports = solved.solve(std::span<const heddle::FieldView<const double>>(right),
                                      std::span<const heddle::FieldView<double>>(left));
    }
  });
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(reports[k].outcome, HEDDLE_CONVERGED);
    EXPECT_EQ(reports[k].iterations, expected_reports[k].iterations);
    EXPECT_EQ(x[k], expected[k]);
  }
  EXPECT_EQ(heddle_solver_set_null_space(solver, 1, from.data()), HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_prepare_enqueue(solver, from.data(), to.data(), nullptr),
            HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_wait(solver, nullptr), HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(heddle_solver_cancel(solver), HEDDLE_ERROR_UNSUPPORTED);
}

/// Compared with the dense normal equations.
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
    const Settings settings(context, {{"tolerance", "1e-13"}});
    ASSERT_EQ(heddle_settings_set_number(settings, "damping", damping), HEDDLE_OK);
    int asked = 0;
    const heddle_observer count = [](void* user, const heddle_progress*) {
      ++*static_cast<int*>(user);
      return 0;
    };
    ASSERT_EQ(heddle_settings_observe(settings, count, &asked), HEDDLE_OK);
    LeastSquares solver;
    ASSERT_EQ(heddle_least_squares_create(A, settings, &solver), HEDDLE_OK) << message(context);
    std::vector<double> x(columns);
    const heddle_view left = view(x, HEDDLE_REAL);
    heddle_least_squares_report result{};
    result.struct_size = sizeof result;
    ASSERT_EQ(heddle_least_squares_solve(solver, &right, &left, &result), HEDDLE_OK);
    EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
    EXPECT_GE(asked, result.iterations);
    const Eigen::Map<const Eigen::VectorXd> known(b.data(), rows);
    const Eigen::MatrixXd normal =
        dense.transpose() * dense + damping * damping * Eigen::MatrixXd::Identity(columns, columns);
    const Eigen::VectorXd expected = normal.ldlt().solve(dense.transpose() * known);
    for (int j = 0; j < columns; ++j)
      EXPECT_NEAR(x[static_cast<std::size_t>(j)], expected(j), 1e-11);
    EXPECT_NEAR(result.residual_norm, (known - dense * expected).norm(), 1e-11);
    EXPECT_EQ(heddle_least_squares_solve(solver, &left, &left, nullptr),
              HEDDLE_ERROR_SIZE_MISMATCH);
  }
}

TEST(CMethods, StepsAndBasesAreOfTheirMethods) {
  const System s("poisson", 200, HEDDLE_REAL);
  const std::vector<double> b = s.field(8);
  heddle_report result = report(), of_estimate = report();
  Settings settings(s.context, {{"interval", "0.05 20"}});
  s.solve(s.A, "chebyshev", nullptr, settings, b, &result);
  s.solve(s.A, "chebyshev", nullptr, nullptr, b, &of_estimate);
  EXPECT_NE(result.iterations, of_estimate.iterations);
  const auto expect_usage = [&](const char* method, const std::string& words) {
    Solver none;
    EXPECT_EQ(heddle_solver_create(s.A, method, nullptr, settings, &none), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(message(s.context), words);
    EXPECT_EQ(none, nullptr);
  };
  expect_usage("cg", "interval is for chebyshev and richardson, not for cg");
  settings.set("omega", "0.1");
  expect_usage("richardson", "omega and interval: give one of them");
  settings.reset("interval");
  s.solve(s.A, "richardson", nullptr, settings, b, &result);
  expect_usage("chebyshev", "omega is for richardson, not for chebyshev");
  settings.reset("omega").set("basis-precision", "single");
  expect_usage("cg", "basis-precision is for gmres and fgmres, not for cg");
  expect_usage("block-cg", "basis-precision is for gmres and fgmres, not for block-cg");
  const std::vector<double> x = s.solve(s.A, "gmres", nullptr, settings, b, &result);
  EXPECT_NE(x, s.solve(s.A, "gmres", nullptr, nullptr, b, &of_estimate));
  settings.set("basis_precision", "full");  // the default
  s.solve(s.A, "cg", nullptr, settings, b, &result);
  settings.reset("basis_precision").set("restart", "5");
  expect_usage("cg", "restart is for gmres and fgmres, not for cg");
  s.solve(s.A, "fgmres", nullptr, settings, b, &result);
}

/// At a limit, x is the last iterate, unless the best is requested.
TEST(CMethods, KeepTheLastIterateOrTheBest) {
  const System s("poisson", 400, HEDDLE_REAL);
  Settings settings(s.context, {{"max_iterations", "3"}});
  heddle_report result = report();
  std::vector<double> b = s.field(1);
  // Not smooth at one end: the residual of conjugate gradient rises.
  for (std::size_t i = 0; i + 1 < b.size(); ++i) b[i] = 1;
  b.back() = 200;
  const std::vector<double> last =
      s.solve(s.A, "cg", nullptr, settings, b, &result, HEDDLE_ITERATION_LIMIT);
  EXPECT_EQ(result.returned, HEDDLE_RETURNED_LAST);
  settings.set("keep", "best");
  heddle_report best = report();
  s.solve(s.A, "cg", nullptr, settings, b, &best, HEDDLE_ITERATION_LIMIT);
  EXPECT_LE(best.residual, result.residual);
  settings.set("max_iterations", "0");
  s.solve(s.A, "cg", nullptr, settings, b, &best, HEDDLE_ITERATION_LIMIT);
  EXPECT_EQ(best.returned, HEDDLE_RETURNED_GUESS);
  // The library writes no more of the program's memory than the program knows of.
  settings.set("keep", "last").set("max_iterations", "3");
  result = report();
  result.struct_size = offsetof(heddle_report, returned);
  result.returned = HEDDLE_RETURNED_BEST;
  EXPECT_EQ(s.solve(s.A, "cg", nullptr, settings, b, &result, HEDDLE_ITERATION_LIMIT), last);
  EXPECT_EQ(result.returned, HEDDLE_RETURNED_BEST) << "not written to";
}

/// The residual is as small as with doubles.
TEST(CMethods, FieldsMayBeInSingle) {
  const System s("dirac", 200, HEDDLE_QUATERNION);
  Preconditioner jacobi;
  ASSERT_EQ(heddle_preconditioner_create(s.A, "jacobi", nullptr, &jacobi), HEDDLE_OK);
  Settings settings(
      s.context,
      {{"tolerance", "1e-11"}, {"field_precision", "single"}, {"record_history", "true"}});
  heddle_report result = report();
  const std::vector<double> b = s.field(1);
  const std::vector<double> x = s.solve(s.A, "cg", jacobi, settings, b, &result);
  EXPECT_LE(result.residual, 1e-11);
  EXPECT_GE(result.restarts, 3);
  settings.set("field_precision", "full");
  EXPECT_NE(x, s.solve(s.A, "cg", jacobi, settings, b, &result));
  settings.reset("tolerance").set("field_precision", "single");
  Solver none;
  EXPECT_EQ(heddle_solver_create(s.A, "block-cg", jacobi, settings, &none),
            HEDDLE_ERROR_UNSUPPORTED);
  Operator shifted;
  ASSERT_EQ(heddle_operator_shifted(s.A, 1, &shifted), HEDDLE_OK);
  EXPECT_EQ(heddle_solver_create(shifted, "cg", nullptr, settings, &none),
            HEDDLE_ERROR_UNSUPPORTED);
  EXPECT_EQ(message(s.context),
            "fields in single precision need a matrix in sliced storage that no ranks share");
  ASSERT_EQ(heddle_solver_create(s.A, "cg", jacobi, settings, &none), HEDDLE_OK);
  std::vector<double> right = b, left = x;
  const heddle_view from = view(right, s.entry), out = view(left, s.entry);
  EXPECT_EQ(heddle_solver_enqueue(none, &from, &out, nullptr, nullptr), HEDDLE_ERROR_UNSUPPORTED);
}

}  // namespace
