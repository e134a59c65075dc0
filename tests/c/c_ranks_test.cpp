// Ranks that are threads, and edits of trees, through heddle.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

/// A system with all rows, whose parts the ranks solve.
struct Shared {
  Context context;
  Matrix matrix;
  std::optional<Settings> settings;  // made once the context exists
  const char* preconditioner = "jacobi";
  std::vector<double> b, x;
  heddle_report report{};
  std::array<heddle_status, 3> statuses{};

  Shared(const char* problem, std::int64_t rows) {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    settings.emplace(context);
    EXPECT_EQ(heddle_matrix_generate(context, problem, rows, 1, &matrix), HEDDLE_OK);
  }
};

heddle_view double_view(double* data, std::int64_t rows, heddle_entry entry) {
  return {data, rows, entry, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR, HEDDLE_HOST};
}

int solve_part(void* user, heddle_communicator* ranks) {
  Shared& all = *static_cast<Shared*>(user);
  Operator A;
  Preconditioner made;
  Solver cg;
  if (heddle_operator_distribute(ranks, all.matrix, *all.settings, &A) != HEDDLE_OK) return 1;
  std::int64_t rows = 0, columns = 0;
  heddle_operator_size(A, &rows, &columns);
  std::vector<std::int64_t> own(static_cast<std::size_t>(rows) + 1);
  if (heddle_operator_rows_of_rank(A, own.data()) != HEDDLE_OK) return 2;
  std::vector<double> b(4 * static_cast<std::size_t>(rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = all.b[4 * static_cast<std::size_t>(own[i / 4]) + i % 4];
  }
  const heddle_view right = double_view(b.data(), rows, HEDDLE_QUATERNION),
                    left = double_view(x.data(), rows, HEDDLE_QUATERNION);
  if (heddle_preconditioner_create(A, all.preconditioner, nullptr, &made) != HEDDLE_OK) return 3;
  if (heddle_solver_create(A, "cg", made, nullptr, &cg) != HEDDLE_OK) return 4;
  heddle_report report = heddle::c_test::report();
  if (heddle_solver_solve(cg, &right, &left, &report) != HEDDLE_OK) return 5;
  for (std::size_t i = 0; i < x.size(); ++i) {
    all.x[4 * static_cast<std::size_t>(own[i / 4]) + i % 4] = x[i];
  }
  if (heddle_communicator_rank(ranks) == 0) all.report = report;
  return heddle_communicator_size(ranks) > 0 ? 0 : 6;
}

TEST(CRanks, HaveTheBitsOfOne) {
  Shared all("dirac", 1500);
  std::int64_t rows = 0, columns = 0;
  Operator A;
  all.settings->set("plan", "CSR");
  ASSERT_EQ(heddle_operator_create(all.matrix, *all.settings, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_size(A, &rows, &columns), HEDDLE_OK);
  all.b = random_numbers(4 * static_cast<std::size_t>(rows), 3);
  std::vector<double> alone(all.b.size());
  const heddle_view b = double_view(all.b.data(), rows, HEDDLE_QUATERNION),
                    x = double_view(alone.data(), rows, HEDDLE_QUATERNION);
  for (const char* const preconditioner : {"jacobi", "fsai"}) {
    Preconditioner made;
    Solver cg;
    ASSERT_EQ(heddle_preconditioner_create(A, preconditioner, nullptr, &made), HEDDLE_OK);
    ASSERT_EQ(heddle_solver_create(A, "cg", made, nullptr, &cg), HEDDLE_OK);
    heddle_report report = heddle::c_test::report();
    std::fill(alone.begin(), alone.end(), 0);
    ASSERT_EQ(heddle_solver_solve(cg, &b, &x, &report), HEDDLE_OK);
    all.preconditioner = preconditioner;
    for (const int ranks : {1, 2, 3}) {
      std::string first_rows = "0";
      for (int rank = 1; rank < ranks; ++rank) first_rows += "," + std::to_string(256 * rank);
      all.settings->set("partition", ranks == 1 ? "rows" : ranks == 2 ? first_rows : "entries");
      all.x.assign(all.b.size(), 0);
      ASSERT_EQ(heddle_run_on_ranks(all.context, ranks, solve_part, &all), HEDDLE_OK)
          << message(all.context);
      EXPECT_EQ(all.report.outcome, HEDDLE_CONVERGED);
      EXPECT_EQ(all.report.iterations, report.iterations);
      EXPECT_EQ(all.x, alone) << ranks;
    }
  }
  all.settings->reset("partition").set("boundary", "split");  // other bits, and an equally good x
  ASSERT_EQ(heddle_run_on_ranks(all.context, 3, solve_part, &all), HEDDLE_OK);
  EXPECT_EQ(all.report.outcome, HEDDLE_CONVERGED);
  EXPECT_EQ(heddle_settings_set(*all.settings, "boundary", "thin"), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(all.context), "boundary must be whole or split, not 'thin'");
  all.settings->set("storage", "hisparse").reset("plan");
  EXPECT_EQ(heddle_run_on_ranks(all.context, 1, solve_part, &all), HEDDLE_ERROR_CALLBACK);
}

int multiply_part(void* user, heddle_communicator* ranks, bool all) {
  const Shared& mine = *static_cast<Shared*>(user);
  Operator A;
  const Settings settings(mine.context, {{"partition", "0,256,512"}});
  heddle_operator_distribute(ranks, mine.matrix, settings, &A);
  std::int64_t rows = 0, columns = 0;
  heddle_operator_size(A, &rows, &columns);
  std::vector<double> ones(static_cast<std::size_t>(rows), 1), image(ones.size());
  const heddle_view x = double_view(ones.data(), rows, HEDDLE_REAL),
                    y = double_view(image.data(), rows, HEDDLE_REAL);
  if (all || heddle_communicator_rank(ranks) != 1) heddle_operator_apply(A, &x, &y);
  return 0;
}
int leave_at_once(void* user, heddle_communicator* ranks) {
  return heddle_communicator_rank(ranks) == 1 ? 0 : multiply_part(user, ranks, true);
}
int leave_before_the_product(void* user, heddle_communicator* ranks) {
  return multiply_part(user, ranks, false);
}

/// All ranks learn of an error on one rank, and none waits for ever.
TEST(CRanks, WhatFailsOnOneFailsOnAll) {
  Shared all("poisson", 600);
  const auto run = [&](int ranks, heddle_rank_body body) {
    return heddle_run_on_ranks(all.context, ranks, body, &all);
  };
  EXPECT_EQ(run(0, solve_part), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(run(1025, solve_part), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(run(2, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(run(3,
                [](void* user, heddle_communicator* ranks) {
                  Shared& mine = *static_cast<Shared*>(user);
                  const int rank = heddle_communicator_rank(ranks);
                  Operator A;
                  const Settings settings(mine.context,
                                          {{"partition", rank == 1 ? "halves" : "entries"}});
                  mine.statuses[static_cast<std::size_t>(rank)] =
                      heddle_operator_distribute(ranks, mine.matrix, settings, &A);
                  return 0;
                }),
            HEDDLE_ERROR_USAGE);
  for (const heddle_status status : all.statuses) EXPECT_EQ(status, HEDDLE_ERROR_USAGE);
  EXPECT_NE(message(all.context).find("partition: halves is not"), std::string::npos)
      << message(all.context);
  EXPECT_EQ(run(2,
                [](void*, heddle_communicator* ranks) {
                  return heddle_communicator_rank(ranks) == 1 ? 7 : 0;
                }),
            HEDDLE_ERROR_CALLBACK);
  EXPECT_EQ(message(all.context), "the body of rank 1 returned 7");
  // A rank that leaves early, before the operator or before the product, ends the others.
  for (const heddle_rank_body body : {leave_at_once, leave_before_the_product}) {
    EXPECT_EQ(run(3, body), HEDDLE_ERROR_USAGE);
    EXPECT_EQ(message(all.context).find("rank 1 has ended, but rank "), 0U) << message(all.context);
  }
  // Two ranks disagree about the plan: one cannot make what the other can.
  EXPECT_EQ(run(2,
                [](void* user, heddle_communicator* ranks) {
                  Shared& mine = *static_cast<Shared*>(user);
                  Operator A;
                  const bool is_first = heddle_communicator_rank(ranks) == 0;
                  const Settings settings(mine.context, {{"plan", is_first ? "CSR" : "C=4"}});
                  return heddle_operator_distribute(ranks, mine.matrix, settings, &A) == HEDDLE_OK
                             ? 1
                             : 0;
                }),
            HEDDLE_ERROR_USAGE);
}

/// Rank 1 is refused a solver, after which no rank gets a product.
TEST(CRanks, SettingsOfOneRankFailOnAll) {
  Shared all("poisson", 600);
  static std::array<heddle_status, 3> of_solver, of_product;
  const heddle_rank_body body = [](void* user, heddle_communicator* ranks) {
    const Shared& mine = *static_cast<Shared*>(user);
    const auto rank = static_cast<std::size_t>(heddle_communicator_rank(ranks));
    Operator A;
    Solver solver;
    Settings settings(mine.context, {{"partition", "0,256,512"}});
    // This call may already report the failure of another rank.
    of_product[rank] = heddle_operator_distribute(ranks, mine.matrix, settings, &A);
    if (of_product[rank] != HEDDLE_OK) return 0;
    if (rank == 1) settings.set("restart", "5");
    of_solver[rank] = heddle_solver_create(A, "cg", nullptr, settings, &solver);
    std::int64_t rows = 0, columns = 0;
    heddle_operator_size(A, &rows, &columns);
    std::vector<double> ones(static_cast<std::size_t>(rows), 1), image(ones.size());
    const heddle_view x = double_view(ones.data(), rows, HEDDLE_REAL),
                      y = double_view(image.data(), rows, HEDDLE_REAL);
    of_product[rank] = heddle_operator_apply(A, &x, &y);
    return 0;
  };
  EXPECT_EQ(heddle_run_on_ranks(all.context, 3, body, &all), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(of_solver[1], HEDDLE_ERROR_USAGE);
  for (const heddle_status status : of_product) EXPECT_NE(status, HEDDLE_OK);
  EXPECT_NE(message(all.context).find("restart is for gmres and fgmres, not for cg"),
            std::string::npos)
      << message(all.context);
}

TEST(CRanks, NothingOutlivesTheBody) {
  static heddle_operator* kept = nullptr;
  static heddle_solver* solver = nullptr;
  Shared all("poisson", 600);
  ASSERT_EQ(
      heddle_run_on_ranks(
          all.context, 1,
          [](void* user, heddle_communicator* ranks) {
            Shared& mine = *static_cast<Shared*>(user);
            heddle_operator_distribute(ranks, mine.matrix, nullptr, &kept);
            return heddle_solver_create(kept, "cg", nullptr, nullptr, &solver) == HEDDLE_OK ? 0 : 1;
          },
          &all),
      HEDDLE_OK);
  std::int64_t rows = 0, columns = 0;
  ASSERT_EQ(heddle_operator_size(kept, &rows, &columns), HEDDLE_OK);
  std::vector<double> numbers(static_cast<std::size_t>(rows), 1), image(numbers.size());
  const heddle_view x = double_view(numbers.data(), rows, HEDDLE_REAL),
                    y = double_view(image.data(), rows, HEDDLE_REAL);
  EXPECT_EQ(heddle_operator_apply(kept, &x, &y), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_solver_solve(solver, &x, &y, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_NE(message(all.context).find("has ended"), std::string::npos);
  Preconditioner multigrid;
  EXPECT_EQ(heddle_preconditioner_create(kept, "multigrid", nullptr, &multigrid),
            HEDDLE_ERROR_USAGE);
  heddle_solver_destroy(&solver);
  heddle_operator_destroy(&kept);
}

TEST(CRanks, NewValuesReachThem) {
  Shared all("poisson", 600);
  EXPECT_EQ(heddle_run_on_ranks(
                all.context, 2,
                [](void* user, heddle_communicator* ranks) {
                  Shared& mine = *static_cast<Shared*>(user);
                  Operator A;
                  if (heddle_operator_distribute(ranks, mine.matrix, nullptr, &A) != HEDDLE_OK) {
                    return 1;
                  }
                  heddle_pattern pattern{};
                  pattern.struct_size = sizeof pattern;
                  heddle_view values{};
                  heddle_matrix_arrays(mine.matrix, &pattern, &values);
                  std::int64_t rows = 0, columns = 0;
                  heddle_operator_size(A, &rows, &columns);
                  std::vector<std::int64_t> own(static_cast<std::size_t>(rows));
                  heddle_operator_rows_of_rank(A, own.data());
                  const auto* const offsets = static_cast<const std::int64_t*>(pattern.row);
                  std::vector<double> twice;
                  for (const std::int64_t row : own) {
                    for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
                      twice.push_back(2 * static_cast<const double*>(values.data)[i]);
                    }
                  }
                  std::vector<double> ones(own.size(), 1), before(own.size()), after(own.size());
                  const heddle_view x = view(ones, HEDDLE_REAL), y = view(before, HEDDLE_REAL),
                                    z = view(after, HEDDLE_REAL);
                  const heddle_view more = view(twice, HEDDLE_REAL, true);
                  if (heddle_operator_apply(A, &x, &y) != HEDDLE_OK) return 2;
                  if (heddle_operator_update_values(A, &more) != HEDDLE_OK) return 3;
                  if (heddle_operator_apply(A, &x, &z) != HEDDLE_OK) return 4;
                  for (std::size_t i = 0; i < own.size(); ++i) {
                    if (after[i] != 2 * before[i]) return 5;
                  }
                  return 0;
                },
                &all),
            HEDDLE_OK)
      << message(all.context);
}

/// In a line of 100 rows, an entry is set, one is added to, one is new and one is removed.
TEST(CEdits, MakeAnotherOperator) {
  Context context;
  Matrix matrix;
  Operator A, B;
  ASSERT_EQ(heddle_context_create(&context), HEDDLE_OK);
  std::vector<std::int32_t> row, column;
  for (int i = 0; i < 100; ++i) {
    row.push_back(i);
    column.push_back(i);
  }
  std::vector<double> diagonal(100, 2);
  const heddle_pattern places = pattern(100, row, column);
  const heddle_view values = view(diagonal, HEDDLE_REAL, true);
  ASSERT_EQ(heddle_matrix_from_triplets(context, &places, &values, &matrix), HEDDLE_OK);
  Settings storage(context, {{"storage", "hisparse"}});
  ASSERT_EQ(heddle_operator_create(matrix, storage, &A), HEDDLE_OK);

  std::vector<std::int64_t> set_row{1, 5}, set_column{1, 6}, add_row{2}, add_column{2};
  std::vector<std::int64_t> gone_row{4}, gone_column{4};
  std::vector<double> set_values{7, 3}, add_values{5};
  const heddle_pattern set = pattern(100, set_row, set_column, 1),
                       add = pattern(100, add_row, add_column);
  heddle_pattern remove = pattern(100, gone_row, gone_column);
  const heddle_view set_to = view(set_values, HEDDLE_REAL, true),
                    more = view(add_values, HEDDLE_REAL, true);
  heddle_edits edits{sizeof(heddle_edits), &set, &set_to, &add, &more, &remove};
  ASSERT_EQ(heddle_operator_edited(A, &edits, &B), HEDDLE_OK) << message(context);
  std::vector<double> x = random_numbers(100, 5), y(100), z(100), expected(100);
  for (std::size_t i = 0; i < 100; ++i) expected[i] = 2 * x[i];
  const heddle_view from = view(x, HEDDLE_REAL), to = view(y, HEDDLE_REAL),
                    other = view(z, HEDDLE_REAL);
  ASSERT_EQ(heddle_operator_apply(A, &from, &to), HEDDLE_OK);
  EXPECT_EQ(y, expected);
  expected[0] = 7 * x[0];  // the places of `set` count from 1
  expected[2] = 7 * x[2];
  expected[4] = 3 * x[5];  // its diagonal entry is removed
  heddle_operator_destroy(&A.own);
  ASSERT_EQ(heddle_operator_apply(B, &from, &other), HEDDLE_OK);
  EXPECT_EQ(z, expected);

  // Either all edits are made or none.
  Operator C;
  const auto refused = [&](heddle_status status, const std::string& words) {
    EXPECT_EQ(heddle_operator_edited(B, &edits, &C), status);
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
    EXPECT_EQ(C.own, nullptr);
  };
  refused(HEDDLE_ERROR_OUT_OF_RANGE, "row 4, column 4");
  edits.remove = nullptr;
  edits.set_values = nullptr;
  refused(HEDDLE_ERROR_USAGE, "edits.set: values is a null pointer");
  edits.set_values = &more;
  refused(HEDDLE_ERROR_SIZE_MISMATCH, "edits.set: ");
  edits.set_values = &set_to;
  remove.rows = 99;
  edits.remove = &remove;
  refused(HEDDLE_ERROR_SIZE_MISMATCH, "99");
  edits.struct_size = 47;
  refused(HEDDLE_ERROR_USAGE, "struct_size is 47");
  storage.reset("storage");
  Operator stored;
  ASSERT_EQ(heddle_operator_create(matrix, storage, &stored), HEDDLE_OK);
  edits.struct_size = sizeof edits;
  EXPECT_EQ(heddle_operator_edited(stored, &edits, &C), HEDDLE_ERROR_UNSUPPORTED);
}

}  // namespace
