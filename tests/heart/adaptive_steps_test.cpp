// Adaptive steps of Newton's scheme: how their lengths follow from errors, and whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "command_heart.hpp"
#include "step_lengths.hpp"

namespace heddle::heart::test {
namespace {

TEST(StepLengths, FollowTheErrors) {
  StepLengths lengths(0.1, 20);
  EXPECT_EQ(lengths.first(100), 1);
  for (const long long expected : {2, 4, 8, 16, 16}) {  // 16 is the last power of two below 20
    lengths.take(lengths.first(100), 0);
    EXPECT_EQ(lengths.first(100), expected);
  }
  EXPECT_EQ(lengths.first(7), 4);
  // A shorter step for want of room does not shorten the next.
  lengths.take(4, 0.001);
  EXPECT_EQ(lengths.wish(), 16);
  EXPECT_TRUE(lengths.accepts(16, 0.1));
  EXPECT_FALSE(lengths.accepts(16, 0.11));
  EXPECT_TRUE(lengths.accepts(1, 1e9));
  EXPECT_EQ(lengths.shorter(16, 0.11), 8);  // 0.11 / 4 is below 0.08
  EXPECT_EQ(lengths.shorter(16, 0.33), 4);
  EXPECT_EQ(lengths.shorter(16, 1e9), 1);
  EXPECT_EQ(lengths.shorter(16, std::numeric_limits<double>::infinity()), 1);
  EXPECT_EQ(lengths.shorter(2, 0.11), 1);
  // The next step may be shorter without a rejection.
  lengths.take(16, 0.09);
  EXPECT_EQ(lengths.wish(), 8);
  lengths.reject();
  const StepCounts& counts = lengths.counts();
  EXPECT_EQ(counts.taken, 7);
  EXPECT_EQ(counts.rejected, 1);
  EXPECT_EQ(counts.shortest, 1);
  EXPECT_EQ(counts.longest, 16);
  lengths.begin_again();
  EXPECT_EQ(lengths.first(100), 1);
}

class AdaptiveRuns : public CommandHeart {
 protected:
  static json adaptive(double end) {
    json of = small();
    of["regions"][0]["membrane"]["parameters"] = {{"t_scale", 4}};
    of["time"] = {{"step", 0.05}, {"end", end}, {"scheme", "newton"}, {"adaptive", json::object()}};
    of["output_every"] = end;
    return of;
  }
  /// Rows of a table of traces by their time.
  std::map<double, std::vector<double>> traces(const std::string& file) const {
    std::istringstream text(text_of(file));
    std::string line;
    std::getline(text, line);
    std::map<double, std::vector<double>> rows;
    while (std::getline(text, line)) {
      std::istringstream cells(line);
      std::vector<double> row;
      for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
      rows[row[0]] = {row.begin() + 1, row.end()};
    }
    return rows;
  }
};

/// A whole action potential, next to fixed steps of the shortest length.
TEST_F(AdaptiveRuns, AgreeWithFineStepsAndTakeFewer) {
  json of = adaptive(250);
  const Result result = tissue(of, {"--json", "--traces", "a.csv"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  of["time"].erase("adaptive");
  const json fine = tissue(of, {"--json", "--traces", "f.csv"}).json();
  EXPECT_FALSE(fine.contains("adaptive"));
  EXPECT_EQ(fine["steps"], 5000);
  EXPECT_EQ(report["steps"], 5000);  // in steps of 0.05 ms
  const json& steps = report["adaptive"];
  EXPECT_EQ(steps["tolerance"], 0.1);
  EXPECT_LT(steps["taken"], 1000);
  EXPECT_LT(steps["rejected"], 100);
  EXPECT_EQ(steps["shortest"], 0.05);
  EXPECT_GE(steps["longest"], 0.8 - 1e-12);
  EXPECT_LT(report["newton_iterations"], 0.5 * fine["newton_iterations"].get<double>());
  EXPECT_LT(report["iterations"], 0.5 * fine["iterations"].get<double>());
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(report["points"][i]["activation"], fine["points"][i]["activation"], 0.1) << i;
  }
  const auto rows = traces("a.csv"), of_fine = traces("f.csv");
  EXPECT_EQ(rows.size(), steps["taken"].get<std::size_t>() + 1);
  // Fronts and tails come at most 3 ms earlier or later.
  for (const auto& [time, row] : rows) {
    for (std::size_t k = 0; k < 2; ++k) {
      const auto first = of_fine.lower_bound(time - 3 - 1e-9);
      const auto last = of_fine.upper_bound(time + 3 + 1e-9);
      double least = HUGE_VAL, most = -HUGE_VAL;
      for (auto at = first; at != last; ++at) {
        least = std::min(least, at->second[k]);
        most = std::max(most, at->second[k]);
      }
      EXPECT_GE(row[k], least - 0.5) << time;
      EXPECT_LE(row[k], most + 0.5) << time;
    }
  }
}

/// Steps end where states, rows and stimuli do, and a resumed run goes on in the same way.
TEST_F(AdaptiveRuns, EndWhereSomethingIsDueAndGoOnWithTheSameBits) {
  json of = adaptive(40);
  of["time"]["adaptive"] = {{"tolerance", 0.3}, {"max_step", 1}};
  of["stimuli"].push_back({{"box", {{"from", {3, 0, 0}}, {"to", {4, 2, 1}}}},
                           {"start", 31.05},
                           {"duration", 0.65},
                           {"amplitude", 90}});
  of["output_every"] = 8;
  const std::vector<std::string> keeps = {"--restart", "s", "--restart-every", "20"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), keeps.begin(), keeps.end());
    return more;
  };
  const Result whole =
      tissue(of, with({"--output", "whole.pvd", "--traces", "whole.csv", "--json"}));
  ASSERT_EQ(whole.status, 0) << whole.error;
  EXPECT_EQ(whole.json()["frames"], 6);
  EXPECT_EQ(whole.json()["adaptive"]["longest"], 0.8);
  const auto rows = traces("whole.csv");
  for (const double due : {8.0, 20.0, 31.05, 31.7, 40.0}) {
    const auto at = rows.lower_bound(due - 1e-6);
    ASSERT_NE(at, rows.end());
    EXPECT_NEAR(at->first, due, 1e-6);
  }
  ASSERT_EQ(tissue(changed(of, "/time/end", 20), with({})).status, 0);
  const Result rest =
      tissue(of, with({"--resume", "s", "--output", "rest.pvd", "--traces", "rest.csv"}));
  ASSERT_EQ(rest.status, 0) << rest.error;
  for (const char* step : {"-000480.vtu", "-000800.vtu"}) {
    EXPECT_EQ(text_of(std::string("whole") + step), text_of(std::string("rest") + step));
  }
  ASSERT_EQ(tissue(changed(of, "/time/end", 20), with({})).status, 0);
  EXPECT_EQ(tissue(changed(of, "/time/adaptive", {{"tolerance", 0.2}}), {"--resume", "s"}).error,
            "heddle-heart: s: the state is from a run that differs in: time step (0.05 to 1 within "
            "0.3 mV, not 0.05 to usual within 0.2 mV)\n");
  of["trace_every"] = 0.5;
  ASSERT_EQ(tissue(of, {"--traces", "half.csv"}).status, 0);
  EXPECT_EQ(traces("half.csv").size(), 81U);
}

TEST_F(AdaptiveRuns, AreRefusedInOneLine) {
  const json of = adaptive(10);
  const auto error = [&](const char* pointer, const json& part) {
    return tissue(changed(of, pointer, part)).error;
  };
  EXPECT_EQ(
      error("/time/adaptive/tolerance", 0),
      "heddle-heart: case.json: time.adaptive.tolerance must be from 1e-06 to 20 mV, not 0\n");
  EXPECT_EQ(error("/time/adaptive/max_step", 0.02),
            "heddle-heart: case.json: time.adaptive.max_step is shorter than the time step, 0.05 "
            "ms\n");
  EXPECT_EQ(error("/time/adaptive/max_step", 2),
            "heddle-heart: case.json: time.adaptive.max_step of 2 ms is too long for Newton's "
            "method; it takes at most 1.514 ms\n");
  EXPECT_EQ(error("/time/adaptive/most", 2),
            "heddle-heart: case.json: time.adaptive.most is not known; there are: tolerance, "
            "max_step\n");
  EXPECT_EQ(error("/time/scheme", "splitting"),
            "heddle-heart: case.json: time.adaptive applies only to the scheme newton\n");
}

}  // namespace
}  // namespace heddle::heart::test
