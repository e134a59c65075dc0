// Runs on the terminal.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "amounts.hpp"
#include "pages/output.hpp"
#include "synthetic_run.hpp"
#include "text_table.hpp"

namespace {

using namespace heddle::bench;
using namespace heddle::report;

std::string table_of(const auto& run) {
  std::ostringstream out;
  print_table(run, out);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Table, OfTheSyntheticRun) {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/tests/bench/expected/table.txt");
  std::ostringstream expected;
  expected << file.rdbuf();
  const auto actual_lines = lines_of(table_of(made_up::synthetic_run()));
  const auto expected_lines = lines_of(expected.str());
  for (std::size_t i = 0; i < std::min(actual_lines.size(), expected_lines.size()); ++i) {
    EXPECT_EQ(actual_lines[i], expected_lines[i]) << "line " << i + 1;
  }
  EXPECT_EQ(actual_lines.size(), expected_lines.size());
}

TEST(Table, FitsTheTerminal) {
  auto run = made_up::synthetic_run();
  run.records[0].problem =
      "a-file-with-a-name-that-is-longer-than-anybody-would-have-thought.mtx.gz";
  run.records[1].candidates[4].library = "a library with a long name";
  run.records[1].candidates[4].method = std::string(300, 'm');
  for (const std::string& line : lines_of(table_of(run))) {
    // A word cannot be broken.
    if (line.find("mmmm") == std::string::npos) {
      EXPECT_LE(width(line), 120u) << line;
    }
  }
}

TEST(Table, ShowsEveryRecord) {
  const auto run = made_up::synthetic_run();
  const std::string table = table_of(run);
  for (const Record& record : run.records) {
    EXPECT_NE(table.find(record.problem), std::string::npos) << record.problem;
  }
  // One line per record under the headings of product, solver and scaling.
  const auto lines = lines_of(table);
  for (const std::string suite : {"Products", "Solvers", "Scaling"}) {
    const std::string name = suite == "Products"  ? "product"
                             : suite == "Solvers" ? "solver"
                                                  : "scaling";
    const auto expected = std::count_if(run.records.begin(), run.records.end(),
                                        [&](const Record& r) { return r.suite == name; });
    auto at = std::find(lines.begin(), lines.end(), suite);
    ASSERT_NE(at, lines.end());
    long shown = -1;  // the line of titles is indented as well
    for (++at; at != lines.end() && !at->empty() && !at->starts_with("without"); ++at) {
      shown += at->starts_with("  ");
    }
    EXPECT_EQ(shown, expected) << suite;
  }
}

TEST(Table, NamesFailuresAndAbsentLibraries) {
  const std::string table = table_of(made_up::synthetic_run());
  for (const char* part :
       {"absent     PETSc: not found when heddle was built: install petsc-dev",
        "cuSPARSE BSR as it should not be used: wrong result: error 0.37",
        "AMGCL block CSR: ended as stagnated after 249 iterations, residual 3e-6",
        "Heddle chosen: out of memory", "cuSPARSE sliced ELL: cusparseSpMV:"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part;
  }
}

TEST(Table, TakesRunsWithLittleInThem) {
  using Data = decltype(made_up::synthetic_run());
  Data run;
  run.bandwidth_name = "triad";
  EXPECT_FALSE(table_of(run).empty());
  Record record;
  record.suite = "another";
  record.problem = "lone";
  for (const char* suite : {"product", "solver", "right-hand-sides", "layouts", "setup", "scaling",
                            "pjds", "primitives", "another"}) {
    record.suite = suite;
    run.records = {record};
    if (record.suite != "setup") {
      EXPECT_NE(table_of(run).find("lone"), std::string::npos) << suite;
    }
    run.records[0].candidates = {Candidate{}};
    run.records[0].candidates[0].failure = "did not want";
    EXPECT_NE(table_of(run).find("lone"), std::string::npos) << suite;
    EXPECT_NE(table_of(run).find("did not want"), std::string::npos) << suite;
  }
}

TEST(Table, ObeysNoControlCharacters) {
  auto run = made_up::synthetic_run();
  run.device = "evil \x1b[2J device \xC2\x9B";
  run.records[0].problem = "a\x07b";
  run.records[0].candidates[0].failure = "two\nlines\r";
  for (const char c : table_of(run)) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << static_cast<int>(c);
  }
}

TEST(Amounts, TakeTheUnitThatSuits) {
  EXPECT_EQ(readable_seconds(0), "0 s");
  EXPECT_EQ(readable_seconds(5.214e-6), "5.21 us");
  EXPECT_EQ(readable_seconds(14.44e-6), "14.4 us");
  EXPECT_EQ(readable_seconds(130.4e-6), "130 us");
  EXPECT_EQ(readable_seconds(999.6e-6), "1.00 ms");
  EXPECT_EQ(readable_seconds(1.5), "1.50 s");
  EXPECT_EQ(readable_seconds(12345), "12345 s");
  EXPECT_EQ(readable_seconds(3e-9), "3.00 ns");
  EXPECT_EQ(readable_span(5.214e-6, 5.4e-6), "5.21 to 5.40 us");
  EXPECT_EQ(readable_span(980e-6, 1.02e-3), "980 us to 1.02 ms");
  EXPECT_EQ(readable_count(0), "0");
  EXPECT_EQ(readable_count(1000), "1 000");
  EXPECT_EQ(readable_count(34834123), "34 834 123");
  EXPECT_EQ(readable_bytes(512), "512 B");
  EXPECT_EQ(readable_bytes(324e6), "324 MB");
  EXPECT_EQ(readable_bandwidth(4.255e12), "4255 GB/s");
  EXPECT_EQ(readable_percent(0.914), "91%");
  EXPECT_EQ(readable_ratio(1.954), "1.95");
  EXPECT_EQ(readable_error(0), "0");
  EXPECT_EQ(readable_error(2.9e-16), "3e-16");
  EXPECT_EQ(readable_error(8.3e-10), "8e-10");
  EXPECT_EQ(readable_error(1e-9), "1e-9");
  EXPECT_EQ(readable_error(0.37), "0.37");
  EXPECT_EQ(readable_error(1e6), "1e6");
}

TEST(TextTable, CountsCharactersNotBytes) {
  EXPECT_EQ(width("\xC3\xA9t\xC3\xA9"), 3u);
  EXPECT_EQ(cut("\xC3\xA9t\xC3\xA9s chauds", 5), "\xC3\xA9t\xC3\xA9..");
  EXPECT_EQ(cut("short", 5), "short");
  EXPECT_EQ(wrapped("one two", 2), "one two\n");
  const std::string lines =
      wrapped("label " + std::string(100, 'a') + " " + std::string(80, 'b'), 4);
  EXPECT_EQ(lines, "label " + std::string(100, 'a') + "\n    " + std::string(80, 'b') + "\n");
}

}  // namespace
