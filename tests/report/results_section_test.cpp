// Tuning results on the page of results.
#include <gtest/gtest.h>

#include "heddle/error.hpp"
#include "synthetic_tune.hpp"
#include "tune_output.hpp"

namespace {

using namespace heddle;
using namespace heddle::tuning;

TuneReport with_times(Search search, double factor, double seconds) {
  TuneReport report = tuning::made_up::synthetic_tune();
  report.search = search;
  for (MatrixReport& matrix : report.matrices) {
    matrix.seconds = seconds;
    if (matrix.record) matrix.record->seconds = tuning::made_up::around(factor * 1e-3);
  }
  return report;
}

TEST(ResultsSection, HoldsSearchesNextToOneAnother) {
  const nlohmann::json full = summary_json(with_times(Search::full, 1, 200)),
                       pruned = summary_json(with_times(Search::pruned, 1.25, 4));
  const std::string page = results_section({full, pruned});
  const std::string name = full["matrices"][0]["name"];
  EXPECT_NE(page.find("## Tuning on "), std::string::npos);
  EXPECT_NE(page.find("| " + name + ", quaternion |"), std::string::npos) << page;
  // 1 / 1.25 of the best, in 4 of 200 seconds.
  EXPECT_NE(page.find("| 80% | 2% |"), std::string::npos) << page;
  EXPECT_NE(page.find("geometric mean of "), std::string::npos);
  EXPECT_EQ(results_section({full}).find("geometric mean of "), std::string::npos);
  EXPECT_EQ(results_section({}), "");
}

TEST(ResultsSection, TellsWhatDomainsLose) {
  TuneReport report = tuning::made_up::synthetic_tune();
  const std::string page = results_section({summary_json(report)});
  const std::string second = report.matrices[1].name;
  EXPECT_NE(page.find("| surfaces, quaternion | product | " +
                      std::to_string(report.matrices.size()) + " | plan |"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("| 1.3% | 3.5% | 5.0%, " + second + " |"), std::string::npos) << page;
  report.domain.reset();
  EXPECT_EQ(results_section({summary_json(report)}).find("Domains"), std::string::npos);
}

TEST(ResultsSection, RefusesWhatIsNoRun) {
  EXPECT_THROW(results_section({nlohmann::json::object()}), Error);
  EXPECT_THROW(results_section({nlohmann::json({{"device", "a"}, {"matrices", 3}})}), Error);
}

}  // namespace
