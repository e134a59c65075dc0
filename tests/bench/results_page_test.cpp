// The page of results: nothing left out, the same bytes each time.
#include <gtest/gtest.h>

#include <sstream>

#include "pages/output.hpp"
#include "synthetic_run.hpp"

namespace {

using namespace heddle::bench;

TEST(ResultsPage, IsTheSameForTheSameRuns) {
  const auto run = made_up::synthetic_run();
  const auto read = run_from_json(nlohmann::ordered_json::parse(to_json(run).dump()));
  EXPECT_EQ(results_page({run, run}), results_page({read, read}));
}

TEST(ResultsPage, HoldsEveryRunAndRecord) {
  auto first = made_up::synthetic_run(), second = first;
  second.name = "another-run";
  second.records.resize(3);
  const std::string page = results_page({first, second});
  EXPECT_LT(page.find("## 2026-11-21-synthetic\n"), page.find("## another-run\n"));
  for (const char* part :
       {"- machine: Intel(R) Xeon(R)", "- date: 2026-11-21T14:05:00Z", "- heddle: 0.1.0, commit",
        "- command: `heddle bench --device cuda --json run.json`",
        "- copy: 4255 GB/s; figures are medians of 25 interleaved repetitions",
        "- absent: PETSc: not found when heddle was built", "### Products", "### Solvers",
        "### Layouts", "### Setting up", "### Scaling", "### Assembly",
        "Without a valid result:", "\\<for \"complex\" & co\\>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  for (const Record& record : first.records) {
    EXPECT_NE(page.find("| " + record.problem + ", " + record.entry), std::string::npos)
        << record.suite << " " << record.problem;
  }
}

TEST(ResultsPage, TablesHaveAsManyCellsInEachLine) {
  auto run = made_up::synthetic_run();
  run.records[0].problem = "with | and * and _ and `";
  std::istringstream page(results_page({run}));
  std::size_t cells = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.empty() || line[0] != '|') {
      cells = 0;
      continue;
    }
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    }
    if (cells == 0) cells = bars;
    EXPECT_EQ(bars, cells) << line;
  }
}

TEST(ResultsPage, TakesRunsWithLittleInThem) {
  EXPECT_EQ(results_page({}).find("# Results\n"), 0u);
  auto run = made_up::synthetic_run();
  run.records.clear();
  EXPECT_NE(results_page({run}).find("## 2026-11-21-synthetic"), std::string::npos);
  Record record;
  record.problem = "lone";
  for (const char* suite :
       {"product", "solver", "right-hand-sides", "layouts", "scaling", "primitives", "another"}) {
    record.suite = suite;
    run.records = {record};
    EXPECT_NE(results_page({run}).find("| lone"), std::string::npos) << suite;
  }
}

}  // namespace
