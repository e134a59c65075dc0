// The page of a run: complete, well-formed, and self-contained.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "pages/output.hpp"
#include "support/html_check.hpp"
#include "svg_chart.hpp"
#include "synthetic_run.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using namespace heddle::report;
using heddle::test::count_of;
using heddle::test::fault_of;
using heddle::test::foreign_part_of;
using heddle::test::overlap_in;
using heddle::test::SvgText;
using heddle::test::texts_of;

TEST(HtmlPage, IsWellFormed) { EXPECT_EQ(fault_of(html_page(made_up::synthetic_run())), ""); }

TEST(HtmlPage, NeedsNothingButItself) {
  const std::string html = html_page(made_up::synthetic_run());
  EXPECT_EQ(foreign_part_of(html), "");
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(HtmlPage, HoldsEveryRecordAndCandidate) {
  const auto run = made_up::synthetic_run();
  const std::string html = html_page(run);
  std::size_t candidates = 0;
  for (const Record& record : run.records) {
    EXPECT_NE(html.find(escaped(record.problem) + ", " + record.entry), std::string::npos);
    candidates += record.candidates.size();
    for (const Candidate& candidate : record.candidates) {
      if (candidate.failure) {
        EXPECT_NE(html.find(escaped(*candidate.failure)), std::string::npos);
      }
    }
  }
  const std::string tables_of_candidates = "<td class=\"l\">";
  EXPECT_EQ(count_of(html, tables_of_candidates), candidates);
  for (const PeerPresence& peer : run.peers) {
    EXPECT_NE(html.find(escaped(peer.name)), std::string::npos);
  }
  for (const std::string& text : {run.machine, run.device, run.date, run.commit, run.command}) {
    EXPECT_NE(html.find(escaped(text)), std::string::npos) << text;
  }
}

TEST(HtmlPage, DrawsWhatThereIs) {
  const std::string html = html_page(made_up::synthetic_run());
  EXPECT_EQ(count_of(html, "Bandwidth roofline"), 1u);
  EXPECT_EQ(count_of(html, "aria-label=\"Times as fast as the best other library\""), 2u);
  EXPECT_EQ(count_of(html, "aria-label=\"Convergence of "), 16u);
  EXPECT_EQ(count_of(html, "aria-label=\"Time against "), 2u);
  EXPECT_EQ(count_of(html, "nan"), 0u);
  EXPECT_EQ(count_of(html, "inf\""), 0u);
}

TEST(HtmlPage, TakesRunsWithLittleInThem) {
  auto run = made_up::synthetic_run();
  run.records.clear();
  EXPECT_EQ(fault_of(html_page(run)), "");
  Record record;
  record.problem = "lone <&\"'> one";
  record.entry = "real";
  record.precision = "double";
  record.quantity = "product";
  for (const char* suite : {"product", "solver", "right-hand-sides", "layouts", "setup", "scaling",
                            "primitives", "an&other"}) {
    record.suite = suite;
    run.records = {record};
    EXPECT_EQ(fault_of(html_page(run)), "") << suite;
    EXPECT_NE(html_page(run).find(escaped(record.problem)), std::string::npos) << suite;
    run.records[0].compulsory_bytes = 0;
    run.records[0].candidates = {Candidate{}, Candidate{}};
    run.records[0].candidates[0].seconds = Timing{0, 0, 0};
    run.records[0].candidates[1].seconds = Timing{0, 0, 0};
    run.records[0].candidates[1].role = Role::chosen;
    run.records[0].candidates[1].history = {0, std::numeric_limits<double>::infinity()};
    EXPECT_EQ(fault_of(html_page(run)), "") << suite;
  }
}

std::string part_between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t first = text.find(from);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find(to, first) - first);
}

TEST(HtmlPage, LabelsStayApartForManyAndFewProblems) {
  const auto whole = made_up::synthetic_run();
  for (const int copies : {1, 3}) {
    auto run = whole;
    run.records.clear();
    for (int k = 0; k < copies; ++k) {
      for (Record record : whole.records) {
        if (record.suite != "product" || (copies == 1 && run.records.size() == 5)) continue;
        record.problem += std::string("-") + std::to_string(k);
        if (record.compulsory_bytes) *record.compulsory_bytes += *record.compulsory_bytes * k / 50;
        run.records.push_back(record);
      }
    }
    const std::string html = html_page(run);
    const std::string roofline = part_between(html, "Bandwidth reached against", "</svg>");
    EXPECT_FALSE(texts_of(roofline).empty());
    EXPECT_EQ(overlap_in(roofline), "");
    EXPECT_EQ(overlap_in(part_between(html, "aria-label=\"Times as fast", "</svg>")), "");
    // Every problem with a time has its number.
    std::set<std::string> numbers;
    for (const SvgText& text : texts_of(roofline)) numbers.insert(text.words);
    for (std::size_t i = 0; i < run.records.size(); ++i) {
      if (run.records[i].find(Role::chosen)->seconds) {
        EXPECT_TRUE(numbers.contains(std::to_string(i + 1))) << i + 1;
      }
    }
  }
}

TEST(Svg, WithoutPointsThereIsNoChart) {
  Chart chart;
  chart.x.tick = chart.y.tick = [](double) { return std::string("1"); };
  chart.x.logarithmic = true;
  EXPECT_EQ(svg(chart), "");
  Series series;
  series.points = {{0, 1, "", 0, {}}, {std::numeric_limits<double>::quiet_NaN(), 1, "", 0, {}}};
  chart.series = {series};
  EXPECT_EQ(svg(chart), "");
  chart.series[0].points.push_back({1, 0, "", 1, {}});
  EXPECT_EQ(fault_of(svg(chart)), "");
  EXPECT_EQ(svg(chart).find("nan"), std::string::npos);
}

}  // namespace
