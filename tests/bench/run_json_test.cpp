// Runs as JSON: the same bits back, every fault named, and the schema in the documentation valid.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "queue_report.hpp"
#include "records/record.hpp"
#include "support/message_of.hpp"
#include "synthetic_run.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using json = nlohmann::ordered_json;

using heddle::test::message_of;

class RunFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const { return folder_.write("run.json", text); }

 private:
  TemporaryFolder folder_;
};

TEST(RunJson, ComesBackBitForBit) {
  const json once = to_json(made_up::synthetic_run());
  const json again = to_json(run_from_json(json::parse(once.dump())));
  EXPECT_EQ(once.dump(), again.dump());
  EXPECT_EQ(once.dump(), to_json(run_from_json(once)).dump());
}

TEST(RunJson, NumbersKeepTheirLastBit) {
  auto run = made_up::synthetic_run();
  const double awkward = 0.1 + 0.2, smallest = std::numeric_limits<double>::denorm_min();
  run.bandwidth = std::numeric_limits<double>::max();
  Candidate& candidate = run.records[0].candidates[0];
  candidate.seconds = Timing{smallest, awkward, std::nextafter(awkward, 1)};
  run.records[0].rows = std::numeric_limits<long long>::max();
  run.records[0].tolerance = 3e-4;
  const auto back = run_from_json(json::parse(to_json(run).dump()));
  EXPECT_EQ(back.bandwidth, run.bandwidth);
  EXPECT_EQ(back.records[0].tolerance, 3e-4);
  EXPECT_FALSE(back.records[1].tolerance);
  EXPECT_EQ(back.records[0].rows, run.records[0].rows);
  const Timing& timing = *back.records[0].candidates[0].seconds;
  EXPECT_EQ(timing.lower_quartile, smallest);
  EXPECT_EQ(timing.median, awkward);
  EXPECT_EQ(timing.upper_quartile, std::nextafter(awkward, 1));
}

TEST(RunJson, QueuesComeBackAndHaveWords) {
  auto run = made_up::synthetic_run();
  run.records.resize(1);
  SchedulerStatistics queues;
  for (int kind = 0; kind < task_kinds; ++kind) {
    queues.queues[static_cast<std::size_t>(kind)] = {(1LL << 40) + kind, 10 + kind};
  }
  queues.queues[static_cast<std::size_t>(TaskKind::dense_children)] = {};
  queues.controllers = 3;
  queues.rounds = 1LL << 41;
  run.records[0].candidates = {Candidate{}};
  run.records[0].candidates[0].queues = queues;
  const json text = to_json(run);
  EXPECT_EQ(run_from_json(json::parse(text.dump())).records[0].candidates[0].queues, queues);
  const json& written = text["records"][0]["candidates"][0]["queues"];
  EXPECT_EQ(written["few_entries"].dump(), R"({"tasks":1099511627779,"launches":13})");
  EXPECT_EQ(written["rounds"], 1LL << 41);
  queues = {};
  EXPECT_EQ(report::queues_in_words(queues), "controllers 0, rounds 0");
  queues.queues[0] = {8, 1};
  queues.queues[6] = {64, 2};
  queues.controllers = 1;
  queues.rounds = 300;
  EXPECT_EQ(report::queues_in_words(queues),
            "few_children 8 in 1, dense_entries 64 in 2; controllers 1, rounds 300");
  json bad = text;
  bad["records"][0]["candidates"][0]["queues"]["few_entries"].erase("launches");
  EXPECT_EQ(message_of([&] { run_from_json(bad); }),
            "records[0].candidates[0].queues.few_entries.launches: is missing");
}

TEST(RunJson, OptionalKeysAreLeftOut) {
  auto run = made_up::synthetic_run();
  run.records.resize(1);
  run.records[0].compulsory_bytes.reset();
  run.records[0].candidates = {Candidate{}};
  const json object = to_json(run)["records"][0];
  EXPECT_FALSE(object.contains("compulsory_bytes"));
  EXPECT_EQ(object["candidates"][0].dump(), R"({"role":"peer","library":"","method":""})");
}

TEST(RunJson, NumbersThatAreNotFiniteAreSaidToBeSo) {
  auto run = made_up::synthetic_run();
  Candidate& candidate = run.records[0].candidates[0];
  candidate.error = std::numeric_limits<double>::quiet_NaN();
  candidate.history = {1, std::numeric_limits<double>::infinity(), 0.5};
  candidate.history_at = {0, 1, 2};
  const auto back = run_from_json(json::parse(to_json(run).dump()));
  const Candidate& read = back.records[0].candidates[0];
  EXPECT_FALSE(read.error.has_value());
  EXPECT_EQ(read.failure.value_or(""), "not finite: error, history");
  EXPECT_EQ(read.history, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(read.history_at, (std::vector<double>{0, 2}));
  run.bandwidth = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of([&] { to_json(run); }), "bandwidth: is not a finite number");
}

TEST(RunJson, AnyBytesOfALibrarysMessageCanBeWritten) {
  auto run = made_up::synthetic_run();
  run.records[0].candidates[0].failure = "bad \xff\xc3 bytes \"\\\n";
  const auto back = run_from_json(json::parse(to_json(run).dump()));
  EXPECT_EQ(back.records[0].candidates[0].failure.value_or(""),
            "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes \"\\\n");
}

TEST(RunJson, EachFaultIsNamedByItsPath) {
  struct Fault {
    const char* place;
    json value;
    const char* message;
  };
  const std::vector<Fault> faults = {
      {"/schema_version", 2, "schema_version: 2 is newer than 1, the newest version known here"},
      {"/schema_version", 0, "schema_version: must be at least 1"},
      {"/schema_version", "1", "schema_version: must be an integer, not negative"},
      {"/name", 3, "name: must be a string"},
      {"/device_kind", "tpu", "device_kind: 'tpu' is none of cpu cuda"},
      {"/bandwidth_name", "", "bandwidth_name: '' is none of triad copy"},
      {"/bandwidth", "fast", "bandwidth: must be a number"},
      {"/bandwidth", -1.0, "bandwidth: must be a finite number, not negative"},
      {"/bandwidth", nullptr, "bandwidth: must be a number"},
      {"/repetitions", 2147483648, "repetitions: is too large"},
      {"/tolerance", std::numeric_limits<double>::infinity(),
       "tolerance: must be a finite number, not negative"},
      {"/tolerance", std::numeric_limits<double>::quiet_NaN(),
       "tolerance: must be a finite number, not negative"},
      {"/quick", 0, "quick: must be true or false"},
      {"/interrupted", nullptr, "interrupted: must be true or false"},
      {"/speed", 1,
       "'speed': no such key; there are schema_version name date version commit command machine "
       "device device_kind bandwidth_name bandwidth repetitions tolerance quick interrupted peers "
       "records"},
      {"/peers", json::object(), "peers: must be an array"},
      {"/peers/1", "PETSc", "peers[1]: must be an object"},
      {"/peers/0/present", nullptr, "peers[0].present: must be true or false"},
      {"/peers/0/presence", true,
       "peers[0]: 'presence': no such key; there are name version detail present"},
      {"/records", nullptr, "records: must be an array"},
      {"/records/3", 1, "records[3]: must be an object"},
      {"/records/3/rows", -4, "records[3].rows: must be an integer, not negative"},
      {"/records/3/rows", 4.5, "records[3].rows: must be an integer, not negative"},
      {"/records/3/rows", 18446744073709551615ULL, "records[3].rows: is too large"},
      {"/records/3/precision", "half", "records[3].precision: 'half' is none of single double"},
      {"/records/3/row", 1,
       "records[3]: 'row': no such key; there are suite problem entry precision quantity rows "
       "entries compulsory_bytes tolerance candidates"},
      {"/records/3/candidates/0/role", "winner",
       "records[3].candidates[0].role: 'winner' is none of natural chosen best tried peer"},
      {"/records/3/candidates/0/seconds", 1e-6,
       "records[3].candidates[0].seconds: must be an object"},
      {"/records/3/candidates/0/seconds/median", "1e-6",
       "records[3].candidates[0].seconds.median: must be a number"},
      {"/records/3/candidates/0/seconds/median", 1.0,
       "records[3].candidates[0].seconds: lower_quartile, median and upper_quartile must not "
       "decrease"},
      {"/records/3/candidates/0/seconds/mean", 1.0,
       "records[3].candidates[0].seconds: 'mean': no such key; there are lower_quartile median "
       "upper_quartile"},
      {"/records/3/candidates/0/history", json::array({1, nullptr}),
       "records[3].candidates[0].history[1]: must be a number"},
      {"/records/3/candidates/0/history", json::array({1}),
       "records[3].candidates[0].history_at: is missing"},
      {"/records/20/candidates/0/history_at", json::array({1}),
       "records[20].candidates[0].history_at: must be as long as history"},
      {"/records/3/candidates/0/iterations", 1e3,
       "records[3].candidates[0].iterations: must be an integer, not negative"},
      {"/records/3/candidates/0/failure", false,
       "records[3].candidates[0].failure: must be a string"}};
  const json good = to_json(made_up::synthetic_run());
  for (const Fault& fault : faults) {
    json bad = good;
    bad[json::json_pointer(fault.place)] = fault.value;
    EXPECT_EQ(message_of([&] { run_from_json(bad); }), fault.message) << fault.place;
  }
}

TEST(RunJson, EachKeyThatMustBeThereIsMissed) {
  const json good = to_json(made_up::synthetic_run());
  const auto expect_missed = [&](const std::string& place, const std::string& path) {
    for (const auto& [key, value] : good[json::json_pointer(place)].items()) {
      static const std::set<std::string> optional = {
          "compulsory_bytes",  "tolerance", "seconds",      "cold",         "of_bandwidth",
          "cold_of_bandwidth", "error",     "memory_bytes", "memory_ratio", "iterations",
          "solve_seconds",     "residual",  "status",       "failure"};
      json bad = good;
      bad[json::json_pointer(place)].erase(key);
      const std::string message = message_of([&] { run_from_json(bad); });
      if (!place.empty() && optional.contains(key)) {
        EXPECT_EQ(message, "accepted") << path << key;
      } else {
        EXPECT_EQ(message, path + key + ": is missing");
      }
    }
  };
  expect_missed("", "");
  expect_missed("/peers/0", "peers[0].");
  expect_missed("/records/0", "records[0].");
  expect_missed("/records/0/candidates/0", "records[0].candidates[0].");
  expect_missed("/records/0/candidates/0/seconds", "records[0].candidates[0].seconds.");
}

TEST(RunJson, AMissingVersionIsReportedBeforeUnknownKeys) {
  EXPECT_EQ(message_of([] { run_from_json(json::parse(R"({"a": 1})")); }),
            "schema_version: is missing");
  EXPECT_EQ(message_of([] { run_from_json(json::array()); }), "must be an object");
  // A newer file may have keys unknown here; what matters is that it is newer.
  EXPECT_EQ(message_of([] { run_from_json(json::parse(R"({"a": 1, "schema_version": 7})")); }),
            "schema_version: 7 is newer than 1, the newest version known here");
}

TEST_F(RunFile, IsNamedInEveryError) {
  const std::string missing = "/no/such/folder/run.json";
  EXPECT_EQ(message_of([&] { read_run(missing); }), missing + ": No such file or directory");
  const std::string folder = std::filesystem::temp_directory_path();
  EXPECT_EQ(message_of([&] { read_run(folder); }).find(folder + ": "), 0u);
  const std::string path = write("");
  EXPECT_EQ(message_of([&] { read_run(path); }).find(path + ": parse error"), 0u);
  write("[" + std::string(100000, '['));
  EXPECT_EQ(message_of([&] { read_run(path); }), path + ": more than 8 levels of nesting");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  write(deep);
  EXPECT_EQ(message_of([&] { read_run(path); }), path + ": more than 8 levels of nesting");
  write(R"({"schema_version": 1, "name": "", "name": ""})");
  EXPECT_EQ(message_of([&] { read_run(path); }), path + ": the key 'name' appears twice");
  write(R"({"schema_version": 1e999})");
  EXPECT_EQ(message_of([&] { read_run(path); }).find(path + ": "), 0u);
  write(R"({"schema_version": NaN})");
  EXPECT_EQ(message_of([&] { read_run(path); }).find(path + ": parse error"), 0u);
}

TEST_F(RunFile, ReadsWhatWasWritten) {
  const json written = to_json(made_up::synthetic_run());
  EXPECT_EQ(to_json(read_run(write(written.dump(2)))).dump(), written.dump());
}

TEST_F(RunFile, DamagedFilesAreAcceptedOrRefusedInOneLine) {
  auto run = made_up::synthetic_run();
  run.records.erase(run.records.begin() + 2, run.records.end());
  const std::string good = to_json(run).dump();
  std::mt19937_64 generator(7);
  const std::string bytes = "{}[]\",:0-9e.\\\x01\xff tn";
  for (int i = 0; i < 400; ++i) {
    std::string text = good;
    for (int k = 0; k <= i % 3; ++k) {
      const auto place = generator() % text.size();
      switch (generator() % 3) {
        case 0:
          text[place] = bytes[generator() % bytes.size()];
          break;
        case 1:
          text.erase(place, 1 + generator() % 9);
          break;
        default:
          text.insert(place, 1, bytes[generator() % bytes.size()]);
      }
    }
    const std::string message = message_of([&, path = write(text)] { read_run(path); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 600u) << message;
  }
}

TEST(RunJson, WrongTypesAnywhereAreRefused) {
  auto run = made_up::synthetic_run();
  run.records.erase(run.records.begin() + 2, run.records.end());
  const json good = to_json(run);
  const json flat = good.flatten();
  for (const auto& [place, value] : flat.items()) {
    for (const json& other : {json(nullptr), json(json::array({1})), json(-1), json("?")}) {
      json bad = good;
      bad[json::json_pointer(place)] = other;
      if (other.is_string() && value.is_string()) continue;
      const std::string message = message_of([&] { run_from_json(bad); });
      EXPECT_NE(message, "accepted") << place << " " << other;
    }
  }
}

// ---- the schema ----

json schema() {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/docs/reference/benchmark-schema.json");
  return json::parse(file);
}

/// The part that a reference points to, or the part itself.
const json* resolved(const json* root, const json* part) {
  if (!part->contains("$ref")) return part;
  return &root->at(json::json_pointer((*part)["$ref"].get<std::string>().substr(1)));
}

std::string joined(const std::string& place, const std::string& key) {
  std::string whole = place;
  return whole.append(".").append(key);
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

/// Checks the part of JSON Schema that the file uses; `met` collects the keys seen.
void check(const json& root, const json& part_or_reference, const json& value,
           const std::string& place, const std::string& kind, std::set<std::string>& met) {
  const json& part = *resolved(&root, &part_or_reference);
  if (part.contains("const")) {
    EXPECT_EQ(value, part["const"]) << place;
  }
  if (part.contains("enum")) {
    EXPECT_NE(std::find(part["enum"].begin(), part["enum"].end(), value), part["enum"].end())
        << place;
  }
  if (part.contains("type")) {
    EXPECT_TRUE(has_type(value, part["type"])) << place;
  }
  if (part.contains("minimum")) {
    EXPECT_GE(value.get<double>(), part["minimum"].get<double>()) << place;
  }
  if (value.is_array()) {
    for (const json& item : value) check(root, part.at("items"), item, place + "[]", kind, met);
  }
  if (!value.is_object()) return;
  const std::string name =
      part_or_reference.contains("$ref") ? part_or_reference["$ref"].get<std::string>() : kind;
  for (const auto& [key, inner] : value.items()) {
    ASSERT_TRUE(part["properties"].contains(key)) << place << "." << key << " is not in the schema";
    met.insert(joined(name, key));
    check(root, part["properties"][key], inner, joined(place, key), name, met);
  }
  for (const auto& key : part["required"]) {
    EXPECT_TRUE(value.contains(key.get<std::string>())) << place << "." << key;
  }
  EXPECT_EQ(part["additionalProperties"], false) << name;
}

TEST(Schema, HoldsExactlyTheKeysThatAreWritten) {
  const json root = schema();
  std::set<std::string> met, described;
  check(root, root, to_json(made_up::synthetic_run()), "run", "run", met);
  const auto tell = [&](const std::string& name, const json& part) {
    for (const auto& [key, inner] : part["properties"].items()) {
      described.insert(joined(name, key));
      EXPECT_TRUE(inner.contains("description")) << name << "." << key;
    }
  };
  tell("run", root);
  for (const auto& [name, part] : root["$defs"].items()) tell("#/$defs/" + name, part);
  EXPECT_EQ(met, described);
}

TEST(Schema, RequiresWhatTheReaderRequires) {
  const json root = schema(), good = to_json(made_up::synthetic_run());
  EXPECT_EQ(root["properties"]["schema_version"]["const"], schema_version);
  const auto required = [&](const json& part, const std::string& place) {
    for (const auto& [key, inner] : part["properties"].items()) {
      if (!good[json::json_pointer(place)].contains(key)) continue;
      json bad = good;
      bad[json::json_pointer(place)].erase(key);
      const bool missed =
          message_of([&] { run_from_json(bad); }).find("is missing") != std::string::npos;
      const auto& names = part["required"];
      const bool is_required = std::find(names.begin(), names.end(), key) != names.end();
      EXPECT_EQ(missed, is_required || key.starts_with("history")) << place << "/" << key;
    }
  };
  const json& parts = root["$defs"];
  required(root, "");
  required(parts["peer"], "/peers/0");
  required(parts["record"], "/records/0");
  required(parts["candidate"], "/records/0/candidates/0");
  required(parts["candidate"], "/records/20/candidates/0");
  required(parts["timing"], "/records/0/candidates/0/seconds");
}

}  // namespace
