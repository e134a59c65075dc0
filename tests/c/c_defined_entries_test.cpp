// Entries defined by a JSON text, through heddle.h.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"
#include "io/temporary_folder.hpp"

using namespace heddle::c_test;

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/data/entries/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Hyperbolic numbers x + y e, e^2 = 1, as their idempotent parts x + y and x - y, which multiply
/// separately.
struct Parts {
  double sum, difference;
};

class DefinedEntries : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
    ASSERT_EQ(heddle_define_entry(context, contents("split-complex.json").c_str(), &split,
                                  &entry_scalars, &row_scalars),
              HEDDLE_OK)
        << message(context);
  }
  template <class S>
  heddle_view view_of(std::vector<S>& scalars) const {
    return {scalars.data(),
            static_cast<std::int64_t>(scalars.size() / 2),
            split,
            sizeof(S) == sizeof(float) ? HEDDLE_SINGLE : HEDDLE_DOUBLE,
            HEDDLE_ROW_MAJOR,
            HEDDLE_HOST};
  }
  /// [4 -1 0; -1 4 -1; 0 -1 4], each entry times 1 + e / 2; the middle diagonal entry is given in
  /// two parts.
  template <class S>
  heddle_status line(heddle_matrix** matrix) {
    const std::vector<std::int32_t> row{0, 0, 1, 1, 1, 1, 2, 2}, column{0, 1, 0, 1, 1, 2, 1, 2};
    std::vector<S> values{4, 2, -1, -0.5, -1, -0.5, 1, 2, 3, 0, -1, -0.5, -1, -0.5, 4, 2};
    const heddle_pattern at = pattern(3, row, column);
    const heddle_view entries = view_of(values);
    return heddle_matrix_from_triplets(context, &at, &entries, matrix);
  }

  Context context;
  heddle_entry split{};
  std::int32_t entry_scalars = 0, row_scalars = 0;
};

TEST_F(DefinedEntries, HaveANumberOfTheirContext) {
  EXPECT_EQ(entry_scalars, 2);
  EXPECT_EQ(row_scalars, 2);
  EXPECT_GE(static_cast<int>(split), 1024);
  EXPECT_EQ(heddle_entry_name(split), nullptr);
  heddle_entry again{}, dual{};
  ASSERT_EQ(heddle_define_entry(context, contents("split-complex.json").c_str(), &again, nullptr,
                                nullptr),
            HEDDLE_OK);
  EXPECT_EQ(again, split);
  ASSERT_EQ(
      heddle_define_entry(context, contents("dual-complex.json").c_str(), &dual, nullptr, nullptr),
      HEDDLE_OK);
  EXPECT_NE(dual, split);
  EXPECT_EQ(heddle_define_entry(context, "{\"name\": 3}", &again, nullptr, nullptr),
            HEDDLE_ERROR_MALFORMED_FILE);
  EXPECT_EQ(heddle_define_entry(context, nullptr, &again, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(again, split);
}

TEST_F(DefinedEntries, MultiplyAndSolveAndTakeNewValues) {
  Matrix matrix;
  Operator A;
  Solver cg;
  ASSERT_EQ(line<double>(&matrix), HEDDLE_OK) << message(context);
  heddle_pattern own = pattern<std::int64_t>(0, {}, {});
  heddle_view entries{};
  ASSERT_EQ(heddle_matrix_arrays(matrix, &own, &entries), HEDDLE_OK);
  EXPECT_EQ(own.entries, 7);  // two of the triplets share a place
  EXPECT_EQ(entries.entry, split);
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK) << message(context);

  std::vector<double> x{1, 2, 3, 4, 5, 6}, y(6);
  heddle_view from = view_of(x), to = view_of(y);
  ASSERT_EQ(heddle_operator_apply(A, &from, &to), HEDDLE_OK);
  const auto parts = [](const std::vector<double>& field, std::size_t i) {
    return Parts{field[2 * i] + field[2 * i + 1], field[2 * i] - field[2 * i + 1]};
  };
  for (std::size_t i = 0; i < 3; ++i) {
    Parts expected{4 * parts(x, i).sum, 4 * parts(x, i).difference};
    for (const std::size_t j : {i - 1, i + 1}) {
      if (j >= 3) continue;
      expected.sum -= parts(x, j).sum;
      expected.difference -= parts(x, j).difference;
    }
    EXPECT_DOUBLE_EQ(parts(y, i).sum, 1.5 * expected.sum);
    EXPECT_DOUBLE_EQ(parts(y, i).difference, 0.5 * expected.difference);
  }

  const Settings storage(context, {{"storage", "hisparse"}});
  Operator tree;
  ASSERT_EQ(heddle_operator_create(matrix, storage, &tree), HEDDLE_OK) << message(context);
  std::vector<double> by_tree(6);
  const heddle_view from_tree = view_of(by_tree);
  ASSERT_EQ(heddle_operator_apply(tree, &from, &from_tree), HEDDLE_OK);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(by_tree[k], y[k], 1e-12);

  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &cg), HEDDLE_OK) << message(context);
  std::vector<double> solution(6);
  const heddle_view b = view_of(y), found = view_of(solution);
  heddle_report result = report();
  ASSERT_EQ(heddle_solver_solve(cg, &b, &found, &result), HEDDLE_OK) << message(context);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(solution[k], x[k], 1e-8);

  std::vector<double> doubled(static_cast<const double*>(entries.data),
                              static_cast<const double*>(entries.data) + 14);
  for (double& value : doubled) value *= 2;
  const heddle_view values = view_of(doubled);
  ASSERT_EQ(heddle_operator_update_values(A, &values), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_matrix_update_values(matrix, &values), HEDDLE_OK) << message(context);
  EXPECT_EQ(static_cast<const double*>(entries.data)[0], 8);
  std::vector<double> twice(6);
  to = view_of(twice);
  ASSERT_EQ(heddle_operator_apply(A, &from, &to), HEDDLE_OK);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(twice[k], 2 * y[k]);
}

TEST_F(DefinedEntries, AreInFilesAndInSinglePrecision) {
  const TemporaryFolder folder;
  const std::string path = folder / "line.npz";
  Matrix matrix, read, narrow;
  ASSERT_EQ(line<double>(&matrix), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_matrix_write(matrix, path.c_str()), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_matrix_read(context, path.c_str(), split, HEDDLE_DOUBLE, &read), HEDDLE_OK)
      << message(context);
  heddle_info result{};
  result.struct_size = sizeof result;
  ASSERT_EQ(heddle_matrix_info(read, &result), HEDDLE_OK);
  EXPECT_EQ(result.entry, split);
  EXPECT_EQ(result.entries, 7);
  EXPECT_EQ(result.hermitian_defect, 0);
  ASSERT_EQ(line<float>(&narrow), HEDDLE_OK) << message(context);
  EXPECT_EQ(heddle_matrix_write(narrow, path.c_str()), HEDDLE_ERROR_UNSUPPORTED);
}

int doubles(void*, const heddle_view* x, const heddle_view* y) {
  for (std::int64_t k = 0; k < 2 * x->count; ++k) {
    static_cast<double*>(y->data)[k] = 2 * static_cast<const double*>(x->data)[k];
  }
  return 0;
}

TEST_F(DefinedEntries, OfCallbacksAndOfOtherContexts) {
  Operator A;
  Solver cg;
  ASSERT_EQ(heddle_operator_from_callback(context, 3, split, HEDDLE_DOUBLE, doubles, nullptr, &A),
            HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, nullptr, &cg), HEDDLE_OK) << message(context);
  std::vector<double> b{1, 2, 3, 4, 5, 6}, x(6);
  const heddle_view from = view_of(b), to = view_of(x);
  ASSERT_EQ(heddle_solver_solve(cg, &from, &to, nullptr), HEDDLE_OK) << message(context);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_DOUBLE_EQ(x[k], b[k] / 2);

  heddle_view other = from;
  other.entry = HEDDLE_COMPLEX;
  EXPECT_EQ(heddle_solver_solve(cg, &other, &to, nullptr), HEDDLE_ERROR_SIZE_MISMATCH);
  EXPECT_EQ(message(context),
            "b has entries complex, but the operator or matrix has split-complex");
  other.entry = static_cast<heddle_entry>(1077);
  EXPECT_EQ(heddle_solver_solve(cg, &other, &to, nullptr), HEDDLE_ERROR_SIZE_MISMATCH);
  Context elsewhere;
  Matrix matrix;
  ASSERT_EQ(heddle_context_create(&elsewhere), HEDDLE_OK);
  const std::vector<std::int32_t> zero{0};
  std::vector<double> one{1, 0};
  const heddle_pattern at = pattern(1, zero, zero);
  const heddle_view values = view_of(one);
  EXPECT_EQ(heddle_matrix_from_triplets(elsewhere, &at, &values, &matrix), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(elsewhere), "there is no entry number 1024");
}

}  // namespace
