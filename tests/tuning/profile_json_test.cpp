// Runs in both builds.
// Profiles as JSON: the same bits back, every fault named, and the schema in the documentation
// valid.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heddle/tuning/profile.hpp"
#include "support/json_schema.hpp"
#include "support/tuning/profiles.hpp"
#include "support/where_it_runs.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

Profile full_profile() {
  Profile profile = some_profile();
  profile.records = {some_record("b", "b", "K1rs,inner=aosoa16"), some_record("a", "a", "C=4")};
  profile.records[0].objective = parse_objective("bicgstab");
  profile.records[1].search = "full";
  ProfileRecord predicted = some_record("c \"quoted\" \\ é", "c", "CSR");
  predicted.search = "predict";
  predicted.seconds = predicted.natural_seconds = {};
  predicted.entry = "complex";
  predicted.precision = "single";
  predicted.objective = Objective::product();
  profile.records.push_back(predicted);
  profile.domains = {some_domain("surfaces", "C=4", {"a", "b"}), some_domain("none", "CSR", {})};
  profile.domains.front().use = DomainUse::storage;
  profile.domains.front().left_out = {0.01, 0.07};
  profile.domains.back().use = DomainUse::order;
  profile.trees = {some_tree("b", "b"), some_tree("a", "a")};
  profile.trees[0].sizes.resize(1);
  profile.trees[1].sizes.resize(2);
  profile.trees[0].sizes[0].adjoint_product.reset();
  profile.trees[1].sizes[1].nodes.dense = 50;
  profile.trees[1].sizes[1].nodes.launch = {1, 4, 512};
  profile.trees[0].sizes[0].schedule = NodeSchedule::tree;
  profile.trees[0].sizes[0].iteration = some_statistics(4e-5);
  profile.multigrids = {some_multigrid("b", "b"), some_multigrid("a", "a")};
  profile.multigrids[1].candidates = "rigid-body";
  return profile;
}

Profile profile_of_gpu() {
  Profile profile = full_profile();
  profile.device = some_gpu();
  profile.records[0].plan = parse_plan("K2rs,inner=aosoa,threads=512,blocks=4,loop=graph");
  return profile;
}

std::string message_of(const json& profile) {
  try {
    Profile::from_json(profile.dump(), "p.json");
    return "accepted";
  } catch (const OtherVersion& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_plan);
    return std::string("another version: ") + error.what();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_plan) << error.what();
    return error.what();
  }
}
std::string message_of_text(const std::string& text) {
  try {
    Profile::from_json(text, "p.json");
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_plan) << error.what();
    return error.what();
  }
}

// ---- there and back ----

TEST(ProfileJson, GivesTheSameProfileBack) {
  for (const Profile& profile : {some_profile(), full_profile(), profile_of_gpu()}) {
    const std::string text = profile.to_json();
    Profile back = Profile::from_json(text, "p");
    EXPECT_EQ(back.to_json(), text);
    EXPECT_EQ(back.device, profile.device);
    EXPECT_EQ(back.ceilings, profile.ceilings);
    EXPECT_EQ(back.version, profile.version);
    EXPECT_EQ(back.kernels, profile.kernels);
    ASSERT_EQ(back.records.size(), profile.records.size());
    for (const ProfileRecord& record : profile.records) {
      EXPECT_NE(std::find(back.records.begin(), back.records.end(), record), back.records.end());
    }
    for (const DomainRecord& domain : profile.domains) {
      EXPECT_NE(std::find(back.domains.begin(), back.domains.end(), domain), back.domains.end());
    }
    for (const MultigridRecord& record : profile.multigrids) {
      EXPECT_NE(std::ranges::find(back.multigrids, record), back.multigrids.end());
    }
    ASSERT_EQ(back.trees.size(), profile.trees.size());
    for (const TreeRecord& tree : profile.trees) {
      EXPECT_NE(std::find(back.trees.begin(), back.trees.end(), tree), back.trees.end());
    }
  }
}

TEST(ProfileJson, KeepsEveryBitOfANumber) {
  Profile profile = full_profile();
  const double odd[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789, 0};
  for (const double value : odd) {
    profile.records[0].speedup = value;
    profile.records[0].features.mean_distance = value;
    EXPECT_EQ(Profile::from_json(Profile::from_json(profile.to_json(), "p").to_json(), "p"),
              Profile::from_json(profile.to_json(), "p"));
    const Profile back = Profile::from_json(profile.to_json(), "p");
    EXPECT_EQ(back.records.back().speedup, value);
  }
  profile.records[0].speedup.reset();
  EXPECT_NE(profile.to_json().find("\"speedup\": null,\n"), std::string::npos);
  EXPECT_FALSE(Profile::from_json(profile.to_json(), "p").records.back().speedup);
  EXPECT_NE(profile.to_json().find("\"memory_ratio\": 1.0625,\n"), std::string::npos);
  EXPECT_NE(profile.to_json().find("\"memory\": 15000000000.0,\n"), std::string::npos);
}

TEST(ProfileJson, HasOneOrderAndAKeyOnEachLine) {
  Profile profile = full_profile();
  const std::string text = profile.to_json();
  std::swap(profile.records[0], profile.records[2]);
  std::swap(profile.domains[0], profile.domains[1]);
  EXPECT_EQ(profile.to_json(), text);
  const std::size_t complex = text.find("\"entry\": \"complex\"");
  const std::size_t a = text.find("\"matrix\": \"a\""), b = text.find("\"matrix\": \"b\"");
  EXPECT_LT(complex, a);
  EXPECT_LT(a, b);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_NE(text.find("\n   \"plan\": \"" + to_string(parse_plan("C=4")) + "\",\n"),
            std::string::npos)
      << text;
  // An additional record adds lines, and changes no other.
  profile.records.push_back(some_record("d", "d", "C=8"));
  const std::string longer = profile.to_json();
  std::size_t at = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from) + 1;
    const std::string line = text.substr(from, end - from);
    at = longer.find(line, at);
    ASSERT_NE(at, std::string::npos) << line;
    at += line.size();
    from = end;
  }
}

TEST(ProfileJson, TakesBytesThatAreNoText) {
  Profile profile = full_profile();
  profile.records[0].matrix = "\xff\xfe matrix";
  EXPECT_NE(Profile::from_json(profile.to_json(), "p").to_json().find(" matrix"),
            std::string::npos);
}

TEST(ProfileJson, HoldsNoNumberThatIsNone) {
  Profile profile = full_profile();
  profile.records[0].speedup = std::numeric_limits<double>::infinity();
  try {
    profile.to_json();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_finite);
    EXPECT_STREQ(error.what(), "profile: a speed-up is not a finite number");
  }
}

// ---- faults ----

struct Fault {
  const char* place;
  json value;
  const char* message;
};

TEST(ProfileJson, NamesThePathOfAFault) {
  const json good = json::parse(full_profile().to_json());
  ASSERT_EQ(message_of(good), "accepted");
  const std::vector<Fault> faults = {
      {"/schema", 0,
       "another version: p.json: schema: 0 is older than 1, the one that is known here"},
      {"/schema", "1", "p.json: schema: must be an integer, not negative"},
      {"/schema", nullptr, "p.json: schema: must be an integer, not negative"},
      {"/speed", 1,
       "p.json: 'speed': no such key; there are schema version kernels device ceilings records "
       "domains trees multigrids"},
      {"/device/kind", "tpu", "p.json: device.kind: 'tpu' is none of cpu gpu"},
      {"/device/warp", 32,
       "p.json: device: 'warp': no such key; there are kind name memory last_cache threads "
       "instructions"},
      {"/device/threads", 1LL << 40, "p.json: device.threads: is too large"},
      {"/device/memory", -1, "p.json: device.memory: must be an integer, not negative"},
      {"/device/memory", 1.5, "p.json: device.memory: must be an integer, not negative"},
      {"/ceilings/start", "fast", "p.json: ceilings.start: must be a number"},
      {"/records", json::object(), "p.json: records: must be an array"},
      {"/records/1", 7, "p.json: records[1]: must be an object"},
      {"/records/1/entry", "", "p.json: records[1].entry: must not be empty"},
      {"/records/1/precision", "half",
       "p.json: records[1].precision: 'half' is none of single double"},
      {"/records/2/structure", "hisparse",
       "p.json: records[2].structure: 'hisparse' is none of sliced"},
      {"/records/0/objective", "sor",
       "p.json: records[0].objective: 'sor' is none of product cg bicgstab minres gmres cocg cocr "
       "cr bicgstab2 fgmres chebyshev richardson"},
      {"/records/0/fingerprint", "abc",
       "p.json: records[0].fingerprint: must be 32 digits of 0123456789abcdef"},
      {"/records/0/features/rows", 1LL << 31, "p.json: records[0].features.rows: is too large"},
      {"/records/0/features/longest_row", 10001,
       "p.json: records[0].features.longest_row: is too large"},
      {"/records/0/features/mean_row", -0.5,
       "p.json: records[0].features.mean_row: must be a finite number, not negative"},
      {"/records/1/plan", "C=65",
       "another version: p.json: records[1].plan: C=65 is neither 1 to 64 nor n"},
      {"/records/1/natural", "CSR,col\xc3\xb6r=red", nullptr},
      {"/records/1/plan", 7, "p.json: records[1].plan: must be a string"},
      {"/records/1/seconds/median", 1.0,
       "p.json: records[1].seconds.upper_quartile: is less than the value before it"},
      {"/records/1/seconds/runs", 2.0,
       "p.json: records[1].seconds.runs: must be an integer, not negative"},
      {"/records/1/memory_ratio", -1,
       "p.json: records[1].memory_ratio: must be a finite number, not negative"},
      {"/records/2/search", "guess",
       "p.json: records[2].search: 'guess' is none of full pruned predict"},
      {"/records/0/date", "21.11.2026",
       "p.json: records[0].date: must be a day such as 2026-11-21"},
      {"/trees/0/sizes", json::array(), "p.json: trees[0].sizes: must not be empty"},
      {"/trees/0/sizes/1/node", 100, "p.json: trees[0].sizes[1].node: must be 4, 8, ..., 256"},
      {"/trees/0/sizes/0/dense", 102, "p.json: trees[0].sizes[0].dense: is too large"},
      {"/trees/0/sizes/0/launch", 4, "p.json: trees[0].sizes[0].launch: must be a string"},
      {"/trees/1/sizes/0/product", nullptr, "p.json: trees[1].sizes[0].product: must be an object"},
      {"/trees/1/sizes/0/schedule", "kept",
       "p.json: trees[1].sizes[0].schedule: 'kept' is none of tree"},
      {"/multigrids/0/strength", 1, "p.json: multigrids[0].strength: must be below 1"},
      {"/multigrids/1/preconditioner", "jacobi",
       "p.json: multigrids[1].preconditioner: must be multigrid, as --preconditioner takes it, "
       "without a K-cycle"},
      {"/multigrids/1/preconditioner", "multigrid*multigrid",
       "p.json: multigrids[1].preconditioner: must be multigrid, as --preconditioner takes it, "
       "without a K-cycle"},
      {"/multigrids/1/preconditioner", "multigrid:2:k",
       "p.json: multigrids[1].preconditioner: must be multigrid, as --preconditioner takes it, "
       "without a K-cycle"},
      {"/multigrids/0/candidates", "guessed",
       "p.json: multigrids[0].candidates: 'guessed' is none of constant rigid-body adaptive given"},
      {"/domains/0/domain", "", "p.json: domains[0].domain: must not be empty"},
      {"/domains/1/regret", json::array(), "p.json: domains[1].regret: must be a number"},
      {"/domains/1/fingerprints", "a", "p.json: domains[1].fingerprints: must be an array"},
      {"/domains/1/use", "all",
       "p.json: domains[1].use: 'all' is none of plan storage order predicted"},
      {"/domains/1/left_out", 3, "p.json: domains[1].left_out: must be an array"},
      {"/domains/1/left_out",
       {0.1},
       "p.json: domains[1].left_out: must be empty or as long as fingerprints"},
      {"/domains/1/fingerprints/0", 3, "p.json: domains[1].fingerprints[0]: must be a string"},
      {"/domains/1/fingerprints/1", some_fingerprint("c"),
       "p.json: domains[1].fingerprints[1]: no record of this entry and precision has it"}};
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.place);
    json bad = good;
    bad[json::json_pointer(fault.place)] = fault.value;
    const std::string message = message_of(bad);
    if (fault.message != nullptr) {
      EXPECT_EQ(message, fault.message);
    } else {
      EXPECT_TRUE(message.starts_with("another version: p.json: records[1].natural: there is no"))
          << message;
    }
    for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~') << message;
  }
}

TEST(ProfileJson, OfANewerSchemaIsNotReadFurther) {
  EXPECT_EQ(message_of(json::parse(R"({"schema": 2, "device": "quantum", "new": [[[]]]})")),
            "another version: p.json: schema: 2 is newer than 1, the one that is known here");
  EXPECT_EQ(message_of(json::parse(R"({"device": {}})")), "p.json: schema: is missing");
}

TEST(ProfileJson, IsRefusedWhereItIsNoJson) {
  const std::string text = full_profile().to_json();
  EXPECT_EQ(message_of_text("[1]"), "p.json: must be an object");
  EXPECT_EQ(message_of_text(R"({"schema": 1, "schema": 1})"),
            "p.json: the key 'schema' appears twice");
  EXPECT_EQ(message_of_text(std::string(100, '[')), "p.json: more than 6 levels of nesting");
  for (const char* bad : {"", "{", "null", "{\"schema\": 1e999}", "{\"schema\": NaN}", "\xff"}) {
    const std::string message = message_of_text(bad);
    EXPECT_TRUE(message.starts_with("p.json: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  // Cut off anywhere except within the last white space.
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_NE(message_of_text(text.substr(0, size)), "accepted") << size;
  }
}

// ---- the schema ----

JsonSchema schema() {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/docs/reference/profile-schema.json");
  return JsonSchema(json::parse(file));
}

TEST(ProfileSchema, AcceptsWhatIsWritten) {
  Profile without_natural = full_profile();
  without_natural.records[0].speedup.reset();
  for (const Profile& profile :
       {some_profile(), full_profile(), profile_of_gpu(), without_natural}) {
    EXPECT_TRUE(schema().accepts(json::parse(profile.to_json()))) << profile.to_json();
  }
}

/// Collects every place of a document.
void collect(const json& value, const json::json_pointer& at,
             std::vector<json::json_pointer>& places) {
  places.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) collect(inner, at / key, places);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], at / i, places);
  }
}

TEST(ProfileSchema, AndReaderAgreeOnEveryKey) {
  HEDDLE_RELEASE_ONLY();
  const JsonSchema rules = schema();
  for (const Profile& profile : {full_profile(), profile_of_gpu()}) {
    const json good = json::parse(profile.to_json());
    std::vector<json::json_pointer> places;
    collect(good, json::json_pointer(), places);
    for (const json::json_pointer& place : places) {
      SCOPED_TRACE(place.to_string());
      const std::string name = place.empty() ? "" : place.back();
      // The reader knows more than the schema: plans, and the combined meaning of values.
      const bool reader_knows_more = name == "plan" || name == "natural" || name == "entry" ||
                                     name == "records" || name == "fingerprints" ||
                                     name == "preconditioner";
      if (!place.empty() && good[place.parent_pointer()].is_object()) {
        json without = good;
        without[place.parent_pointer()].erase(place.back());
        const bool may_be_absent = name == "left_out" || name == "use" || name == "trees" ||
                                   name == "multigrids" || name == "dense" || name == "launch" ||
                                   name == "schedule" || name == "iteration";
        EXPECT_EQ(rules.accepts(without), may_be_absent);
        EXPECT_EQ(message_of(without) == "accepted", may_be_absent);
      }
      if (good[place].is_object()) {
        json with = good;
        with[place]["misspelt"] = 1;
        EXPECT_FALSE(rules.accepts(with));
        EXPECT_NE(message_of(with), "accepted");
      }
      for (const json& other :
           {json(nullptr), json(true), json(-1), json(0.5), json(1LL << 40), json(3), json(""),
            json("other"), json(json::array()), json(json::object())}) {
        json changed = good;
        changed[place] = other;
        const bool is_read = message_of(changed) == "accepted";
        if (is_read) {
          EXPECT_TRUE(rules.accepts(changed)) << other;
        } else if (!other.is_number() && !reader_knows_more) {
          EXPECT_FALSE(rules.accepts(changed)) << other << message_of(changed);
        }
      }
    }
  }
}

}  // namespace
