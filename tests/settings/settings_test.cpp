// Settings by name: values of each kind, spellings, JSON, and the documentation page that lists
// them.
#include "heddle/runtime/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "heddle/error.hpp"

using namespace heddle;

namespace {

std::string refusal(const std::string& name, const std::string& value) {
  Settings settings;
  try {
    settings.set(name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_TRUE(settings.given().empty());
    return error.what();
  }
  return "";
}

TEST(Settings, AreWrittenToTheOptionsOfTheirUse) {
  Settings settings;
  settings.set("tolerance", "1e-7");
  settings.set("max_iterations", "12");
  settings.set("restart", "5");
  settings.set("keep", "best");
  settings.set("interval", "0.5 3");
  settings.set("field_precision", "single");
  settings.set("cycle", "w");
  settings.set("device", "cuda:1");
  settings.set("ranks", "1,2,8");
  const auto solve = with_settings(SolveSettings(), settings);
  EXPECT_EQ(solve.solver.tolerance, 1e-7);
  EXPECT_EQ(solve.solver.max_iterations, 12);
  EXPECT_EQ(solve.solver.restart, 5);
  EXPECT_EQ(solve.solver.keep, Keep::best);
  ASSERT_TRUE(solve.solver.interval);
  EXPECT_EQ(solve.solver.interval->upper, 3);
  EXPECT_TRUE(solve.has_narrow_fields);
  EXPECT_EQ(with_settings(LeastSquaresOptions(), settings).tolerance, 1e-7);
  EXPECT_EQ(with_settings(EigenOptions(), settings).max_iterations, 12);
  EXPECT_EQ(with_settings(MultigridChoice(), settings).cycle, Cycle::w);
  EXPECT_EQ(with_settings(StorageSettings(), settings).device, "cuda:1");
  EXPECT_EQ(with_settings(DescriptionSettings(), settings).ranks, (std::vector<int>{1, 2, 8}));
  EXPECT_EQ(with_settings(TuneSettings(), settings).options.max_runs, TuneOptions{}.max_runs);
}

TEST(Settings, AreFoundInEverySpelling) {
  for (const char* const name :
       {"max_iterations", "max-iterations", "--max-iterations", "Max_Iterations", "maxiter"}) {
    Settings settings;
    settings.set(name, "7");
    ASSERT_NE(settings.find("max_iterations"), nullptr) << name;
    EXPECT_EQ(settings.find("max_iterations")->spelling, name);
    settings.set("maxiter", "8");
    EXPECT_EQ(settings.given().size(), 1u);
    EXPECT_EQ(with_settings(SolveSettings(), settings).solver.max_iterations, 8);
    settings.reset("--max-iterations");
    EXPECT_FALSE(settings.has("max_iterations"));
  }
}

TEST(Settings, RefuseUnknownNamesWithTheNearest) {
  EXPECT_EQ(refusal("tolerence", "1"), "there is no setting 'tolerence'; did you mean tolerance?");
  EXPECT_EQ(refusal("", "1"), "there is no setting ''");
  EXPECT_EQ(refusal("quux", "1"), "there is no setting 'quux'");
}

TEST(Settings, RefuseValuesOutOfTheirRange) {
  EXPECT_EQ(refusal("--restart", "0"),
            "--restart must be a whole number from 1 to 2147483647, not '0'");
  const std::map<std::string, std::vector<std::string>> bad = {
      {"tolerance", {"", "1", "-1e-9", "nan", "inf", "1e-8x", " 1e-8", "1e400"}},
      {"max_iterations", {"-1", "1.5", "1e3", "9223372036854775808"}},
      {"restart", {"0", "2147483648", "five"}},
      {"time_limit", {"-1", "nan"}},
      {"keep", {"first", ""}},
      {"interval", {"1", "2 1", "0 1", "1 inf", "1 2 3", "1 x"}},
      {"omega", {"0", "inf", "nan", "+-1", "+"}},
      {"record_history", {"maybe"}},
      {"count", {"0", "17"}},
      {"confidence", {"0", "1"}},
      {"ranks", {"0", "2,x", "", "1025"}},
      {"seed", {"-1", "18446744073709551616"}},
      {"node", {"0", "5", "512"}},
      {"threads", {"-1", "1025"}}};
  for (const auto& [name, values] : bad) {
    for (const std::string& value : values) EXPECT_NE(refusal(name, value), "") << name << value;
  }
  for (const auto& [name, value] : {std::pair{"tolerance", "+1e-8"},
                                    {"tolerance", "1e-400"},
                                    {"node", "16"},
                                    {"time_limit", "inf"},
                                    {"record_history", "Yes"},
                                    {"keep", "LAST"},
                                    {"seed", "18446744073709551615"}}) {
    EXPECT_EQ(refusal(name, value), "") << name;
  }
}

TEST(Settings, OfAMethodAreThoseThatItTakes) {
  Settings settings;
  settings.set("--restart", "5");
  check_for_method(settings, "GMRES");
  try {
    check_for_method(settings, "cg");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--restart is for gmres and fgmres, not for cg");
  }
  try {
    check_for_method(settings, "auto");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--restart is for gmres and fgmres: name the method; auto may choose another");
  }
  Settings steps;
  steps.set("omega", "1");
  check_for_method(steps, "richardson");
  steps.set("interval", "1 2");
  EXPECT_THROW(check_for_method(steps, "richardson"), Error);
  Settings usual;
  usual.set("basis_precision", "full");
  check_for_method(usual, "cg");
}

TEST(Settings, OfJsonAreTakenAllOrNone) {
  Settings settings;
  settings.set_json(R"({"rtol": 1e-8, "restart": 5e1, "record_history": true, "keep": "best",
                        "interval": [0.5, 2]})");
  EXPECT_EQ(settings.given().size(), 5u);
  EXPECT_EQ(
      settings.to_json(std::array{SettingUse::solver}),
      R"({"interval":[0.5,2],"keep":"best","record_history":true,"restart":50,"tolerance":1e-08})");
  EXPECT_EQ(settings.to_json(std::array{SettingUse::eigen}), R"({"tolerance":1e-08})");
  Settings again;
  again.set_json(settings.to_json(std::array{SettingUse::solver}));
  EXPECT_EQ(with_settings(SolveSettings(), again).solver.restart, 50);
  for (const char* const bad :
       {"", "[]", "{", "{\"restart\": 5, \"tolerance\": 2}", "{\"restart\": null}",
        "{\"restart\": {}}", "{\"interval\": [1, \"2\"]}", "{\"interval\": []}"}) {
    Settings none;
    EXPECT_THROW(none.set_json(bad), Error) << bad;
    EXPECT_TRUE(none.given().empty());
  }
}

TEST(Settings, OfOneNameHaveTheSameValues) {
  std::map<std::string_view, const SettingRow*> first;
  for (const SettingRow& row : settings_table()) {
    EXPECT_EQ(find_setting(row.name)->name, row.name);
    const auto [found, is_new] = first.emplace(row.name, &row);
    if (is_new) continue;
    EXPECT_EQ(found->second->values, row.values) << row.name;
    EXPECT_EQ(found->second->kind, row.kind) << row.name;
  }
}

/// If the text of a default is a value, it is the default of the options.
TEST(Settings, DefaultsAreThoseOfTheOptions) {
  Settings settings;
  int count = 0;
  for (const SettingRow& row : settings_table()) {
    if (row.by_default.empty() || !row.is_value(row.by_default) || row.kind == ValueKind::text) {
      continue;
    }
    settings.set(row.name, row.by_default);
    ++count;
  }
  EXPECT_GT(count, 20);
  const auto solve = with_settings(SolveSettings(), settings).solver;
  EXPECT_EQ(solve.restart, SolverOptions{}.restart);
  EXPECT_EQ(solve.absolute_tolerance, SolverOptions{}.absolute_tolerance);
  EXPECT_EQ(solve.keep, SolverOptions{}.keep);
  EXPECT_EQ(with_settings(LeastSquaresOptions(), settings).damping, LeastSquaresOptions{}.damping);
  EXPECT_EQ(with_settings(EigenOptions(), settings).seed, EigenOptions{}.seed);
  const auto tune = with_settings(TuneSettings(), settings).options;
  EXPECT_EQ(tune.max_memory_ratio, TuneOptions{}.max_memory_ratio);
  EXPECT_EQ(tune.max_runs, TuneOptions{}.max_runs);
  EXPECT_EQ(tune.tightness, TuneOptions{}.tightness);
  EXPECT_EQ(tune.confidence, TuneOptions{}.confidence);
  const auto multigrid = with_settings(MultigridChoice(), settings);
  EXPECT_EQ(multigrid.strength, MultigridChoice{}.strength);
  EXPECT_EQ(multigrid.smoother, MultigridChoice{}.smoother);
}

/// The tables for docs/reference/settings.md.
std::string page() {
  const std::map<SettingUse, std::string> titles = {{SettingUse::storage, "Device and storage"},
                                                    {SettingUse::ranks, "Ranks"},
                                                    {SettingUse::solver, "Solvers"},
                                                    {SettingUse::least_squares, "Least squares"},
                                                    {SettingUse::multigrid, "Multigrid"},
                                                    {SettingUse::eigen, "Eigenpairs"},
                                                    {SettingUse::tuning, "Tuning"},
                                                    {SettingUse::description, "Descriptions"}};
  std::ostringstream text;
  std::set<SettingUse> seen;
  for (const SettingRow& row : settings_table()) {
    if (seen.insert(row.use).second) {
      text << "\n## " << titles.at(row.use) << "\n\n| name | value | default | meaning |\n"
           << "| --- | --- | --- | --- |\n";
    }
    text << "| `" << row.name << '`';
    if (!row.alias.empty()) text << ", `" << row.alias << '`';
    text << " | " << row.values << " | " << row.by_default << " | ";
    for (const char c : row.help) {
      if (c == '|' || c == '*') text << '\\';
      text << c;
    }
    text << " |\n";
  }
  return text.str();
}

TEST(Settings, StandInTheDocs) {
  const std::string path = HEDDLE_SOURCE_DIR "/docs/reference/settings.md";
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  ASSERT_NE(text, "") << path;
  const std::size_t first = std::min(text.find("\n## "), text.size());
  if (text.substr(first) == page()) return;
  std::ofstream("settings.md") << text.substr(0, first) << page();
  ADD_FAILURE() << path << " differs from the table; the page as it is to be: "
                << "settings.md in the folder of this test";
}

}  // namespace
