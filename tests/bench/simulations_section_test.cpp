#include "pages/simulations_section.hpp"

#include <gtest/gtest.h>

#include "heddle/error.hpp"

namespace heddle::bench {
namespace {

using nlohmann::json;

json spin() {
  return json::parse(R"({
    "program": "heddle-spin 0.1.0", "commit": "abc", "date": "2026-11-22T00:00:00Z",
    "command": "heddle-spin meshes/bunny.off --json", "mesh": "meshes/bunny.off",
    "device": "a CPU", "vertices": 34835, "rho": {"from": "waves"},
    "eigenvector": {"entries": 243833, "iterations": 4000,
                    "steps": [{"seconds": 1.5}, {"seconds": 0.5}]},
    "positions": {"iterations": 900},
    "times": {"read": 0.1, "assemble": 0.2, "build": 0.01, "eigenvector": 2.1, "positions": 1,
              "quality": 0.1, "write": 0.3, "all": 4}})");
}

json elastic() {
  return json::parse(R"({
    "commit": "abc", "date": "2026-11-22T00:00:00Z", "command": "heddle-elastic beam.msh",
    "mesh": "beam.msh", "device": "a CPU", "analysis": "dynamic", "method": "newmark",
    "unknowns": 3000, "entries": 15000, "iterations": 200, "steps": [{}, {}], "share": 0.95,
    "times": {"read": 0.1, "setup": 0.2, "elements": 0.01, "values": 0.02, "iterate": 0.04,
              "fields": 0.001, "output": 0.05, "wall": 1.25}})");
}

json heart() {
  return json::parse(R"({
    "commit": "abc", "date": "2026-11-26T00:00:00Z", "command": "heddle-heart --case a.json",
    "mesh": null, "device": "a GPU", "membranes": "cells: 300", "vertices": 3000,
    "entries": 40000, "scheme": "splitting", "splitting": "godunov", "time_step": 0.01,
    "first_step": 100, "steps": 1100, "iterations_a_step": 0.984,
    "times": {"read": 0.1, "setup": 0.2, "steps": 0.3, "output": 0.05, "wall": 0.7}})");
}

TEST(SimulationsSection, HasALineForEach) {
  const std::string text = simulations_section({{"a", spin()}, {"b", elastic()}, {"c", heart()}});
  EXPECT_NE(text.find("| slab | cells: 300 | godunov | a GPU | 3 000 | 40 000 | 0.01 | 1 000 "
                      "| 0.984 | 300 us | 100 ms | 200 ms | 300 ms | 50.0 ms | 700 ms |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| bunny.off | waves | a CPU | 34 835 | 243 833 | 2 | 4 000 | 500 us | 900 "
                      "| 100 ms | 200 ms | 10.0 ms | 2.10 s | 1.00 s | 300 ms | 4.00 s |"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("| beam.msh | dynamic, newmark | a CPU | 3 000 | 15 000 | 2 | 200 | 200 us |"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("- 2026-11-22T00:00:00Z, commit abc: `heddle-elastic beam.msh`"),
            std::string::npos);
}

TEST(SimulationsSection, LeavesOutWhatDidNotRun) {
  EXPECT_EQ(simulations_section({{"a", spin()}}).find("heddle-elastic"), std::string::npos);
}

TEST(SimulationsSection, RefusesOtherReports) {
  EXPECT_THROW(simulations_section({{"a", json::parse(R"({"a": 1})")}}), Error);
}

}  // namespace
}  // namespace heddle::bench
