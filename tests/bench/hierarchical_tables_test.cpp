// Tables of hierarchical storage, from records made here.
#include "records/hierarchical_tables.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "records/hierarchical_ratios.hpp"
#include "records/record.hpp"

namespace heddle::bench {
namespace {

TEST(HierarchicalTables, TellMeansAndSpreadsOverProblems) {
  std::vector<Record> run;
  for (const double scale : {1.0, 3.0}) {
    for (const char* quantity : {"product", "transposed product"}) {
      Record record;
      record.suite = "hierarchical";
      record.problem = "p" + std::to_string(static_cast<int>(scale));
      record.entry = "real";
      record.precision = "double";
      record.quantity = quantity;
      record.entries = 1'000'000;
      record.compulsory_bytes = 1'000'000;
      Candidate own;
      own.role = Role::chosen;
      own.library = "Heddle";
      own.method = "hisparse";
      const double seconds = 1e-3 * scale * (quantity[0] == 't' ? 1.5 : 1);
      own.seconds = Timing{seconds, seconds, seconds};
      record.candidates = {own};
      run.push_back(record);
    }
  }
  // A smaller problem of a family does not count, nor does one that some ways lack.
  Record smaller = run.front();
  smaller.problem = "big-100";
  smaller.rows = 100;
  Record larger = run.front();
  larger.problem = "big-1000";
  larger.rows = 1000;
  larger.candidates.front().failure = "refused";
  run.insert(run.end(), {smaller, larger});
  // For sums, each way of another library has a line.
  Record sum = run.front();
  sum.quantity = "sum";
  for (const char* const method : {"with B*", "without"}) {
    Candidate peer = sum.candidates.front();
    peer.role = Role::peer;
    peer.library = "Eigen";
    peer.method = method;
    sum.candidates.push_back(peer);
  }
  run.push_back(sum);
  std::vector<const Record*> records;
  for (const Record& record : run) records.push_back(&record);
  const Matrix spread = hierarchical_tables(records).front().matrix;
  EXPECT_EQ(spread.lines, (std::vector<std::string>{
                              "product: Heddle hisparse", "transposed product: Heddle hisparse",
                              "sum: Eigen with B*", "sum: Eigen without", "sum: Heddle hisparse"}));
  EXPECT_EQ(spread.cells[0], (std::vector<std::string>{"2", "2.00 ms", "1.00 ms", "2.00", "2.000",
                                                       "3.0", "0.50", ""}));
  EXPECT_EQ(spread.cells[1], (std::vector<std::string>{"2", "3.00 ms", "1.50 ms", "1.33", "3.000",
                                                       "3.0", "0.50", "1.50"}));
}

Candidate timed_candidate(Role role, const char* library, const char* method, double seconds) {
  Candidate made;
  made.role = role;
  made.library = library;
  made.method = method;
  made.seconds = Timing{seconds, seconds, seconds};
  return made;
}

TEST(HierarchicalRatios, TellMeansAndTheWorstOfEachComparison) {
  std::vector<Record> run;
  for (const double scale : {1.0, 4.0}) {
    for (const char* quantity : {"product", "transposed product"}) {
      const bool transposes = quantity[0] == 't';
      Record record;
      record.problem = "p-" + std::to_string(static_cast<int>(scale));
      record.entry = "real";
      record.precision = "double";
      record.quantity = quantity;
      record.candidates = {
          timed_candidate(Role::chosen, "Heddle", "hisparse, d = 128", transposes ? scale : 1),
          timed_candidate(Role::peer, "cuSPARSE", "CSR", 5),
          timed_candidate(Role::peer, "cuSPARSE", "CSR, other", transposes ? 16 : 2)};
      record.candidates.front().of_bandwidth = 0.5;
      run.push_back(record);
    }
  }
  Record wrong = run.front();  // counts nowhere
  wrong.problem = "q-1";
  wrong.candidates.front().failure = "refused";
  run.push_back(wrong);
  for (const double seconds : {1.0, 1.5}) {
    Record edit = run.front();
    edit.problem = "edits-" + std::to_string(static_cast<int>(10 * seconds));
    edit.quantity = "edit of one node";
    edit.candidates = {timed_candidate(Role::chosen, "Heddle", "hisparse", seconds)};
    edit.candidates.front().of_product = 0.01 * seconds;
    run.push_back(edit);
  }
  Record memory = run.front();
  memory.quantity = "memory in single";
  memory.candidates = {timed_candidate(Role::chosen, "Heddle", "hisparse, d = 128", 0)};
  memory.candidates.front().memory_ratio = 1.25;
  run.push_back(memory);
  std::vector<const Record*> records;
  for (const Record& record : run) records.push_back(&record);
  const Matrix ratios = hierarchical_ratios(records);
  EXPECT_EQ(ratios.columns,
            (std::vector<std::string>{"problems", "geometric mean", "worst", "in"}));
  const std::vector<std::pair<std::string, std::vector<std::string>>> expected = {
      {"A* x over A x: hisparse, d = 128", {"2", "2.00", "4.00", "p-4"}},
      {"A* x over A x: cuSPARSE", {"2", "2.50", "2.50", "p-4"}},
      {"A x: cuSPARSE over the tree's", {"2", "2.00", "2.00", "p-1"}},
      {"A* x: cuSPARSE over the tree's", {"2", "2.50", "1.25", "p-4"}},
      {"share of a copy's speed: A x", {"2", "0.50", "0.50", "p-1"}},
      {"share of a copy's speed: A* x", {"2", "0.50", "0.50", "p-1"}},
      {"memory in single over CSR, real: hisparse, d = 128", {"1", "1.25", "1.25", "p-1"}},
      {"edit of one node: hisparse over a product", {"2", "0.012", "0.015", "edits-15"}},
      {"edit of one node: hisparse over that of edits-10", {"1", "1.50", "1.50", "edits-15"}}};
  ASSERT_EQ(ratios.lines.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(ratios.lines[i], expected[i].first);
    EXPECT_EQ(ratios.cells[i], expected[i].second) << expected[i].first;
  }
}

}  // namespace
}  // namespace heddle::bench
