// A tuning on the terminal and as JSON.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "evaluation_table.hpp"
#include "report/synthetic_tune.hpp"
#include "summary.hpp"
#include "text_table.hpp"
#include "tune_output.hpp"

namespace {

using namespace heddle;
using namespace heddle::tuning;

std::string table_of(const TuneReport& run) {
  std::ostringstream out;
  print_table(run, out);
  return out.str();
}

TEST(TuneTable, FitsTheTerminal) {
  TuneReport run = tuning::made_up::synthetic_tune();
  run.matrices[0].name = "a-file-with-a-name-that-is-longer-than-anybody-would-have-thought";
  std::istringstream lines(table_of(run));
  for (std::string line; std::getline(lines, line);) {
    const bool is_plan = line.starts_with("C=");
    EXPECT_TRUE(is_plan || report::width(line) <= 120) << line;
  }
}

TEST(TuneTable, ShowsEveryMatrixAndItsPlanInFull) {
  const TuneReport run = tuning::made_up::synthetic_tune();
  const std::string table = table_of(run);
  for (const MatrixReport& matrix : run.matrices) {
    if (!matrix.record) continue;
    EXPECT_NE(table.find("\nplan of " + matrix.name + "\n" + to_string(matrix.record->plan) + "\n"),
              std::string::npos);
  }
  for (const char* part : {"Sl-16-SoA-AoS", "1.78x", "5.82 us", "5.76 to 5.93 us", "static",
                           "1.20x", "1 124", "31.4 s", "no plan was measured",
                           "domain surfaces: ", "takes 1.3% longer", "3.5% (at", "5.0%)"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part;
  }
}

TEST(TuneTable, PredictionsHaveNoTimes) {
  TuneReport run = tuning::made_up::synthetic_tune();
  run.matrices.resize(1);
  run.matrices[0].trials.clear();
  run.matrices[0].record->seconds = {};
  run.matrices[0].record->natural_seconds = {};
  const std::string table = table_of(run);
  EXPECT_NE(table.find("predicted"), std::string::npos);
  EXPECT_EQ(table.find("speed-up  median"), std::string::npos);
  EXPECT_TRUE(summary_json(run)["matrices"][0]["seconds"].is_null());
}

TEST(TuneJson, HoldsEveryTrial) {
  const TuneReport run = tuning::made_up::synthetic_tune();
  const auto json = nlohmann::json::parse(trials_json(run).dump());
  ASSERT_EQ(json["matrices"].size(), run.matrices.size());
  for (std::size_t i = 0; i < run.matrices.size(); ++i) {
    const auto& matrix = json["matrices"][i];
    ASSERT_EQ(matrix["trials"].size(), run.matrices[i].trials.size());
    for (std::size_t k = 0; k < run.matrices[i].trials.size(); ++k) {
      const Trial& trial = run.matrices[i].trials[k];
      const auto& shown = matrix["trials"][k];
      EXPECT_EQ(parse_plan(shown["plan"].get<std::string>()), trial.plan);
      EXPECT_EQ(shown["outcome"], std::string(name(trial.outcome)));
      const bool measured = trial.outcome == Trial::Outcome::measured;
      ASSERT_EQ(shown.contains("seconds"), measured);
      if (measured) {
        EXPECT_EQ(shown["seconds"]["median"], trial.seconds.median);
      } else {
        EXPECT_EQ(shown["reason"], trial.reason);
      }
    }
  }
  EXPECT_EQ(json["matrices"][0]["measured"], 1124);
  EXPECT_TRUE(json["matrices"][2]["plan"].is_null());
  EXPECT_EQ(json["domain"]["name"], "surfaces");
  EXPECT_EQ(json["domain"]["regret"], 0.013);
  EXPECT_EQ(json["domain"]["use"], "plan");
  EXPECT_NEAR(json["domain"]["mean_left_out"], 0.0349, 1e-4);
  EXPECT_FALSE(summary_json(run)["matrices"][0].contains("trials"));
}

TEST(Distributions, AreFiveNumbersOfRows) {
  // Rows of 1, 3, 0 and 2 entries; columns unsorted.
  const Offset offsets[] = {0, 1, 4, 4, 6};
  const Index columns[] = {2, 7, 0, 3, 5, 4};
  const PatternView pattern{4, 8, OffsetsView(offsets), columns};
  const auto lengths = row_lengths(pattern);
  EXPECT_EQ(lengths.least, 0);
  EXPECT_EQ(lengths.median, 1.5);
  EXPECT_EQ(lengths.greatest, 3);
  // Empty rows have no bandwidth.
  const auto widths = row_bandwidths(pattern);
  EXPECT_EQ(widths.least, 0);
  EXPECT_EQ(widths.median, 1.0 / 8);
  EXPECT_EQ(widths.greatest, 7.0 / 8);
  EXPECT_EQ(row_lengths({}), report::FiveNumbers{});
}

TEST(Evaluations, AreJudgedByTheirGeometricMean) {
  Evaluation evaluation;
  evaluation.domain = "surfaces";
  evaluation.plan.plan = parse_plan("Sl-32");
  evaluation.plan.seconds = tuning::made_up::around(1.1e-3);
  evaluation.best.seconds = tuning::made_up::around(1e-3);
  evaluation.loss = 0.1;
  std::vector<EvaluatedMatrix> matrices = {{"a", evaluation}, {"b", evaluation}};
  matrices[1].evaluation.loss = 0.21;
  ASSERT_TRUE(mean_loss(matrices));
  EXPECT_NEAR(*mean_loss(matrices), std::sqrt(1.1 * 1.21) - 1, 1e-12);
  std::ostringstream out;
  print_evaluations(matrices, out);
  EXPECT_NE(out.str().find("10.0%"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("geometric mean of 2 matrices: 15.4%"), std::string::npos) << out.str();
  EXPECT_NEAR(evaluations_json(matrices)["mean_loss"].get<double>(), 0.1537, 1e-4);

  matrices[1].evaluation.plan.outcome = Trial::Outcome::too_large;
  matrices[1].evaluation.loss = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(mean_loss(matrices));
  EXPECT_FALSE(mean_loss({}));
  std::ostringstream without;
  print_evaluations(matrices, without);
  EXPECT_NE(without.str().find("cannot run"), std::string::npos);
  EXPECT_EQ(without.str().find("geometric mean"), std::string::npos);
  EXPECT_TRUE(evaluations_json(matrices)["matrices"][1]["loss"].is_null());
}

TEST(TuneTable, ShowsWhatOfADomainsPlanIsForOthers) {
  const Plan plan = parse_plan("C=64,T=8,order=rcm,inner=aosoa16,vector=soa");
  const Plan predicted = parse_plan("C=32,sigma=n,columns=given");
  EXPECT_EQ(parse_plan(plan_for_others(plan, DomainUse::plan)), plan);
  EXPECT_EQ(parse_plan(plan_for_others(plan, DomainUse::storage), predicted),
            plan_of_domain(plan, DomainUse::storage, predicted));
  EXPECT_EQ(plan_for_others(plan, DomainUse::predicted), "");
  DomainRecord domain = *tuning::made_up::synthetic_tune().domain;
  domain.plan = plan;
  domain.use = DomainUse::storage;
  EXPECT_NE(domain_text(domain).find(
                "order=rcm,columns=sorted,entry-layout=aosoa16,vector-layout=soa, the rest"),
            std::string::npos)
      << domain_text(domain);
  domain.use = DomainUse::order;
  EXPECT_NE(domain_text(domain).find("order=rcm,columns=sorted, the rest"), std::string::npos);
  domain.use = DomainUse::predicted;
  EXPECT_EQ(domain_text(domain).find("order="), std::string::npos);
}

}  // namespace
