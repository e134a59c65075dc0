// The problems that stand in for the paper's matrices have its sizes, and its memory of layouts to
// the printed digits.
#include "problems/paper_matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heddle/error.hpp"
#include "problems/lattice_with_lengths.hpp"
#include "problems/problem.hpp"
#include "suites/suite.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::bench {
namespace {

/// Every size of problem is one of the paper's where rows agree, whatever the precision.
ProblemName problem_named(const PaperMatrix& matrix) {
  const auto all = problems();
  const auto at = std::find_if(all.begin(), all.end(), [&](const ProblemName& problem) {
    return problem.entry == matrix.entry && problem.rows == matrix.rows;
  });
  EXPECT_NE(at, all.end()) << matrix.name;
  return *at;
}

/// The ratio of a candidate of the suite `layouts`, as a text with one digit after the point.
std::string printed(const Record& record, const std::string& library, const std::string& layout) {
  for (const Candidate& candidate : record.candidates) {
    if (candidate.library != library || candidate.method != layout) continue;
    char text[40];
    std::snprintf(text, sizeof text, "%.1f", *candidate.memory_ratio);
    return text;
  }
  return "none";
}

class PaperMatrices : public testing::TestWithParam<PaperMatrix> {};

TEST_P(PaperMatrices, HaveTheSizesAndRatiosOfThePaper) {
  const PaperMatrix& theirs = GetParam();
  if (theirs.rows > 20'000) HEDDLE_DEEP_CHECK_ONLY();
  const Problem problem = make_problem(problem_named(theirs));
  EXPECT_EQ(problem.matrix.rows(), theirs.rows);
  EXPECT_EQ(problem.matrix.entries(), theirs.entries);
  Session session({}, {}, bench::Run{});
  layouts_suite(session, problem);
  const Record record = session.run().records.at(0);
  for (const char* layout : {"ELL", "Sl-16", "Sl-32"}) {
    EXPECT_EQ(printed(record, "counted as in table 9:", layout),
              printed(record, "table 9:", layout))
        << layout;
    EXPECT_NE(printed(record, "table 9:", layout), "none");
  }
}

TEST_P(PaperMatrices, HaveSymmetricPatternsWithADiagonal) {
  const PaperMatrix& theirs = GetParam();
  if (theirs.rows > 20'000) HEDDLE_DEEP_CHECK_ONLY();
  const std::vector<Index> lengths = row_lengths(wanted_statistics(theirs), 5);
  const auto pattern = lattice_with_lengths(lengths, theirs.dimensions);
  std::vector<std::vector<Index>> rows(lengths.size());
  for (Index v = 0; v < theirs.rows; ++v) {
    std::vector<Index>& row = rows[static_cast<std::size_t>(v)];
    pattern->columns(v, row);
    ASSERT_EQ(row.size(), static_cast<std::size_t>(lengths[static_cast<std::size_t>(v)]));
    ASSERT_TRUE(std::is_sorted(row.begin(), row.end()));
    ASSERT_EQ(std::adjacent_find(row.begin(), row.end()), row.end());
    ASSERT_TRUE(std::binary_search(row.begin(), row.end(), v));
  }
  for (Index v = 0; v < theirs.rows; ++v) {
    for (const Index u : rows[static_cast<std::size_t>(v)]) {
      const std::vector<Index>& other = rows.at(static_cast<std::size_t>(u));
      ASSERT_TRUE(std::binary_search(other.begin(), other.end(), v)) << v << ", " << u;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PaperMatrices, testing::ValuesIn(paper_matrices),
                         [](const auto& info) {
                           return "rows_" + std::to_string(info.param.rows);
                         });

/// The paper's baselines in bytes, as table 9 prints them.
TEST(PaperMatricesTable, HasTheBytesOfTheBaseline) {
  const auto kib = [](Index rows, Offset entries, int components) {
    return (static_cast<double>(entries) * (8 * components + 4) + 4.0 * (rows + 1)) / 1024;
  };
  const auto bytes = [&](EntryKind entry, Index rows) {
    const PaperMatrix* m = paper_matrix(entry, rows);
    return m == nullptr ? 0 : kib(m->rows, m->entries, m->components);
  };
  EXPECT_NEAR(bytes(EntryKind::complex, 1280), 449.9, 0.05);
  EXPECT_NEAR(bytes(EntryKind::complex, 169'410) / 1024, 96.7, 0.05);
  EXPECT_NEAR(bytes(EntryKind::quaternion, 543'524) / 1024, 132.7, 0.05);
  EXPECT_NEAR(bytes(EntryKind::block3, 1016), 833.7, 0.05);
  EXPECT_EQ(paper_matrix(EntryKind::real, 1280), nullptr);
}

TEST(RowLengths, RefuseStatisticsThatNoRowsHave) {
  EXPECT_THROW(row_lengths({100, 1000, 20, 60, 30}, 1), Error);   // more entries than places
  EXPECT_THROW(row_lengths({100, 1000, 20, 800, 60}, 1), Error);  // halves longer than slices
  EXPECT_NO_THROW(row_lengths({100, 1000, 20, 98, 62}, 1));
}

TEST(LatticeWithLengths, ExchangesNeighboursWhereTheNearOnesAreTaken) {
  // The first four are joined in pairs before the last one asks for two neighbours.
  const std::vector<Index> lengths = {2, 2, 2, 2, 3};
  for (const int dimensions : {2, 3}) {
    const auto pattern = lattice_with_lengths(lengths, dimensions);
    std::vector<Index> row;
    for (Index v = 0; v < 5; ++v) {
      pattern->columns(v, row);
      EXPECT_EQ(row.size(), static_cast<std::size_t>(lengths[static_cast<std::size_t>(v)]));
    }
  }
}

TEST(LatticeWithLengths, RefusesLengthsThatNoPatternHas) {
  EXPECT_THROW(lattice_with_lengths({2, 1, 1}, 2), Error);     // an odd sum of neighbours
  EXPECT_THROW(lattice_with_lengths({5, 3, 2, 2}, 2), Error);  // longer than the matrix is wide
}

}  // namespace
}  // namespace heddle::bench
