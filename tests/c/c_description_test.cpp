// What a matrix and its products are like, through heddle.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
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
    heddle_description_options_init(&options, sizeof options);
    options.threads = 1;
  }
  nlohmann::json described() const {
    std::string text(16384, '\0');
    std::size_t length = 0;
    EXPECT_EQ(heddle_matrix_describe(matrix, &options, text.data(), text.size(), &length),
              HEDDLE_OK)
        << message(context);
    EXPECT_EQ(length, std::strlen(text.c_str()));
    return nlohmann::json::parse(text.c_str());
  }
  void expect_usage(const std::string& words) const {
    EXPECT_EQ(heddle_matrix_describe(matrix, &options, nullptr, 0, nullptr), HEDDLE_ERROR_USAGE);
    EXPECT_NE(message(context).find(words), std::string::npos) << message(context);
  }

  Context context;
  Matrix matrix;
  heddle_description_options options;
};

/// The text is that of `heddle info`, whose tests look at its numbers.
TEST_F(CDescription, TellsFeaturesMemoryAndBalance) {
  options.cache = 1 << 20;
  options.bandwidth = 100;
  options.node = 32;
  options.dense = "50";
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
  options.multigrid = 1;
  EXPECT_TRUE(described()["multigrid"].contains("advised"));
}

TEST_F(CDescription, PredictsRanks) {
  const std::int32_t ranks[] = {1, 3};
  options.scaling = "nvlink";
  options.rates = "h200";
  options.ranks = ranks;
  options.rank_count = 2;
  const auto json = described()["scaling"];
  ASSERT_EQ(json["points"].size(), 2U);
  EXPECT_EQ(json["points"][1]["ranks"], 3);
  EXPECT_EQ(json["network"], "nvlink");
}

TEST_F(CDescription, RefusesWhatHasNoMeaning) {
  options.rates = "h100";
  expect_usage("name a network");
  options.scaling = "tin cans";
  expect_usage("tin cans");
  options.scaling = "nvlink";
  options.rates = "device";
  expect_usage("those of a CPU are not known");
  options.rates = "h100";
  options.rank_count = 1;
  expect_usage("ranks is a null pointer");
  const std::int32_t none = 0;
  options.ranks = &none;
  expect_usage("ranks are 1 to 1024, not 0");
  options.rank_count = 0;
  options.partition = "0,256";
  expect_usage("is for one number of ranks");
  options.partition = nullptr;
  options.bandwidth = std::nan("");
  expect_usage("bandwidth is above 0");
  options.bandwidth = 1;
  options.node = 5;
  expect_usage("5");
  options.dense = "half";
  expect_usage("dense is 1 to 100, never or bytes, not half");
  EXPECT_EQ(heddle_matrix_describe(nullptr, nullptr, nullptr, 0, nullptr), HEDDLE_ERROR_USAGE);
}

TEST_F(CDescription, MeasuresProducts) {
  Operator A, adjoint;
  heddle_operator_options storage;
  heddle_operator_options_init(&storage, sizeof storage);
  storage.plan = "CSR";
  storage.threads = 1;
  ASSERT_EQ(heddle_operator_create(matrix, &storage, &A), HEDDLE_OK);
  ASSERT_EQ(heddle_operator_adjoint(A, &adjoint), HEDDLE_OK);
  std::int64_t stored = 0;
  ASSERT_EQ(heddle_matrix_memory(matrix, &storage, &stored, nullptr), HEDDLE_OK);
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
