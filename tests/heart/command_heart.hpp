// `heddle-heart` in a folder of its own, and a small case.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace heddle::heart::test {

using nlohmann::json;

class CommandHeart : public CommandLine {
 protected:
  Result heart(const std::vector<std::string>& arguments) const {
    return Process(HEDDLE_HEART_PROGRAM, arguments, folder / "").wait();
  }
  Result tissue(const json& of, std::vector<std::string> more = {}) const {
    folder.write("case.json", of.dump());
    more.insert(more.begin(), {"--case", "case.json"});
    return heart(more);
  }
  static json small() {
    return json::parse(R"({
      "mesh": {"slab": [4, 2, 1], "h": 0.5},
      "regions": [{"membrane": {"model": "aliev-panfilov"}}],
      "conductivity": {"along": 0.14, "across": 0.028},
      "stimuli": [{"box": {"from": [0, 0, 0], "to": [1, 1, 1]}, "duration": 2, "amplitude": 50}],
      "time": {"step": 0.05, "end": 10},
      "output_every": 5,
      "points": {"here": [0, 0, 0], "there": [4, 2, 1]},
      "electrodes": {"V1": [6, 1, 0.5]}
    })");
  }
  void expect_refusal(const Result& result, const std::string& line) const {
    EXPECT_EQ(result.error, "heddle-heart: " + line + "\n");
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    Names left = files();
    left.erase("case.json");
    EXPECT_EQ(left, Names{});
  }
};

inline json changed(json value, const char* pointer, const json& part) {
  value[json::json_pointer(pointer)] = part;
  return value;
}

}  // namespace heddle::heart::test
