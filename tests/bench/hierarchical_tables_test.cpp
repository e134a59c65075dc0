// Tables of hierarchical storage, of records made here.
#include "records/hierarchical_tables.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  // Neither a smaller problem of a kind counts, nor one that not every way has.
  Record smaller = run.front();
  smaller.problem = "big-100";
  smaller.rows = 100;
  Record larger = run.front();
  larger.problem = "big-1000";
  larger.rows = 1000;
  larger.candidates.front().failure = "refused";
  run.insert(run.end(), {smaller, larger});
  // Of sums each way of another library has a line.
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
  EXPECT_EQ(spread.cells[0],
            (std::vector<std::string>{"2", "2.00 ms", "1.00 ms", "2.000", "3.0", "0.50", ""}));
  EXPECT_EQ(spread.cells[1],
            (std::vector<std::string>{"2", "3.00 ms", "1.50 ms", "3.000", "3.0", "0.50", "1.50"}));
}

}  // namespace
}  // namespace heddle::bench
