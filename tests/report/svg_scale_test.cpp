// Axes have few ticks, all of them on the axis, for any numbers.
#include "svg_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "heat_map.hpp"

namespace heddle::report {
namespace {

constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double tiny = std::numeric_limits<double>::min();
constexpr double huge = std::numeric_limits<double>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

TEST(Scale, HasFewTicksOfAnyRange) {
  const double ends[] = {0,    smallest, 1e-310, tiny, 1e-306,   1e-16,    1,
                         1e16, 1e306,    huge,   -1,   infinite, no_number};
  for (const bool logarithmic : {false, true}) {
    for (const double low : ends) {
      for (const double high : ends) {
        Scale scale(logarithmic, low, high);
        scale.map_to(0, 1000);
        const auto ticks = scale.ticks(9);
        EXPECT_LE(ticks.size(), 21u) << logarithmic << " " << low << " " << high;
        for (const double tick : ticks) {
          EXPECT_TRUE(scale.at(tick) >= -1e-6 && scale.at(tick) <= 1000 + 1e-6)
              << logarithmic << " " << low << " " << high << ": " << tick;
        }
      }
    }
  }
}

TEST(Scale, HasNoTicksWhereNoneFit) {
  for (const bool logarithmic : {false, true}) {
    for (const int most : {0, -3}) EXPECT_LE(Scale(logarithmic, 0.1, 10).ticks(most).size(), 1U);
  }
}

TEST(Scale, HeatsWhateverTheRange) {
  HeatMap map;
  map.panels.push_back({"", "", "", {"a", "b", "c"}, {"d"}, {{}}});
  for (const double value : {1e-300, 1.0, 1e300}) {
    map.panels[0].cells[0].push_back(HeatMap::Cell{value, "", ""});
  }
  const std::string drawn = svg(map);
  for (const char* colour : {"\"q1\"", "\"q5\"", "\"q9\""}) {
    EXPECT_NE(drawn.find(colour), std::string::npos) << colour;
  }
}

TEST(Scale, ReachesFromTheSmallestNumbersToOne) {
  Scale scale(true, 0, 1);
  scale.map_to(0, 1000);
  const auto ticks = scale.ticks(9);
  ASSERT_GE(ticks.size(), 3u);
  EXPECT_LT(ticks.front(), 1e-250);
  EXPECT_DOUBLE_EQ(ticks.back(), 1);
  EXPECT_TRUE(std::isfinite(scale.at(smallest)));
  EXPECT_LT(scale.at(smallest), scale.at(1e-300));
}

}  // namespace
}  // namespace heddle::report
