// Eigenpairs of heddle.h, next to those of a line, which are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

constexpr int rows = 40, count = 3;

/// Eigenvalue k, from 0, of -u'' on a line.
double eigenvalue(int k) {
  const double half = std::sin((k + 1) * std::numbers::pi / (2 * (rows + 1)));
  return 4 * half * half;
}

/// The tridiagonal matrix with these numbers.
heddle_status make_line(heddle_context* context, double diagonal, double other,
                        heddle_matrix** made) {
  std::vector<std::int32_t> row, column;
  std::vector<double> values;
  for (int i = 0; i < rows; ++i) {
    for (int j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
      row.push_back(i);
      column.push_back(j);
      values.push_back(i == j ? diagonal : other);
    }
  }
  heddle_pattern pattern{};
  pattern.struct_size = sizeof pattern;
  pattern.rows = pattern.columns = rows;
  pattern.entries = static_cast<std::int64_t>(values.size());
  pattern.row = row.data();
  pattern.column = column.data();
  pattern.row_bits = pattern.column_bits = 32;
  const heddle_view view_of_values = view(values, HEDDLE_REAL);
  return heddle_matrix_from_triplets(context, &pattern, &view_of_values, made);
}

struct Vectors {
  std::vector<std::vector<double>> x{count, std::vector<double>(rows)};
  std::vector<heddle_view> views;
  std::array<double, count> values{}, residuals{}, errors{};
  std::array<char, 200> detail{};
  heddle_eigen_report report{};

  Vectors() {
    for (auto& one : x) views.push_back(view(one, HEDDLE_REAL));
    report.struct_size = sizeof report;
  }
  heddle_status solve(const heddle_operator* A, const heddle_operator* mass,
                      const heddle_preconditioner* inverse, const heddle_settings* settings) {
    return heddle_eigen_solve(A, mass, inverse, settings, count, views.data(), values.data(),
                              residuals.data(), errors.data(), detail.data(), detail.size(),
                              &report);
  }
};

TEST(CEigen, FindsTheSmallestPairs) {
  Context context;
  Matrix line, mass;
  Operator A, M;
  Preconditioner inverse;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(make_line(context, 2, -1, &line), HEDDLE_OK) << message(context);
  ASSERT_EQ(make_line(context, 4.0 / 6, 1.0 / 6, &mass), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(line, Settings(context, {{"plan", "C=8,order=rcm"}}), &A),
            HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create_mass(mass, A, &M), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_preconditioner_create(A, "jacobi", nullptr, &inverse), HEDDLE_OK);
  int calls = 0;
  const Settings settings(context, {{"tolerance", "1e-10"}});
  const heddle_observer observer = [](void* user, const heddle_progress*) {
    ++*static_cast<int*>(user);
    return 0;
  };
  ASSERT_EQ(heddle_settings_observe(settings, observer, &calls), HEDDLE_OK);
  for (const heddle_operator* const of_mass :
       {static_cast<const heddle_operator*>(nullptr), static_cast<const heddle_operator*>(M)}) {
    Vectors v;
    ASSERT_EQ(v.solve(A, of_mass, inverse, settings), HEDDLE_OK) << message(context);
    EXPECT_EQ(v.report.outcome, HEDDLE_CONVERGED) << v.detail.data();
    EXPECT_GT(v.report.products, v.report.iterations);
    for (std::size_t k = 0; k < count; ++k) {
      const double plain = eigenvalue(static_cast<int>(k));
      const double expected = of_mass == nullptr ? plain : plain / (1 - plain / 6);
      EXPECT_NEAR(v.values[k], expected, 1e-9);
      EXPECT_LT(v.residuals[k], 1e-9);
      EXPECT_GE(v.errors[k], 0);
      EXPECT_NE(v.x[k][rows / 3], 0);
    }
  }
  EXPECT_GT(calls, 5);
}

TEST(CEigen, RefusesWhatDoesNotFit) {
  Context context;
  Matrix line, other;
  Operator A, M;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_EQ(make_line(context, 2, -1, &line), HEDDLE_OK);
  ASSERT_EQ(heddle_matrix_generate(context, "elasticity", 100, 1, &other), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_create(line, nullptr, &A), HEDDLE_OK);
  EXPECT_EQ(heddle_operator_create_mass(other, A, &M), HEDDLE_ERROR_SIZE_MISMATCH);
  Vectors v;
  for (const std::int64_t number : {0, 17, -1}) {
    EXPECT_EQ(heddle_eigen_solve(A, nullptr, nullptr, nullptr, number, v.views.data(),
                                 v.values.data(), nullptr, nullptr, nullptr, 0, nullptr),
              HEDDLE_ERROR_USAGE);
  }
  EXPECT_EQ(heddle_eigen_solve(A, nullptr, nullptr, nullptr, 1, nullptr, v.values.data(), nullptr,
                               nullptr, nullptr, 0, nullptr),
            HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_eigen_solve(A, nullptr, nullptr, nullptr, 1, v.views.data(), nullptr, nullptr,
                               nullptr, nullptr, 0, nullptr),
            HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_eigen_solve(A, nullptr, nullptr, nullptr, 1, v.views.data(), v.values.data(),
                               nullptr, nullptr, nullptr, 0, nullptr),
            HEDDLE_OK);
  EXPECT_NEAR(v.values[0], eigenvalue(0), 1e-7);
}

}  // namespace
