// The page of a tuning: complete, well-formed, and self-contained.
#include <gtest/gtest.h>

#include "layout_maps.hpp"
#include "plan_names.hpp"
#include "report/synthetic_tune.hpp"
#include "support/html_check.hpp"
#include "svg_drawing.hpp"
#include "tune_output.hpp"

namespace {

using namespace heddle;
using namespace heddle::tuning;
using heddle::test::count_of;
using heddle::test::fault_of;
using heddle::test::foreign_part_of;

/// Few, but enough to see that nothing is left out.
tuning::made_up::SyntheticAxes few() {
  return {{"C=1", "C=n", "C=16", "C=32,sigma=n"},
          {"aos", "soa"},
          {"aos", "soa"},
          {64, 1024},
          {1, 2, 32}};
}

std::vector<std::string> figures_of(const std::string& html) {
  std::vector<std::string> figures;
  for (std::size_t at = html.find("<svg "); at != std::string::npos; at = html.find("<svg ", at)) {
    const std::size_t end = html.find("</svg>", at);
    figures.push_back(html.substr(at, end - at));
    at = end;
  }
  return figures;
}

TEST(TunePage, IsWellFormed) {
  EXPECT_EQ(fault_of(html_page(tuning::made_up::synthetic_tune())), "");
}

TEST(TunePage, NeedsNothingButItself) {
  const std::string html = html_page(tuning::made_up::synthetic_tune(few()));
  EXPECT_EQ(foreign_part_of(html), "");
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(TunePage, HoldsEveryMatrixAndItsPlan) {
  const TuneReport run = tuning::made_up::synthetic_tune(few());
  const std::string html = html_page(run);
  for (const MatrixReport& matrix : run.matrices) {
    EXPECT_NE(html.find(">" + report::escaped(matrix.name) + "</h2>"), std::string::npos);
    if (!matrix.record) continue;
    EXPECT_NE(html.find(report::layout_name(matrix.record->plan)), std::string::npos);
  }
  for (const std::string& text : {run.device, run.date, run.commit, run.command}) {
    EXPECT_NE(html.find(report::escaped(text)), std::string::npos) << text;
  }
  EXPECT_NE(html.find("One plan for the domain surfaces"), std::string::npos);
  EXPECT_NE(html.find("no plan was measured"), std::string::npos);
  for (const char* reason : {"2.4 times the memory of CSR", "too many registers for &lt;1024&gt;",
                             "differs from the reference by 0.3"}) {
    EXPECT_NE(html.find(reason), std::string::npos) << reason;
  }
}

TEST(TunePage, DrawsAHeatMapOfEachLayout) {
  const TuneReport run = tuning::made_up::synthetic_tune(few());
  const std::string html = html_page(run);
  // One of the 16 layouts is too large under every schedule.
  EXPECT_EQ(count_of(html, "aria-label=\"Times of "), 2 * 15u);
  EXPECT_EQ(count_of(html, "aria-label=\"Medians of the trials"), 2u);
  EXPECT_EQ(count_of(html, "aria-label=\"Distribution of "), 2u);
  EXPECT_EQ(count_of(html, "schedule=static</text>"), 2 * 15u);
  EXPECT_EQ(count_of(html, "class=\"frame\""), 2 * 15u);
  EXPECT_EQ(count_of(html, "nan"), 0u);
  EXPECT_EQ(count_of(html, "inf"), 0u);
}

TEST(TunePage, TextsStayApart) {
  for (const std::string& figure : figures_of(html_page(tuning::made_up::synthetic_tune()))) {
    EXPECT_EQ(heddle::test::overlap_in(figure), "") << figure.substr(0, 160);
  }
}

TEST(TunePage, TakesRunsWithLittleInThem) {
  TuneReport run;
  EXPECT_EQ(fault_of(html_page(run)), "");
  run.matrices.resize(1);
  EXPECT_EQ(fault_of(html_page(run)), "");
  run.matrices[0].name = "lone <&\"'> one";
  Trial trial;
  trial.seconds = {1, 0, 0, 0, 0, 0, 0};  // below the clock's resolution
  trial.score = 0;
  run.matrices[0].trials = {trial};
  EXPECT_EQ(fault_of(html_page(run)), "");
  run.matrices[0].trials[0].outcome = Trial::Outcome::wrong;
  EXPECT_EQ(fault_of(html_page(run)), "");
  run.matrices[0].trials[0].outcome = Trial::Outcome::measured;
  run.matrices[0].trials[0].seconds = tuning::made_up::around(1e-3);
  run.matrices[0].record = ProfileRecord{};  // predicted
  EXPECT_EQ(fault_of(html_page(run)), "");
  EXPECT_NE(html_page(run).find("predicted"), std::string::npos);
}

TEST(LayoutMaps, CellsAreTheFastestOfTheirPlans) {
  MatrixReport matrix;
  const auto add = [&](const std::string& plan, double seconds) {
    Trial trial;
    trial.plan = parse_plan(plan);
    trial.seconds = tuning::made_up::around(seconds);
    trial.score = seconds;
    matrix.trials.push_back(trial);
  };
  add("CSR,prefetch-x=12,prefetch-matrix=0", 4e-6);
  add("CSR,prefetch-x=12,prefetch-matrix=0,loop=graph", 3e-6);
  add("CSR,prefetch-x=96,prefetch-matrix=1024", 5e-6);
  add("CSR,prefetch-x=96,schedule=dynamic,chunk=4", 6e-6);
  add("Sl-32,prefetch-x=12", 2e-6);
  const auto maps = layout_maps(matrix, false);
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(report::layout_name(maps[0].best->plan), "Sl-32-AoS-AoS");
  EXPECT_EQ(maps[1].measured, 4);
  ASSERT_EQ(maps[1].map.panels.size(), 2u);
  const auto& fixed = maps[1].map.panels[0];
  EXPECT_EQ(fixed.x, (std::vector<std::string>{"12", "96"}));
  EXPECT_EQ(fixed.y, (std::vector<std::string>{"0", "1024"}));
  ASSERT_TRUE(fixed.cells[0][0]);
  EXPECT_EQ(fixed.cells[0][0]->value, 3e-6);
  EXPECT_EQ(fixed.cells[0][0]->label, "3.00");
  EXPECT_FALSE(fixed.cells[0][1]);
  ASSERT_TRUE(fixed.cells[1][1]);
  const auto& dynamic = maps[1].map.panels[1];
  EXPECT_EQ(dynamic.name, "schedule=dynamic");
  EXPECT_EQ(dynamic.y, (std::vector<std::string>{"4"}));
  ASSERT_TRUE(dynamic.cells[0][1]);
  EXPECT_EQ(dynamic.cells[0][1]->value, 6e-6);
}

TEST(PlanNames, AreThePapers) {
  for (const auto& [plan, name] :
       {std::pair{"CSR", "CSR-AoS-AoS"},
        {"ELL,inner=soa", "ELL-SoA-AoS"},
        {"Sl-32,inner=soa,vector=soa", "Sl-32-SoA-SoA"},
        {"pJDS,inner=aosoa", "pJDS-AoSoA-AoS"},
        {"C=8,sigma=1024,inner=aosoa16", "Sl-8-AoSoA16-AoS, sigma=1024"},
        {"C=16,sigma=n,T=2,order=rcm", "Sl-16-AoS-AoS, sigma=n, threads-per-row=2, order=rcm"},
        {"K2", "pJDS-AoS-AoS, threshold=8, columns=given, basis=user"}}) {
    EXPECT_EQ(report::layout_name(parse_plan(plan)), name);
    EXPECT_EQ(report::short_plan(to_full_string(parse_plan(plan))), to_string(parse_plan(plan)));
  }
}

}  // namespace
