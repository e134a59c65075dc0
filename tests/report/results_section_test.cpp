// What tuning found, on the page of results.
#include <gtest/gtest.h>

#include "heddle/error.hpp"
#include "synthetic_tune.hpp"
#include "tune_output.hpp"

namespace {

using namespace heddle;
using namespace heddle::tuning;

TuneReport with_times(Search search, double factor, double seconds) {
  TuneReport report = test::synthetic_tune();
  report.search = search;
  for (MatrixReport& matrix : report.matrices) {
    matrix.seconds = seconds;
    if (matrix.record) matrix.record->seconds = test::around(factor * 1e-3);
  }
  return report;
}

TEST(ResultsSection, HoldsSearchesBesideOneAnother) {
  const nlohmann::json full = summary_json(with_times(Search::full, 1, 200)),
                       pruned = summary_json(with_times(Search::pruned, 1.25, 4));
  const std::string page = results_section({full, pruned});
  const std::string name = full["matrices"][0]["name"];
  EXPECT_NE(page.find("## Tuning on "), std::string::npos);
  EXPECT_NE(page.find("| " + name + ", quaternion |"), std::string::npos) << page;
  // 1 / 1.25 of the best, in 4 of 200 seconds.
  EXPECT_NE(page.find("| 80% | 2% |"), std::string::npos) << page;
  EXPECT_NE(page.find("geometric mean of "), std::string::npos);
  EXPECT_EQ(results_section({full}).find("geometric mean"), std::string::npos);
  EXPECT_EQ(results_section({}), "");
}

TEST(ResultsSection, RefusesWhatIsNoRun) {
  EXPECT_THROW(results_section({nlohmann::json::object()}), Error);
  EXPECT_THROW(results_section({nlohmann::json({{"device", "a"}, {"matrices", 3}})}), Error);
}

}  // namespace
