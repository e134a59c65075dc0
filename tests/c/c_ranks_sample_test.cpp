// Runs in the release.
// A random sample of methods and preconditioners on 1 to 7 ranks with 1 to 600 rows, some of the
// ranks without rows: the bits and the report equal those of one rank, whatever the outcome of the
// solve.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

constexpr std::array methods{"cg",    "bicgstab", "bicgstab2", "minres",
                             "gmres", "fgmres",   "cocg",      "cocr",
                             "cr",    "block-cg", "chebyshev", "richardson"};
constexpr std::array preconditioners{
    "none", "jacobi",  "block-jacobi:3", "chebyshev",          "neumann",         "fsai", "isai",
    "cr:5", "gmres:5", "multigrid",      "multigrid:2:jacobi", "jacobi,chebyshev"};

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  int between(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(engine_);
  }
  double number() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }

 private:
  std::mt19937_64 engine_;
};

/// A line with a weak diagonal, which takes more iterations than the look-ahead covers, or rows of
/// a few random entries; with symmetric or unsymmetric values.
void make_matrix(heddle_context* context, int rows, bool is_line, bool is_symmetric, Draw& draw,
                 Matrix& matrix) {
  std::vector<std::int32_t> row, column;
  std::vector<double> values, sums(static_cast<std::size_t>(rows), 0);
  const auto add = [&](int i, int j, double value) {
    row.push_back(i);
    column.push_back(j);
    values.push_back(value);
    sums[static_cast<std::size_t>(i)] += std::abs(value);
  };
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < (is_line ? 1 : 3); ++k) {
      const int j = is_line ? i + 1 : draw.between(0, rows - 1);
      if (j >= rows || j == i) continue;
      const double value = is_line ? -1 : draw.number();
      add(i, j, value);
      add(j, i, is_symmetric ? value : value * draw.number());
    }
  }
  for (int i = 0; i < rows; ++i) {
    add(i, i, is_line ? 2 : sums[static_cast<std::size_t>(i)] * 1.02 + 0.01);
  }
  const heddle_pattern places = pattern(rows, row, column);
  const heddle_view numbers = view(values, HEDDLE_REAL, true);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &places, &numbers, &matrix), HEDDLE_OK)
      << message(context);
}

struct Task {
  heddle_context* context;
  const heddle_matrix* matrix;
  const heddle_settings* settings;
  const char *method, *preconditioner;
  std::vector<double> b, x;
  heddle_report report = heddle::c_test::report();
  heddle_status failed = HEDDLE_OK;  // rank 0's status
};

/// Solves on one rank. Only rank 0 records a refusal.
heddle_status solve(Task& task, heddle_communicator* ranks) {
  Operator A;
  Preconditioner made;
  Solver solver;
  heddle_status status = heddle_operator_distribute(ranks, task.matrix, task.settings, &A);
  if (status != HEDDLE_OK) return status;
  std::int64_t rows = 0, columns = 0;
  heddle_operator_size(A, &rows, &columns);
  std::vector<std::int64_t> own(static_cast<std::size_t>(rows) + 1);
  heddle_operator_rows_of_rank(A, own.data());
  own.pop_back();
  if (task.preconditioner != std::string("none")) {
    status = heddle_preconditioner_create(A, task.preconditioner, nullptr, &made);
    if (status != HEDDLE_OK) return status;
  }
  status = heddle_solver_create(A, task.method, made, task.settings, &solver);
  if (status != HEDDLE_OK) return status;
  std::vector<double> b, x(own.size());
  b.reserve(own.size());
  for (const std::int64_t i : own) b.push_back(task.b[static_cast<std::size_t>(i)]);
  const heddle_view right = view(b, HEDDLE_REAL), left = view(x, HEDDLE_REAL);
  heddle_report result = report();
  status = heddle_solver_solve(solver, &right, &left, &result);
  for (std::size_t i = 0; i < own.size(); ++i) task.x[static_cast<std::size_t>(own[i])] = x[i];
  if (heddle_communicator_rank(ranks) == 0) task.report = result;
  return status;
}

void run(Task& task, int ranks) {
  task.x.assign(task.b.size(), 0);
  task.report = report();
  task.failed = HEDDLE_OK;
  const heddle_status status = heddle_run_on_ranks(
      task.context, ranks,
      [](void* user, heddle_communicator* all) {
        Task& mine = *static_cast<Task*>(user);
        const heddle_status of_rank = solve(mine, all);
        if (heddle_communicator_rank(all) == 0) mine.failed = of_rank;
        return of_rank == HEDDLE_OK ? 0 : 1;
      },
      &task);
  EXPECT_EQ(status == HEDDLE_OK, task.failed == HEDDLE_OK) << message(task.context);
}

/// First rows such that at least one of several ranks has none.
std::string partition_of(int ranks, int rows, Draw& draw) {
  const int groups = (rows + 255) / 256;
  std::vector<int> first;
  for (int r = 1; r < ranks; ++r) first.push_back(draw.between(0, groups));
  if (ranks > 1) first.front() = draw.between(0, 1) == 0 ? 0 : groups;
  std::sort(first.begin(), first.end());
  std::string text = "0";
  for (const int group : first) text += "," + std::to_string(std::min(256 * group, rows));
  return text;
}

void expect_bits_of_one_rank(const char* method, const char* preconditioner, Draw& draw) {
  constexpr std::array exchanges{"vector", "naive", "task"};
  Context context;
  Matrix matrix;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  const int rows = draw.between(0, 3) == 0 ? draw.between(1, 20) : draw.between(1, 600);
  const bool is_line = draw.between(0, 2) > 0, is_symmetric = draw.between(0, 3) > 0;
  ASSERT_NO_FATAL_FAILURE(make_matrix(context, rows, is_line, is_symmetric, draw, matrix));
  Settings settings(context, {{"plan", "CSR"}, {"threads", "1"}, {"max_iterations", "400"}});
  Task task{context, matrix, settings, method, preconditioner, {}, {}};
  for (int i = 0; i < rows; ++i) task.b.push_back(draw.number());
  run(task, 1);
  const Task alone = task;
  const int ranks = draw.between(2, 7);
  const std::string partition = partition_of(ranks, rows, draw);
  const char* const exchange = exchanges[static_cast<std::size_t>(draw.between(0, 2))];
  settings.set("partition", partition).set("exchange", exchange);
  SCOPED_TRACE(std::string(method) + " " + preconditioner + ", " + std::to_string(rows) +
               (is_line ? " rows of a line" : " random rows") +
               (is_symmetric ? "" : " without symmetry") + ", first rows " + partition + ", " +
               exchange);
  run(task, ranks);
  EXPECT_EQ(task.failed, alone.failed) << message(context);
  EXPECT_EQ(task.report.outcome, alone.report.outcome);
  EXPECT_EQ(task.report.iterations, alone.report.iterations);
  EXPECT_EQ(task.report.residual_norm, alone.report.residual_norm);
  EXPECT_EQ(task.x, alone.x);
}

TEST(CRanksSample, EveryMethodHasTheBitsOfOneRank) {
  Draw draw(201);
  for (const char* const method : methods) {
    for (int k = 0; k < 4; ++k) {
      const auto with =
          static_cast<std::size_t>(draw.between(0, static_cast<int>(preconditioners.size()) - 1));
      expect_bits_of_one_rank(method, k == 0 ? "none" : preconditioners[with], draw);
    }
  }
}

TEST(CRanksSample, EveryPreconditionerHasTheBitsOfOneRank) {
  Draw draw(202);
  for (const char* const preconditioner : preconditioners) {
    for (const char* const method : {"cg", "bicgstab", "fgmres"}) {
      expect_bits_of_one_rank(method, preconditioner, draw);
    }
  }
}

/// The case that was once found: beyond 100 iterations rounding is checked by a product of all
/// ranks.
TEST(CRanksSample, ALongSolveOnARankWithoutRows) {
  Draw draw(1);
  Context context;
  Matrix matrix;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  ASSERT_NO_FATAL_FAILURE(make_matrix(context, 200, true, true, draw, matrix));
  const Settings settings(context, {{"threads", "1"}, {"max_iterations", "400"}});
  for (const char* const method : methods) {
    Task task{context, matrix, settings, method, "none", std::vector<double>(200, 1), {}};
    run(task, 1);
    const Task alone = task;
    run(task, 2);
    EXPECT_EQ(task.failed, HEDDLE_OK) << method << ": " << message(context);
    EXPECT_EQ(task.report.iterations, alone.report.iterations) << method;
    EXPECT_EQ(task.x, alone.x) << method;
  }
}

}  // namespace
