// Tuning through heddle.h, and profiles that it reads and writes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
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
    heddle_tune_options_init(&options, sizeof options);
    options.threads = 1;
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
  heddle_tune_options options;
  const std::string path =
      (std::filesystem::temp_directory_path() / "heddle_c_tune_test.json").string();
};

TEST_F(CTune, FindsAPlanThatOperatorsTake) {
  options.seconds = 0.2;
  int calls = 0;
  options.user = &calls;
  options.observer = [](void* user, const heddle_tune_progress* now) {
    ++*static_cast<int*>(user);
    return now->tried >= 0 && now->expected > 0 ? 0 : 1;
  };
  Profile profile;
  ASSERT_EQ(heddle_tune(matrix, &options, &profile), HEDDLE_OK) << message(context);
  EXPECT_GT(calls, 0);
  const std::string plan = plan_of(profile);
  heddle_operator_options storage;
  heddle_operator_options_init(&storage, sizeof storage);
  storage.plan = plan.c_str();
  storage.threads = 1;
  Operator A;
  ASSERT_EQ(heddle_operator_create(matrix, &storage, &A), HEDDLE_OK) << message(context);
  // Through a file, and merged with itself.
  ASSERT_EQ(heddle_profile_write(profile, path.c_str(), 0), HEDDLE_OK) << message(context);
  ASSERT_EQ(heddle_profile_write(profile, path.c_str(), 1), HEDDLE_OK) << message(context);
  Profile read;
  ASSERT_EQ(heddle_profile_read(context, path.c_str(), &read), HEDDLE_OK) << message(context);
  EXPECT_EQ(json_of(read), json_of(profile));
  EXPECT_EQ(plan_of(read), plan);
  std::filesystem::remove(path);
}

TEST_F(CTune, TunesADomainAndWhatIsNoPlan) {
  options.seconds = 0.05;
  options.max_runs = 3;
  options.objective = "product";
  Matrix other;
  ASSERT_EQ(heddle_matrix_generate(context, "dirac", 300, 1, &other), HEDDLE_OK);
  const heddle_matrix* const matrices[] = {matrix, other};
  const char* const names[] = {"a", nullptr};
  Profile profile, nodes;
  EXPECT_EQ(heddle_tune_domain(matrices, names, 2, "d", &options, &profile), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "names[1] is a null pointer");
  EXPECT_EQ(heddle_tune_domain(nullptr, nullptr, 2, "d", &options, &profile), HEDDLE_ERROR_USAGE);
  ASSERT_EQ(heddle_tune_domain(matrices, nullptr, 2, "d", &options, &profile), HEDDLE_OK)
      << message(context);
  EXPECT_NE(json_of(profile).find("\"d\""), std::string::npos);
  double loss = -2;
  ASSERT_EQ(heddle_profile_evaluate(profile, other, &options, &loss), HEDDLE_OK)
      << message(context);
  EXPECT_GT(loss, -1);
  options.storage = "hisparse";
  ASSERT_EQ(heddle_tune(matrix, &options, &nodes), HEDDLE_OK) << message(context);
  EXPECT_NE(json_of(nodes).find("\"trees\""), std::string::npos);
  EXPECT_EQ(heddle_profile_evaluate(profile, other, &options, &loss), HEDDLE_ERROR_USAGE);
}

TEST_F(CTune, EndsWhereTheObserverSays) {
  options.observer = [](void*, const heddle_tune_progress*) { return 1; };
  Profile profile;
  ASSERT_EQ(heddle_tune(matrix, &options, &profile), HEDDLE_OK) << message(context);
  EXPECT_NE(plan_of(profile), "");  // predicted, where nothing was measured
}

TEST_F(CTune, RefusesWhatIsNoSearchOrProfile) {
  Profile profile;
  const auto expect_refused = [&](heddle_tune_options given, const std::string& words) {
    EXPECT_EQ(heddle_tune(matrix, &given, &profile), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
    EXPECT_EQ(profile, nullptr);
  };
  heddle_tune_options given = options;
  given.objective = "sor";
  expect_refused(given, "sor");
  given = options;
  given.search = "best";
  expect_refused(given, "no search is named 'best'");
  given = options;
  given.seconds = -1;
  expect_refused(given, "seconds");
  given = options;
  given.max_memory_ratio = 0.5;
  expect_refused(given, "max_memory_ratio");
  given = options;
  given.storage = "tree";
  expect_refused(given, "sliced or hisparse, not tree");
  given = options;
  heddle_multigrid_options multigrid;
  heddle_multigrid_options_init(&multigrid, sizeof multigrid);
  given.multigrid = &multigrid;
  expect_refused(given, "multigrid is for that objective, not for cg");
  given = options;
  given.struct_size = 12;
  expect_refused(given, "heddle_tune_options.struct_size is 12");
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
