// The runs of data/baselines can be read like any run, and compare equal to themselves.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "pages/output.hpp"
#include "records/record.hpp"

namespace {

using namespace heddle::bench;

TEST(Baselines, AreRunsThatHoldAgainstThemselves) {
  int files = 0;
  const std::string folder = std::string(HEDDLE_SOURCE_DIR) + "/data/baselines";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    SCOPED_TRACE(file.path().filename().string());
    const auto run = read_run(file.path().string());
    EXPECT_FALSE(run.records.empty());
    EXPECT_FALSE(run.quick || run.interrupted);
    std::ostringstream out;
    const Comparison comparison = compare_runs(run, run, 0.05, out);
    EXPECT_GT(comparison.same, 0);
    EXPECT_EQ(comparison.slower + comparison.faster + comparison.missing, 0) << out.str();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
