// Tuning through heddle.h, and profiles that it reads and writes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

using Profile = Held<heddle_profile, heddle_profile_destroy>;

std::string json_of(const heddle_profile* profile) {
  std::string text(heddle_profile_json(profile, nullptr, 0), '\0');
  heddle_profile_json(profile, text.data(), text.size() + 1);
  return text;
}

class CTune : public testing::Test {
 protected:
  CTune() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, "dirac", 200, 1, &matrix), HEDDLE_OK);
    settings.emplace(context, std::initializer_list<Setting>{{"threads", "1"}});
  }
  std::string plan_of(const heddle_profile* profile) const {
    std::array<char, 1024> text{};
    std::size_t length = 0;
    EXPECT_EQ(
        heddle_profile_choose(profile, matrix, "cpu", 1, "cg", text.data(), text.size(), &length),
        HEDDLE_OK)
        << message(context);
    EXPECT_EQ(length, std::strlen(text.data()));
    return text.data();
  }

  Context context;
  Matrix matrix;
  std::optional<Settings> settings;  // made once the context exists
  const std::string path =
      (std::filesystem::temp_directory_path() / "heddle_c_tune_test.json").string();
};

TEST_F(CTune, FindsAPlanThatOperatorsTake) {
  settings->set("seconds", "0.2");
  int calls = 0;
  const heddle_tune_observer count = [](void* user, const heddle_tune_progress* now) {
    ++*static_cast<int*>(user);
    return now->tried >= 0 && now->expected > 0 ? 0 : 1;
  };
  ASSERT_EQ(heddle_settings_observe_tuning(*settings, count, &calls), HEDDLE_OK);
  Profile profile;
  ASSERT_EQ(heddle_tune(matrix, *settings, &profile), HEDDLE_OK) << message(context);
  EXPECT_GT(calls, 0);
  const std::string plan = plan_of(profile);
  settings->set("plan", plan);
  Operator A;
  ASSERT_EQ(heddle_operator_create(matrix, *settings, &A), HEDDLE_OK) << message(context);
  // Written to a file, and merged with itself there.
  ASSERT_EQ(heddle_profile_write(profile, path.c_str(), 0), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_profile_write(profile, path.c_str(), 1), HEDDLE_OK) << message(context);
  Profile read;
  ASSERT_EQ(heddle_profile_read(context, path.c_str(), &read), HEDDLE_OK) << message(context);
  EXPECT_EQ(json_of(read), json_of(profile));
  EXPECT_EQ(plan_of(read), plan);
  std::filesystem::remove(path);
}

TEST_F(CTune, TunesADomainAndWhatIsNoPlan) {
  settings->set("seconds", "0.05").set("max_runs", "3").set("objective", "product");
  Matrix other;
  ASSERT_EQ(heddle_matrix_generate(context, "dirac", 300, 1, &other), HEDDLE_OK);
  const heddle_matrix* const matrices[] = {matrix, other};
  const char* const names[] = {"a", nullptr};
  Profile profile, nodes;
  EXPECT_EQ(heddle_tune_domain(matrices, names, 2, "d", *settings, &profile), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "names[1] is a null pointer");
  EXPECT_EQ(heddle_tune_domain(nullptr, nullptr, 2, "d", *settings, &profile), HEDDLE_ERROR_USAGE);
  ASSERT_EQ(heddle_tune_domain(matrices, nullptr, 2, "d", *settings, &profile), HEDDLE_OK)
      << message(context);
  EXPECT_NE(json_of(profile).find("\"d\""), std::string::npos);
  double loss = -2;
  ASSERT_EQ(heddle_profile_evaluate(profile, other, *settings, &loss), HEDDLE_OK)
      << message(context);
  EXPECT_GT(loss, -1);
  settings->set("storage", "hisparse");
  ASSERT_EQ(heddle_tune(matrix, *settings, &nodes), HEDDLE_OK) << message(context);
  EXPECT_NE(json_of(nodes).find("\"trees\""), std::string::npos);
  EXPECT_EQ(heddle_profile_evaluate(profile, other, *settings, &loss), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "only plans are tuned over a domain");
}

TEST_F(CTune, EndsWhereTheObserverSays) {
  const heddle_tune_observer end = [](void*, const heddle_tune_progress*) { return 1; };
  ASSERT_EQ(heddle_settings_observe_tuning(*settings, end, nullptr), HEDDLE_OK);
  Profile profile;
  ASSERT_EQ(heddle_tune(matrix, *settings, &profile), HEDDLE_OK) << message(context);
  EXPECT_NE(plan_of(profile), "");  // predicted if nothing was measured
}

TEST_F(CTune, RefusesWhatIsNoSearchOrProfile) {
  Profile profile;
  const auto expect_refused = [&](std::initializer_list<Setting> given, const std::string& words) {
    const Settings all(context, given);
    EXPECT_EQ(heddle_tune(matrix, all, &profile), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
    EXPECT_EQ(profile, nullptr);
  };
  expect_refused({{"objective", "sor"}}, "sor");
  expect_refused({{"device", "abacus"}}, "no device is named 'abacus'");
  for (const char* const setting : {"search", "memory_weight"}) {
    const std::string words = std::string(setting) + " is for plans, not for trees or multigrid";
    const std::string value = setting == std::string("search") ? "full" : "0.5";
    expect_refused({{"storage", "hisparse"}, {setting, value}}, words);
    expect_refused({{"objective", "multigrid"}, {setting, value}}, words);
  }
  expect_refused({{"objective", "multigrid"}, {"storage", "hisparse"}},
                 "multigrid is tuned only in sliced storage");
  expect_refused({{"strength", "0.1"}}, "strength is for the objective multigrid, not for cg");
  const Settings coordinates(context);
  const std::array<double, 3> point{};
  ASSERT_EQ(heddle_settings_use_coordinates(coordinates, point.data()), HEDDLE_OK);
  EXPECT_EQ(heddle_tune(matrix, coordinates, &profile), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "coordinates is for the objective multigrid, not for cg");
  EXPECT_EQ(heddle_tune(nullptr, nullptr, &profile), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_tune(matrix, nullptr, nullptr), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_profile_read(context, "/nowhere/profile.json", &profile), HEDDLE_ERROR_IO);
  std::ofstream(path) << "{\"schema\": 1}";
  EXPECT_EQ(heddle_profile_read(context, path.c_str(), &profile), HEDDLE_ERROR_BAD_PLAN);
  std::filesystem::remove(path);
  EXPECT_EQ(heddle_profile_json(nullptr, nullptr, 0), 0U);
  heddle_profile_destroy(nullptr);
}

}  // namespace
