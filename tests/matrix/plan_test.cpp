// Plans: the papers' names, the canonical text and JSON there and back, and every refusal.
#include "heddle/plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr int trials = 500;

template <class T, std::size_t N>
T one_of(const std::array<T, N>& values, Generator& generator) {
  return values[static_cast<std::size_t>(random_between(0, int(N) - 1, generator))];
}

/// Any plan that has a meaning.
Plan random_plan(Generator& generator) {
  Plan plan;
  plan.lanes = random_between(0, 64, generator);  // 0: all rows
  plan.sort_window = one_of(std::array{0, 1, 2, 77, 1 << 30}, generator);
  if (plan.lanes != Plan::all_rows) {
    switch (random_between(0, 2, generator)) {
      case 0:
        do {
          plan.threads_per_row = random_between(1, plan.lanes, generator);
        } while (plan.lanes % plan.threads_per_row != 0);
        break;
      case 1:
        plan.threshold = random_between(0, 1000, generator);
    }
  }
  plan.order = one_of(std::array{RowOrder::natural, RowOrder::reverse_cuthill_mckee}, generator);
  plan.columns = one_of(std::array{ColumnOrder::sorted, ColumnOrder::given}, generator);
  plan.use = one_of(std::array{BasisUse::permuted, BasisUse::scatter}, generator);
  plan.inner = one_of(std::array{InnerLayout::aos, InnerLayout::soa, InnerLayout::aosoa_component,
                                 InnerLayout::aosoa_16},
                      generator);
  plan.vector = one_of(std::array{VectorLayout::aos, VectorLayout::soa}, generator);
  plan.schedule = one_of(std::array{ScheduleKind::fixed, ScheduleKind::dynamic}, generator);
  plan.chunk = random_between(1, 1 << 20, generator);
  plan.prefetch_x = random_between(0, Plan::furthest_prefetch_x, generator);
  plan.prefetch_matrix = random_between(0, 1 << 20, generator);
  plan.recurrence = one_of(std::array{Recurrence::ring, Recurrence::real}, generator);
  return plan;
}

TEST(Plan, PapersNames) {
  constexpr Index n = Plan::all_rows;
  const Plan k1{
      .lanes = 32, .sort_window = n, .columns = ColumnOrder::given, .use = BasisUse::scatter};
  Plan k1r = k1, k1rs = k1;
  k1r.use = BasisUse::permuted;
  k1rs.use = BasisUse::permuted;
  k1rs.columns = ColumnOrder::sorted;
  const auto with_threshold = [](Plan plan) {
    plan.threshold = 8;
    return plan;
  };
  const std::vector<std::pair<std::string, Plan>> names = {
      {"CSR", {}},
      {"ELL", {.lanes = n}},
      {"Sl-16", {.lanes = 16}},
      {"Sl-32", {.lanes = 32}},
      {"pJDS", {.lanes = 32, .sort_window = n}},
      {"K1", k1},
      {"K1r", k1r},
      {"K1rs", k1rs},
      {"K2", with_threshold(k1)},
      {"K2r", with_threshold(k1r)},
      {"K2rs", with_threshold(k1rs)},
  };
  for (const auto& [name, plan] : names) {
    SCOPED_TRACE(name);
    EXPECT_EQ(parse_plan(name), plan) << to_string(parse_plan(name));
    Plan changed = plan;
    changed.inner = InnerLayout::soa;
    changed.prefetch_x = 7;
    EXPECT_EQ(parse_plan(name + ",inner=soa,prefetch-x=7"), changed);
  }
}

TEST(Plan, CanonicalTextOfTheDefault) {
  EXPECT_EQ(to_string(Plan{}),
            "C=1,sigma=1,T=1,threshold=0,order=natural,columns=sorted,use=permuted,inner=aos,"
            "vector=aos,schedule=static,chunk=16,prefetch-x=48,prefetch-matrix=4096,loop=stepped,"
            "recurrence=ring");
  EXPECT_EQ(to_string(parse_plan("ELL,sigma=n,order=rcm,columns=given,use=scatter,inner=aosoa16,"
                                 "vector=soa,schedule=dynamic,recurrence=real")),
            "C=n,sigma=n,T=1,threshold=0,order=rcm,columns=given,use=scatter,inner=aosoa16,"
            "vector=soa,schedule=dynamic,chunk=16,prefetch-x=48,prefetch-matrix=4096,loop=stepped,"
            "recurrence=real");
  EXPECT_EQ(parse_plan("T=4,C=8"), parse_plan("C=8,T=4"));
  EXPECT_EQ(parse_plan("inner=aosoa").inner, InnerLayout::aosoa_component);
}

TEST(Plan, TextAndJsonGiveThePlanBack) {
  Seed seed(101);
  for (int i = 0; i < trials; ++i) {
    const Plan plan = random_plan(seed.generator);
    const std::string text = to_string(plan);
    SCOPED_TRACE(text);
    EXPECT_EQ(parse_plan(text), plan);
    EXPECT_EQ(to_string(parse_plan(text)), text);
    EXPECT_EQ(plan_from_json(to_json(plan)), plan);
  }
}

TEST(Plan, JsonHasTheKeysOfTheText) {
  Seed seed(102);
  const Plan plan = random_plan(seed.generator);
  std::string text;
  const auto json = nlohmann::ordered_json::parse(to_json(plan));
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "" : ",") + key + "=" + value.get<std::string>();
  }
  EXPECT_EQ(text, to_string(plan));
}

TEST(Plan, JsonTakesNumbersAndLeavesDefaults) {
  EXPECT_EQ(plan_from_json("{}"), Plan{});
  EXPECT_EQ(plan_from_json(R"({"C": 32, "sigma": "n", "threshold": 9})"),
            parse_plan("C=32,sigma=n,threshold=9"));
}

void expect_refused(const std::string& text, const std::string& message) {
  SCOPED_TRACE(text);
  expect_error(ErrorKind::bad_plan, message, [&] { parse_plan(text); });
}

TEST(Plan, RefusesWhatItDoesNotKnow) {
  const std::string keys =
      "C sigma T threshold order columns use inner vector schedule chunk prefetch-x "
      "prefetch-matrix loop recurrence";
  const std::string names = "CSR ELL Sl-16 Sl-32 pJDS K1 K1r K1rs K2 K2r K2rs";
  expect_refused("colour=red", "plan: there is no key 'colour'; there are " + keys);
  expect_refused("c=4", "plan: there is no key 'c'; there are " + keys);
  expect_refused("=4", "plan: there is no key ''; there are " + keys);
  for (const std::string name : {"", "csr", "Sl-8", "K", "K3", " CSR"}) {
    expect_refused(name, "plan: '" + name + "' is neither key=value nor one of " + names);
  }
  expect_refused("K1x", "plan: 'K1x' is not a variant of K1: there are K1, r and rs");
  expect_refused("K2sr", "plan: 'K2sr' is not a variant of K2: there are K2, r and rs");
  expect_refused("C=4,CSR", "plan: 'CSR' is not key=value; a name stands first");
  expect_refused("CSR,", "plan: '' is not key=value; a name stands first");
  expect_refused("C=4,sigma=8,C=4", "plan: 'C' is given twice");
  expect_refused("order=amd", "plan: order=amd is none of natural rcm");
  expect_refused("columns=", "plan: columns= is none of sorted given");
  expect_refused("use=both", "plan: use=both is none of permuted scatter");
  expect_refused("inner=AOS", "plan: inner=AOS is none of aos soa aosoa aosoa16");
  expect_refused("vector=aosoa", "plan: vector=aosoa is none of aos soa");
  expect_refused("schedule=guided", "plan: schedule=guided is none of static dynamic");
  expect_refused("loop=graph", "plan: loop=graph is none of stepped");
  expect_refused("recurrence=complex", "plan: recurrence=complex is none of ring real");
}

TEST(Plan, RefusesNumbersOutOfRange) {
  expect_refused("C=0", "plan: C=0 is not a whole number of at least 1");
  expect_refused("C=-4", "plan: C=-4 is not a whole number of at least 1");
  expect_refused("C=4x", "plan: C=4x is not a whole number of at least 1");
  expect_refused("C=N", "plan: C=N is not a whole number of at least 1");
  expect_refused("C=4.0", "plan: C=4.0 is not a whole number of at least 1");
  expect_refused("C=65", "plan: C=65 is neither 1 to 64 nor n");
  expect_refused("sigma=0", "plan: sigma=0 is not a whole number of at least 1");
  expect_refused("sigma=99999999999",
                 "plan: sigma=99999999999 is not a whole number of at least 1");
  expect_refused("T=0", "plan: T=0 is not a whole number of at least 1");
  expect_refused("threshold=-1", "plan: threshold=-1 is not a whole number of at least 0");
  expect_refused("chunk=0", "plan: chunk=0 is not a whole number of at least 1");
  expect_refused("prefetch-x=-1", "plan: prefetch-x=-1 is not a whole number of at least 0");
  expect_refused("prefetch-x=257", "plan: prefetch-x=257 is more than 256");
  expect_refused("prefetch-matrix=", "plan: prefetch-matrix= is not a whole number of at least 0");
}

TEST(Plan, RefusesWhatHasNoMeaningTogether) {
  expect_refused("C=8,T=3", "plan: T=3 does not divide C=8");
  expect_refused("T=2", "plan: T=2 does not divide C=1");
  expect_refused("C=32,T=64", "plan: T=64 does not divide C=32");
  const std::string threads_of_all =
      "plan: several threads a row (T, threshold) need slices of 1 to 64 lanes, not C=n";
  expect_refused("C=n,T=2", threads_of_all);
  expect_refused("ELL,threshold=4", threads_of_all);
  const std::string two = "plan: threshold chooses T for each slice; give one of T and threshold";
  expect_refused("C=8,T=2,threshold=4", two);
  expect_refused("K2rs,T=2", two);
}

TEST(Plan, ChecksPlansThatNoTextMade) {
  const std::string negative =
      "plan: sigma, threshold, chunk and the prefetch distances are not negative";
  for (const Plan& plan : {Plan{.sort_window = -1}, Plan{.threshold = -1}, Plan{.chunk = 0},
                           Plan{.prefetch_x = -1}, Plan{.prefetch_matrix = -1}}) {
    expect_error(ErrorKind::bad_plan, negative, [&] { check_plan(plan); });
  }
  expect_error(ErrorKind::bad_plan, "plan: C=-1 is neither 1 to 64 nor n",
               [] { check_plan({.lanes = -1}); });
  expect_error(ErrorKind::bad_plan, "plan: T=0 does not divide C=1",
               [] { check_plan({.threads_per_row = 0}); });
}

TEST(Plan, RefusesFaultyJson) {
  const auto expect_json_refused = [](const std::string& json, const std::string& message) {
    SCOPED_TRACE(json);
    expect_error(ErrorKind::bad_plan, message, [&] { plan_from_json(json); });
  };
  for (const char* json : {"", "{", "[]", "3", "\"CSR\""}) {
    expect_json_refused(json, "plan: not a JSON object");
  }
  expect_json_refused(R"({"C": 8.5})", "plan: the value of 'C' is neither text nor a whole number");
  expect_json_refused(R"({"order": ["rcm"]})",
                      "plan: the value of 'order' is neither text nor a whole number");
  expect_json_refused(R"({"C": 8, "T": 3})", "plan: T=3 does not divide C=8");
  expect_json_refused(R"({"C": 80})", "plan: C=80 is neither 1 to 64 nor n");
}

}  // namespace
