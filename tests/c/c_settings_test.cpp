// Settings by name: the names and values that exist, and those that calls take.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

std::string text_of_settings(const heddle_settings* settings) {
  std::string text(heddle_settings_json(settings, nullptr, 0), '\0');
  EXPECT_EQ(heddle_settings_json(settings, text.data(), text.size() + 1), text.size());
  return text;
}

nlohmann::json whole_table() {
  std::string text(heddle_settings_table(nullptr, 0), '\0');
  EXPECT_EQ(heddle_settings_table(text.data(), text.size() + 1), text.size());
  return nlohmann::json::parse(text);
}

class CSettings : public testing::Test {
 protected:
  CSettings() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_settings_create(context, &settings), HEDDLE_OK);
  }
  void expect_set(const char* name, const std::string& value) const {
    EXPECT_EQ(heddle_settings_set(settings, name, value.c_str()), HEDDLE_OK)
        << name << "=" << value << ": " << message(context);
  }
  void expect_refused(const char* name, const std::string& value, const std::string& words) const {
    const std::string before = text_of_settings(settings);
    EXPECT_EQ(heddle_settings_set(settings, name, value.c_str()), HEDDLE_ERROR_USAGE)
        << name << "=" << value;
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
    EXPECT_EQ(text_of_settings(settings), before);
  }
  /// The value of a setting in JSON; null if it was not given.
  nlohmann::json given(const std::string& name) const {
    const auto all = nlohmann::json::parse(text_of_settings(settings));
    return all.value(name, nlohmann::json());
  }

  Context context;
  Held<heddle_settings, heddle_settings_destroy> settings;
};

TEST_F(CSettings, NameTheNearestOfANameThatThereIsNot) {
  expect_refused("tolerence", "1e-8", "there is no setting 'tolerence'; did you mean tolerance?");
  expect_refused("--max-iteration", "5", "did you mean max_iterations?");
  expect_refused("soap", "1", "there is no setting 'soap'");
  expect_refused("", "1", "there is no setting ''");
  expect_refused("--", "1", "there is no setting '--'");
  expect_refused("new\nline", "1", "there is no setting 'new?line'");
  EXPECT_EQ(heddle_settings_set_number(settings, "tolerence", 1), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_settings_set_json(settings, R"({"tolerence": 1})"), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "there is no setting 'tolerence'; did you mean tolerance?");
}

/// Names like SciPy's, in letters of any case, and those of command line options.
TEST_F(CSettings, HaveNamesOfSeveralSpellings) {
  for (const char* const name : {"max_iterations", "maxiter", "MaxIter", "MAX_ITERATIONS",
                                 "max-iterations", "--max-iterations", "--Max_Iterations"}) {
    expect_set(name, "7");
    EXPECT_EQ(text_of_settings(settings), R"({"max_iterations":7})") << name;
    EXPECT_EQ(heddle_settings_set(settings, name, nullptr), HEDDLE_OK);
    EXPECT_EQ(text_of_settings(settings), "{}") << name;
  }
  expect_set("rtol", "0.5");
  expect_set("atol", "0.25");
  EXPECT_EQ(given("tolerance"), 0.5);
  EXPECT_EQ(given("absolute_tolerance"), 0.25);
  expect_set("tolerance", "0.125");  // replaces the first
  EXPECT_EQ(given("tolerance"), 0.125);
  expect_refused("rtol", "2", "rtol must be a number of at least 0 and below 1, not '2'");
  expect_refused("--RTOL", "2", "--RTOL must be a number of at least 0 and below 1, not '2'");
}

TEST_F(CSettings, RefuseNumbersOutOfTheirRange) {
  for (const char* const text : {"0", "0.5", "1e-8", "1E-8", "1e-300"}) expect_set("rtol", text);
  for (const char* const text : {"1", "-1e-8", "nan", "-nan", "inf", "1e400", "1e-8x", "1e-8 ",
                                 " 1e-8", "0x1", "1,5", "", "small", "1e-8\n", "--1"}) {
    expect_refused("rtol", text, "rtol must be a number of at least 0 and below 1, not");
  }
  for (const char* const text : {"0", "2.5", "inf"}) expect_set("time_limit", text);
  EXPECT_EQ(given("time_limit"), "inf") << "has no number in JSON";
  for (const char* const text : {"-1", "nan", "1e400"}) expect_refused("time_limit", text, "");
  for (const char* const text : {"-0.5", "3"}) expect_set("omega", text);
  for (const char* const text : {"0", "inf", "nan", "-inf"}) {
    expect_refused("omega", text, "omega must be a finite number other than 0, not");
  }
  for (const char* const text : {"-1", "inf", "nan"}) expect_refused("damping", text, "damping");
  for (const char* const text : {"0", "0.999"}) expect_set("strength", text);
  for (const char* const text : {"1", "-0.1", "nan"}) expect_refused("strength", text, "strength");
  for (const char* const text : {"0.5", "nan"}) expect_refused("max_memory_ratio", text, "1");
  for (const char* const text : {"0", "nan", "inf"}) expect_refused("bandwidth", text, "above 0");
  for (const char* const text : {"-1", "nan"}) expect_refused("seconds", text, "seconds");
}

TEST_F(CSettings, RefuseWholeNumbersOutOfTheirRange) {
  for (const char* const text : {"1", "30", "2147483647"}) expect_set("restart", text);
  for (const char* const text : {"0", "-1", "2147483648", "99999999999999999999", "5.0", "5e1", "",
                                 "5 ", "+5", "five", "nan", "inf", "1e400"}) {
    expect_refused("restart", text, "restart must be a whole number from 1 to 2147483647, not");
  }
  for (const char* const text : {"0", "9223372036854775807"}) expect_set("max_iterations", text);
  for (const char* const text : {"-1", "9223372036854775808"}) {
    expect_refused("max_iterations", text, "max_iterations must be a whole number, 0 or more");
  }
  expect_refused("threads", "-1", "threads must be a whole number from 0 to 1024, not '-1'");
  for (const char* const text : {"0", "17"}) expect_refused("count", text, "from 1 to 16");
  for (const char* const text : {"0", "65"}) expect_refused("unknowns", text, "from 1 to 64");
  for (const char* const text : {"0", "100001"}) expect_refused("max_runs", text, "max_runs");
  expect_set("seed", "18446744073709551615");
  EXPECT_EQ(given("seed"), std::numeric_limits<std::uint64_t>::max());
  expect_refused("seed", "18446744073709551616", "seed");
  expect_refused("seed", "-1", "seed");
}

TEST_F(CSettings, KnowWordsInAnyLetterCase) {
  for (const char* const text : {"true", "yes", "on", "1", "TRUE", "Yes"}) {
    expect_set("record_history", text);
    EXPECT_EQ(given("record_history"), true);
  }
  for (const char* const text : {"false", "no", "off", "0", "False", "OFF"}) {
    expect_set("record_history", text);
    EXPECT_EQ(given("record_history"), false);
  }
  for (const char* const text : {"", "2", "maybe", "true ", "yesno"}) {
    expect_refused("record_history", text, "record_history must be true or false, not");
  }
  const std::map<const char*, std::vector<const char*>> words = {
      {"keep", {"last", "Best"}},
      {"basis_precision", {"full", "SINGLE"}},
      {"field_precision", {"full", "single"}},
      {"storage", {"sliced", "HiSparse"}},
      {"exchange", {"auto", "vector", "naive", "Task"}},
      {"boundary", {"whole", "Split"}},
      {"cycle", {"v", "W", "k"}},
      {"smoother", {"chebyshev", "jacobi", "l1-jacobi", "Gauss-Seidel"}},
      {"interpolation", {"smoothed", "Plain"}},
      {"level_precision", {"full", "Single"}},
      {"candidates", {"adaptive"}},
      {"search", {"pruned", "full", "Predict"}},
  };
  for (const auto& [name, good] : words) {
    for (const char* const word : good) expect_set(name, word);
    for (const char* const word : {"", " ", "soap", "fu", "auto vector"}) {
      expect_refused(name, word, std::string(name) + " must be ");
    }
  }
  expect_refused("storage", "tree", "storage must be sliced or hisparse, not 'tree'");
  expect_refused("search", "best", "search must be pruned, full or predict, not 'best'");
  expect_refused("device", "", "device must be cpu, cuda, cuda:N or auto, not ''");
}

TEST_F(CSettings, TakeSeveralNumbers) {
  for (const char* const text : {"0.5 20", "0.5,20", " 0.5 , 20 "}) {
    expect_set("interval", text);
    EXPECT_EQ(given("interval"), nlohmann::json({0.5, 20}));
  }
  for (const char* const text : {"", "0.5", "1 2 3", "2 1", "0 1", "-1 1", "1 1", "1 inf", "1 nan",
                                 "1 2x", "1;2", "a b", "1 1e400"}) {
    expect_refused("interval", text, "interval must be two finite numbers, 0 < LOWER < UPPER, not");
  }
  for (const char* const text : {"2,4", "2 4"}) {
    expect_set("ranks", text);
    EXPECT_EQ(given("ranks"), nlohmann::json({2, 4}));
  }
  for (const char* const text : {"", "0", "1025", "2,-1", "2.5", "2,x", ","}) {
    expect_refused("ranks", text, "ranks must be whole numbers from 1 to 1024, not");
  }
}

/// A text of a million letters is shortened to one line.
TEST_F(CSettings, TakeTextsOfAnySize) {
  const std::string huge(1'000'000, 'x');
  EXPECT_EQ(heddle_settings_set(settings, huge.c_str(), "1"), HEDDLE_ERROR_USAGE);
  expect_refused("tolerance", huge, "tolerance must be a number");
  expect_refused("restart", std::string(100'000, '9'), "restart must be a whole number");
  expect_set("plan", huge);
  EXPECT_EQ(given("plan"), huge);
  Matrix matrix;
  Operator A;
  ASSERT_EQ(heddle_matrix_generate(context, "poisson", 8, 1, &matrix), HEDDLE_OK);
  EXPECT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_ERROR_BAD_PLAN);
}

TEST_F(CSettings, TakeNumbersOfC) {
  ASSERT_EQ(heddle_settings_set_number(settings, "tolerance", 1e-8), HEDDLE_OK);
  EXPECT_EQ(given("tolerance"), 1e-8);
  ASSERT_EQ(heddle_settings_set_number(settings, "tolerance", 0.1), HEDDLE_OK);
  EXPECT_EQ(given("tolerance"), 0.1) << "to the last bit";
  for (const double number : {50.0, 1e9, 9007199254740992.0}) {
    ASSERT_EQ(heddle_settings_set_number(settings, "maxiter", number), HEDDLE_OK) << number;
    EXPECT_EQ(given("max_iterations"), static_cast<std::int64_t>(number));
  }
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double number : {0.5, nan, infinity, -1.0, 1e300}) {
    EXPECT_EQ(heddle_settings_set_number(settings, "maxiter", number), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find("maxiter must be a whole number"), std::string::npos);
  }
  for (const double number : {nan, infinity, -infinity, 1.0}) {
    EXPECT_EQ(heddle_settings_set_number(settings, "tolerance", number), HEDDLE_ERROR_USAGE);
  }
  EXPECT_EQ(heddle_settings_set_number(settings, "time_limit", infinity), HEDDLE_OK);
  EXPECT_EQ(heddle_settings_set_number(settings, "record_history", 1), HEDDLE_OK);
  EXPECT_EQ(given("record_history"), true);
  for (const char* const name : {"keep", "interval", "record_history"}) {
    EXPECT_EQ(heddle_settings_set_number(settings, name, 2), HEDDLE_ERROR_USAGE) << name;
  }
  EXPECT_EQ(heddle_settings_set_number(settings, nullptr, 2), HEDDLE_ERROR_USAGE);
}

TEST_F(CSettings, TakeAllOfAJsonObjectOrNone) {
  const char* const all = R"({"rtol": 1e-8, "restart": 50, "keep": "best", "record_history": true,
                              "interval": [0.5, 20], "ranks": [2, 4], "time_limit": "inf",
                              "plan": "CSR", "seed": 18446744073709551615})";
  ASSERT_EQ(heddle_settings_set_json(settings, all), HEDDLE_OK) << message(context);
  EXPECT_EQ(given("tolerance"), 1e-8);
  EXPECT_EQ(given("restart"), 50);
  EXPECT_EQ(given("interval"), nlohmann::json({0.5, 20}));
  EXPECT_EQ(given("ranks"), nlohmann::json({2, 4}));
  EXPECT_EQ(given("record_history"), true);
  const std::string before = text_of_settings(settings);
  ASSERT_EQ(heddle_settings_set_json(settings, before.c_str()), HEDDLE_OK) << message(context);
  EXPECT_EQ(nlohmann::json::parse(text_of_settings(settings)), nlohmann::json::parse(before));
  const std::string kept = text_of_settings(settings);
  for (const char* const text : {"",
                                 "soap",
                                 "[]",
                                 "[{}]",
                                 "null",
                                 "7",
                                 "\"tolerance\"",
                                 "{",
                                 R"({"restart": 5,})",
                                 R"({"restart": 5} {})",
                                 R"({"restart": 5, "tolerence": 1})",
                                 R"({"restart": 5, "tolerance": 2})",
                                 R"({"restart": 5, "zzz": 1})",
                                 R"({"restart": null, "plan": "ELL"})",
                                 R"({"plan": "ELL", "restart": {"is": 5}})",
                                 R"({"plan": "ELL", "restart": {}})",
                                 R"({"plan": "ELL", "restart": []})",
                                 R"({"plan": "ELL", "restart": [5, 6]})",
                                 R"({"plan": "ELL", "interval": [1, "2"]})",
                                 R"({"plan": "ELL", "interval": [[1, 2]]})",
                                 R"({"plan": "ELL", "interval": [1, null]})",
                                 R"({"plan": "ELL", "restart": 5.5})",
                                 R"({"plan": "ELL", "tolerance": 1e400})",
                                 R"({"plan": "ELL", "tolerance": NaN})",
                                 R"({"plan": "ELL", "tolerance": true})",
                                 R"({"plan": "ELL", "restart": 99999999999999999999})",
                                 R"({"plan": "", "restart": 5})",
                                 "{\"plan\": \"\xff\"}"}) {
    EXPECT_EQ(heddle_settings_set_json(settings, text), HEDDLE_ERROR_USAGE) << text;
    EXPECT_NE(message(context), "");
    EXPECT_EQ(text_of_settings(settings), kept) << text;
  }
  EXPECT_EQ(heddle_settings_set_json(settings, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "json is a null pointer");
  EXPECT_EQ(heddle_settings_set_json(settings, "{}"), HEDDLE_OK);
  EXPECT_EQ(text_of_settings(settings), kept);
}

TEST_F(CSettings, TellWhatWasGiven) {
  EXPECT_EQ(text_of_settings(settings), "{}");
  expect_set("restart", "50");
  expect_set("rtol", "1e-3");
  expect_set("device", "cpu");
  const std::string text = R"({"restart":50,"tolerance":0.001,"device":"cpu"})";
  EXPECT_EQ(text_of_settings(settings), text);
  std::array<char, 8> start{};
  EXPECT_EQ(heddle_settings_json(settings, start.data(), start.size()), text.size());
  EXPECT_STREQ(start.data(), "{\"resta");
  EXPECT_EQ(heddle_settings_json(settings, nullptr, 8), text.size());
  expect_set("plan", "\xff \"quoted\"");  // not UTF-8
  EXPECT_EQ(given("plan"), "\xef\xbf\xbd \"quoted\"");
}

TEST_F(CSettings, HaveTheirDefaultsAgain) {
  expect_set("restart", "50");
  expect_set("keep", "best");
  EXPECT_EQ(heddle_settings_set(settings, "Restart", nullptr), HEDDLE_OK);
  EXPECT_EQ(heddle_settings_set(settings, "rtol", nullptr), HEDDLE_OK) << "was not given";
  EXPECT_EQ(text_of_settings(settings), R"({"keep":"best"})");
  EXPECT_EQ(heddle_settings_set(settings, "tolerence", nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "there is no setting 'tolerence'; did you mean tolerance?");
  EXPECT_EQ(heddle_settings_set(settings, nullptr, "1"), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "name is a null pointer");
}

/// Each default that is a value rather than words is accepted by its setting.
TEST_F(CSettings, TheTableIsOneOfTheirs) {
  const auto table = whole_table();
  ASSERT_TRUE(table.is_array());
  const std::set<std::string> kinds = {"text",   "name",         "yes_or_no",
                                       "number", "whole_number", "numbers"};
  std::set<std::string> names, uses;
  int taken = 0;
  for (const auto& row : table) {
    const std::string name = row.at("name"), by_default = row.at("default");
    uses.insert(row.at("use").get<std::string>());
    EXPECT_TRUE(names.insert(row.at("use").get<std::string>() + "." + name).second) << name;
    EXPECT_TRUE(kinds.contains(row.at("kind"))) << name;
    EXPECT_FALSE(row.at("help").get<std::string>().empty()) << name;
    EXPECT_FALSE(row.at("value").get<std::string>().empty()) << name;
    EXPECT_EQ(heddle_settings_set(settings, name.c_str(), nullptr), HEDDLE_OK);
    const bool is_value =
        !by_default.empty() && by_default.find(' ') == std::string::npos && by_default != "none";
    if (!is_value) continue;
    expect_set(name.c_str(), by_default);
    ++taken;
    if (!row.contains("alias")) continue;
    expect_set(row["alias"].get<std::string>().c_str(), by_default);
  }
  EXPECT_GT(taken, 30);
  EXPECT_EQ(uses, (std::set<std::string>{"storage", "ranks", "solver", "least_squares", "multigrid",
                                         "eigen", "tuning", "description"}));
  EXPECT_TRUE(names.contains("solver.tolerance") && names.contains("least_squares.tolerance"));
  for (const auto& row : table) {
    if (row["name"] != "restart") continue;
    EXPECT_EQ(row["taken_by"], nlohmann::json({"gmres", "fgmres"}));
  }
  std::array<char, 4> start{};
  EXPECT_EQ(heddle_settings_table(start.data(), start.size()), heddle_settings_table(nullptr, 0));
  EXPECT_STREQ(start.data(), "[{\"");
}

/// The refusals use the words of the table.
TEST_F(CSettings, EveryOneRefusesWhatNoneHas) {
  for (const auto& row : whole_table()) {
    const std::string name = row["name"], kind = row["kind"];
    expect_refused(name.c_str(), "",
                   name + " must be " + row["values"].get<std::string>() + ", not ''");
    if (kind == "text") continue;
    for (const char* const text : {"nan", "1e400", "?", "1 x", "true false"}) {
      expect_refused(name.c_str(), text, name + " must be ");
    }
  }
}

TEST_F(CSettings, ANullHandleTellsItsOwnMessage) {
  EXPECT_EQ(heddle_settings_create(nullptr, &settings), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_settings_create(context, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "settings is a null pointer");
  const auto expect_none = [&](heddle_status status, const std::string& call) {
    EXPECT_EQ(status, HEDDLE_ERROR_USAGE);
    EXPECT_EQ(message(nullptr), call + ": its object is a null pointer");
  };
  expect_none(heddle_settings_set(nullptr, "rtol", "0"), "heddle_settings_set");
  expect_none(heddle_settings_set_number(nullptr, "rtol", 0), "heddle_settings_set_number");
  expect_none(heddle_settings_set_json(nullptr, "{}"), "heddle_settings_set_json");
  expect_none(heddle_settings_use_allocator(nullptr, nullptr), "heddle_settings_use_allocator");
  expect_none(heddle_settings_use_stream(nullptr, nullptr), "heddle_settings_use_stream");
  expect_none(heddle_settings_use_coordinates(nullptr, nullptr), "heddle_settings_use_coordinates");
  expect_none(heddle_settings_use_candidates(nullptr, 0, nullptr),
              "heddle_settings_use_candidates");
  expect_none(heddle_settings_observe(nullptr, nullptr, nullptr), "heddle_settings_observe");
  expect_none(heddle_settings_observe_tuning(nullptr, nullptr, nullptr),
              "heddle_settings_observe_tuning");
  std::array<char, 4> text{'a', 'b', 'c', '\0'};
  EXPECT_EQ(heddle_settings_json(nullptr, text.data(), text.size()), 0U);
  EXPECT_STREQ(text.data(), "");
  heddle_settings_destroy(nullptr);
  heddle_settings* none = nullptr;
  heddle_settings_destroy(&none);
}

/// A matrix that is solved with the given settings.
class CSettingsOfObjects : public CSettings {
 protected:
  CSettingsOfObjects() {
    EXPECT_EQ(heddle_matrix_generate(context, "poisson", 400, 1, &matrix), HEDDLE_OK);
    heddle_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(heddle_matrix_info(matrix, &info), HEDDLE_OK);
    b.assign(static_cast<std::size_t>(info.rows), 1);
  }
  heddle_report solve(heddle_solver* solver) {
    heddle_report result = report();
    x.assign(b.size(), 0);
    const heddle_view right = view(b, HEDDLE_REAL), left = view(x, HEDDLE_REAL);
    EXPECT_EQ(heddle_solver_solve(solver, &right, &left, &result), HEDDLE_OK) << message(context);
    return result;
  }

  Matrix matrix;
  Operator A;
  Solver solver;
  std::vector<double> b, x;
};

TEST_F(CSettingsOfObjects, MayChangeAndGoAfterACall) {
  int calls = 0;
  const heddle_observer count = [](void* user, const heddle_progress*) {
    return ++*static_cast<int*>(user), 0;
  };
  expect_set("plan", "CSR");
  ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK);
  expect_set("plan", "ELL");
  std::array<char, 200> plan{};
  EXPECT_GT(heddle_operator_plan(A, plan.data(), plan.size()), 0U);
  EXPECT_EQ(std::string(plan.data()).find("ELL"), std::string::npos) << plan.data();
  expect_set("maxiter", "3");
  ASSERT_EQ(heddle_settings_observe(settings, count, &calls), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  expect_set("maxiter", "5");
  ASSERT_EQ(heddle_settings_observe(settings, nullptr, nullptr), HEDDLE_OK);
  Solver other;
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &other), HEDDLE_OK);
  heddle_settings_destroy(&settings);
  heddle_settings_destroy(&settings);
  EXPECT_EQ(settings, nullptr);
  EXPECT_EQ(solve(solver).iterations, 3);
  const int seen = calls;
  EXPECT_GT(seen, 0);
  EXPECT_EQ(solve(other).iterations, 5);
  EXPECT_EQ(calls, seen);
}

/// Messages of settings whose context has been destroyed reach no reader and do no harm.
TEST_F(CSettingsOfObjects, OutliveTheirContext) {
  ASSERT_EQ(heddle_operator_create(matrix, nullptr, &A), HEDDLE_OK);
  heddle_context_destroy(&context);
  EXPECT_EQ(heddle_settings_set(settings, "rtol", "2"), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_settings_set(settings, "maxiter", "2"), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  EXPECT_EQ(solve(solver).iterations, 2);
}

/// Each call takes its own settings, and ignores the others.
TEST_F(CSettingsOfObjects, ServeSeveralCallsAtOnce) {
  const char* const all = R"({"threads": 1, "cycle": "w", "strength": 0.05, "restart": 7,
      "tolerance": 1e-9, "record_history": true, "objective": "multigrid", "seconds": 0.05,
      "max_runs": 1, "damping": 0.5, "bandwidth": 100, "count": 2, "exchange": "vector"})";
  ASSERT_EQ(heddle_settings_set_json(settings, all), HEDDLE_OK) << message(context);
  const std::string before = text_of_settings(settings);
  ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK) << message(context);
  Preconditioner multigrid;
  ASSERT_EQ(heddle_preconditioner_create(A, "multigrid", settings, &multigrid), HEDDLE_OK)
      << message(context);
  ASSERT_EQ(heddle_solver_create(A, "gmres", multigrid, settings, &solver), HEDDLE_OK)
      << message(context);
  const heddle_report result = solve(solver);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_LE(result.residual, 1e-9);
  const double* history = nullptr;
  std::int64_t count = 0;
  ASSERT_EQ(heddle_solver_history(solver, &history, &count), HEDDLE_OK);
  EXPECT_EQ(count, result.iterations + 1);
  Held<heddle_profile, heddle_profile_destroy> profile;
  EXPECT_EQ(heddle_tune(matrix, settings, &profile), HEDDLE_OK) << message(context);
  LeastSquares lsmr;
  EXPECT_EQ(heddle_least_squares_create(A, settings, &lsmr), HEDDLE_OK) << message(context);
  EXPECT_EQ(heddle_matrix_describe(matrix, settings, nullptr, 0, nullptr), HEDDLE_OK)
      << message(context);
  EXPECT_EQ(text_of_settings(settings), before);
}

/// A solve without settings equals one with settings of which none is given.
TEST_F(CSettingsOfObjects, NoneAreTheDefaults) {
  ASSERT_EQ(heddle_operator_create(matrix, settings, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, settings, &solver), HEDDLE_OK);
  const heddle_report result = solve(solver);
  EXPECT_EQ(result.outcome, HEDDLE_CONVERGED);
  EXPECT_LE(result.residual, 1e-10);
  const std::vector<double> first = x;
  Solver usual;
  const Settings as_given(context, {{"tolerance", "1e-10"}, {"max_iterations", "10000"}});
  for (const heddle_settings* const given :
       {static_cast<heddle_settings*>(nullptr), as_given.own}) {
    heddle_solver_destroy(&usual);
    ASSERT_EQ(heddle_solver_create(A, "cg", nullptr, given, &usual), HEDDLE_OK);
    EXPECT_EQ(solve(usual).iterations, result.iterations);
    EXPECT_EQ(x, first);
  }
}

}  // namespace
