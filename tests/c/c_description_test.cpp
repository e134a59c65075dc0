// Descriptions of a matrix and its products, through heddle.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "c_objects.hpp"
#include "heddle.h"

using namespace heddle::c_test;

namespace {

class CDescription : public testing::Test {
 protected:
  CDescription() {
    EXPECT_EQ(heddle_context_create(&context), HEDDLE_OK);
    EXPECT_EQ(heddle_matrix_generate(context, "dirac", 2000, 1, &matrix), HEDDLE_OK);
    settings.emplace(context, std::initializer_list<Setting>{{"threads", "1"}});
  }
  nlohmann::json described() const {
    std::string text(16384, '\0');
    std::size_t length = 0;
    EXPECT_EQ(heddle_matrix_describe(matrix, *settings, text.data(), text.size(), &length),
              HEDDLE_OK)
        << message(context);
    EXPECT_EQ(length, std::strlen(text.c_str()));
    return nlohmann::json::parse(text.c_str());
  }
  void expect_usage(const std::string& words) const {
    EXPECT_EQ(heddle_matrix_describe(matrix, *settings, nullptr, 0, nullptr), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
  }

  Context context;
  Matrix matrix;
  std::optional<Settings> settings;  // made once the context exists
};

/// The text is that of `heddle info`, whose tests check its numbers.
TEST_F(CDescription, TellsFeaturesMemoryAndBalance) {
  settings->set("cache", "1048576").set("bandwidth", "100").set("node", "32").set("dense", "50");
  const auto json = described();
  heddle_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(heddle_matrix_info(matrix, &info), HEDDLE_OK);
  EXPECT_EQ(json["entry"], "quaternion");
  EXPECT_EQ(json["rows"], info.rows);
  EXPECT_EQ(json["entries"], info.entries);
  EXPECT_EQ(json["hermitian_defect"], info.hermitian_defect);
  EXPECT_EQ(json["hisparse"]["node"], 32);
  EXPECT_EQ(json["hisparse"]["dense"], "50");
  EXPECT_EQ(json["code_balance"]["cache"], 1 << 20);
  EXPECT_EQ(json["code_balance"]["flops"], 32);
  EXPECT_FALSE(json.contains("scaling"));
  EXPECT_FALSE(json.contains("multigrid"));
  settings->set("multigrid", "true");
  EXPECT_TRUE(described()["multigrid"].contains("advised"));
}

TEST_F(CDescription, PredictsRanks) {
  std::int32_t best = 0;
  EXPECT_EQ(heddle_matrix_best_ranks(matrix, *settings, &best), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(message(context), "scaling needs a network");
  settings->set("scaling", "nvlink").set("rates", "h200").set("ranks", "1,3");
  const auto json = described()["scaling"];
  ASSERT_EQ(json["points"].size(), 2U);
  EXPECT_EQ(json["points"][1]["ranks"], 3);
  EXPECT_EQ(json["network"], "nvlink");
  ASSERT_EQ(heddle_matrix_best_ranks(matrix, *settings, &best), HEDDLE_OK) << message(context);
  EXPECT_EQ(json["best_ranks"], best);
}

TEST_F(CDescription, RefusesWhatHasNoMeaning) {
  for (const Setting& of_scaling : {Setting{"rates", "h100"}, Setting{"partition", "rows"},
                                    Setting{"ranks", "2"}, Setting{"unknowns", "3"}}) {
    settings->set(of_scaling.name, of_scaling.value);
    expect_usage(std::string(of_scaling.name) + " needs scaling: name a network");
    settings->reset(of_scaling.name);
  }
  settings->set("scaling", "tin cans");
  expect_usage("tin cans");
  settings->set("scaling", "nvlink").set("rates", "device");
  expect_usage("a CPU's are unknown");
  settings->set("rates", "h100").set("partition", "0,256");
  expect_usage("is for one number of ranks");
  settings->reset("partition").set("dense", "half");
  expect_usage("dense is 1 to 100, never or bytes, not half");
  EXPECT_EQ(heddle_matrix_describe(nullptr, nullptr, nullptr, 0, nullptr), HEDDLE_ERROR_USAGE);
}

TEST_F(CDescription, MeasuresProducts) {
  Operator A, adjoint;
  settings->set("plan", "CSR");
  ASSERT_EQ(heddle_operator_create(matrix, *settings, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_adjoint(A, &adjoint), HEDDLE_OK);
  std::int64_t stored = 0;
  ASSERT_EQ(heddle_matrix_memory(matrix, *settings, &stored, nullptr), HEDDLE_OK);
  heddle_product_times times{};
  times.struct_size = sizeof times;
  for (const heddle_operator* of : {A.own, adjoint.own}) {
    ASSERT_EQ(heddle_operator_measure(of, 1, 0, 0, &times), HEDDLE_OK) << message(context);
    EXPECT_GT(times.median, 0);
    EXPECT_GT(times.moved_bytes, stored / 2);
    EXPECT_TRUE(std::isnan(times.cold_median) && std::isnan(times.triad_bandwidth));
  }
  EXPECT_EQ(heddle_operator_measure(A, 0, 0, 0, &times), HEDDLE_ERROR_USAGE);
  EXPECT_EQ(heddle_operator_measure(A, 1, 0, 0, nullptr), HEDDLE_ERROR_USAGE);
  Operator callback;
  ASSERT_EQ(
      heddle_operator_from_callback(
          context, 3, HEDDLE_REAL, HEDDLE_DOUBLE,
          [](void*, const heddle_view*, const heddle_view*) { return 0; }, nullptr, &callback),
      HEDDLE_OK);
  EXPECT_EQ(heddle_operator_measure(callback, 1, 0, 0, &times), HEDDLE_ERROR_UNSUPPORTED);
}

}  // namespace
