// Runs of `heddle-elastic` in tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run.hpp"

using nlohmann::json;

inline const std::string data = HEDDLE_SOURCE_DIR "/data/elastic/";

class CommandElastic : public CommandLine {
 protected:
  Result elastic(const std::vector<std::string>& arguments) const {
    return Process(HEDDLE_ELASTIC_PROGRAM, arguments, folder / "").wait();
  }
  /// Runs the cantilever with a case.
  Result beam(const json& of, std::vector<std::string> more = {}) const {
    folder.write("case.json", of.dump());
    more.insert(more.begin(), {data + "cantilever.msh", "--case", "case.json"});
    return elastic(more);
  }
  Result solid(const std::string& mesh, const json& of) const {
    folder.write("solid.mesh", mesh);
    folder.write("case.json", of.dump());
    return elastic({"solid.mesh", "--case", "case.json", "--output", "out.vtu", "--history",
                    "history.csv", "--dump", "system"});
  }
  static json case_of(const std::string& name) {
    return json::parse(contents(data + name + ".json"));
  }
  /// Expects one line on standard error, status 2, and no files except those of the test.
  void expect_refusal(const Result& result, const std::string& line) const {
    EXPECT_EQ(result.error, "heddle-elastic: " + line + "\n");
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    Names left = files();
    left.erase("case.json");
    left.erase("solid.mesh");
    EXPECT_EQ(left, Names{});
  }
};

inline json with(json value, const char* pointer, const json& part) {
  value[json::json_pointer(pointer)] = part;
  return value;
}
