// The table of the suite `pjds`, from figures that are easy to divide.
#include "records/pjds_table.hpp"

#include <gtest/gtest.h>

namespace heddle::bench {
namespace {

Candidate under(Role role, const std::string& plan, long long bytes, double seconds) {
  Candidate candidate;
  candidate.role = role;
  candidate.library = role == Role::peer ? "another" : "Heddle";
  candidate.method = plan;
  candidate.memory_bytes = bytes;
  candidate.seconds = Timing{seconds, seconds, seconds};
  candidate.error = 0;
  return candidate;
}

TEST(PjdsTable, HasFlopsOfItsEntries) {
  Record record;
  record.suite = "pjds";
  record.problem = "made-up";
  record.entry = "quaternion";  // 16 products and as many sums
  record.precision = "single";
  record.rows = 1000;
  record.entries = 5000;
  record.candidates = {under(Role::natural, "C=1,schedule=full", 10, 1e-6),
                       under(Role::tried, "C=32,sigma=n", 400, 2e-6),
                       under(Role::tried, "C=n", 1600, 4e-6), under(Role::peer, "CSR", 10, 5e-6),
                       under(Role::peer, "wrong", 10, 1e-9)};
  record.candidates.back().error = 1;
  Record other = record;
  other.entry = "real";
  other.precision = "double";
  other.candidates[2].memory_bytes.reset();
  other.candidates[2].seconds.reset();
  other.candidates[2].failure = "too large";
  const Matrix table = pjds_table({&record, &other});
  using Texts = std::vector<std::string>;
  EXPECT_EQ(table.lines, (Texts{"made-up, quaternion, single", "made-up, real"}));
  EXPECT_EQ(table.columns, (Texts{"a row", "saved", "ELLPACK-R", "pJDS", "CSR", "best peer"}));
  ASSERT_EQ(table.cells.size(), 2u);
  EXPECT_EQ(table.cells[0], (Texts{"5.00", "75.0%", "40.0", "80.0", "160", "32.0"}));
  EXPECT_EQ(table.cells[1], (Texts{"5.00", "", "", "5.00", "10.0", "2.00"}));
}

TEST(PjdsTable, LeavesOutWhatARunLacks) {
  Record record;
  record.problem = "failed";
  record.entry = "unknown";
  record.candidates.resize(1);
  record.candidates[0].failure = "no memory";
  const Matrix table = pjds_table({&record});
  EXPECT_EQ(table.lines, std::vector<std::string>{"failed, unknown"});
  EXPECT_EQ(table.columns, std::vector<std::string>{"a row"});
}

}  // namespace
}  // namespace heddle::bench
