// Case files: the meaning of valid ones, and the messages for invalid ones.
#include "case_file.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/temporary_folder.hpp"
#include "support/json_schema.hpp"

namespace heddle::elastic {
namespace {

using nlohmann::json;

json static_case() {
  return json::parse(R"({
    "materials": [{"young": 10, "poisson": 0.3}],
    "supports": [{"group": "left", "fixed": ["x", "z"]},
                 {"box": {"from": [0, 0, 0], "to": [1, 1, 1]}}],
    "displacements": [{"group": 7, "y": -0.5}],
    "loads": [{"group": "top", "pressure": 3}, {"group": "top", "traction": [1, 2, 3]}],
    "analysis": {"type": "static"}
  })");
}

json dynamic_case() {
  return json::parse(R"({
    "materials": [{"young": 10, "poisson": 0.3, "density": 2}],
    "gravity": [0, 0, -9.81],
    "analysis": {"type": "dynamic", "time_step": 0.1, "steps": 5, "initial_velocity": [1, 0, 0]},
    "solver": {"tolerance": 1e-6, "max_iterations": 50}
  })");
}

std::string refusal(const std::string& text) {
  try {
    parse_case(text, "case.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed_file);
    return error.what();
  }
  return "accepted";
}

/// The message for a case whose value at `pointer` is `part`.
std::string refusal_with(json value, const char* pointer, const json& part) {
  value[json::json_pointer(pointer)] = part;
  return refusal(value.dump());
}
std::string refusal_without(json value, const char* pointer, const char* key) {
  value[json::json_pointer(pointer)].erase(key);
  return refusal(value.dump());
}

TEST(CaseFile, SaysWhatIsToBeComputed) {
  const Case read = parse_case(static_case().dump(), "case.json");
  ASSERT_EQ(read.materials.size(), 1U);
  EXPECT_EQ(read.materials[0].young, 10);
  EXPECT_EQ(read.materials[0].poisson, 0.3);
  EXPECT_TRUE(read.materials[0].where.is_everywhere());
  ASSERT_EQ(read.displacements.size(), 3U);
  EXPECT_EQ(read.displacements[0].where.group, "left");
  EXPECT_EQ(read.displacements[0].component[0], 0.0);
  EXPECT_FALSE(read.displacements[0].component[1]);
  EXPECT_EQ(read.displacements[0].component[2], 0.0);
  EXPECT_EQ(read.displacements[1].component[1], 0.0);
  EXPECT_EQ(read.displacements[1].where.box->most[2], 1);
  EXPECT_EQ(read.displacements[2].where.group, "7");
  EXPECT_EQ(read.displacements[2].component[1], -0.5);
  EXPECT_EQ(read.loads[0].pressure, 3);
  EXPECT_EQ(read.loads[1].traction, (Point{1, 2, 3}));
  EXPECT_EQ(read.analysis.type, AnalysisType::statics);
  EXPECT_EQ(read.solver.tolerance, 1e-10);

  const Case moving = parse_case(dynamic_case().dump(), "case.json");
  EXPECT_EQ(moving.gravity, (Point{0, 0, -9.81}));
  EXPECT_EQ(moving.analysis.type, AnalysisType::dynamics);
  EXPECT_EQ(moving.analysis.method, Method::newmark);
  EXPECT_EQ(moving.analysis.beta, 0.25);
  EXPECT_EQ(moving.analysis.gamma, 0.5);
  EXPECT_EQ(moving.analysis.steps, 5);
  EXPECT_EQ(moving.analysis.initial_velocity, (Point{1, 0, 0}));
  EXPECT_EQ(moving.solver.tolerance, 1e-6);
  EXPECT_EQ(moving.solver.max_iterations, 50);
}

TEST(CaseFile, TakesEarlierSolutionsForCorotationalMotion) {
  const auto count_in = [](const json& given) {
    return parse_case(given.dump(), "case.json").solver.earlier_solutions;
  };
  json turning = dynamic_case();
  turning["analysis"]["type"] = "corotational";
  EXPECT_EQ(count_in(static_case()), 0);
  EXPECT_EQ(count_in(dynamic_case()), 0);
  EXPECT_EQ(count_in(turning), 8);
  turning.erase("solver");
  EXPECT_EQ(count_in(turning), 8);
  for (json given : {dynamic_case(), turning}) {
    for (const int count : {0, 3, 32}) {
      given["solver"]["earlier_solutions"] = count;
      EXPECT_EQ(count_in(given), count);
    }
  }
}

TEST(CaseFile, NamesMisspeltKeys) {
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/yong", 1),
            "case.json: materials[0].yong is not known; did you mean young?");
  EXPECT_EQ(refusal_with(static_case(), "/material", 1),
            "case.json: material is not known; did you mean materials?");
  EXPECT_EQ(refusal_with(static_case(), "/colour", 1),
            "case.json: colour is not known; there are: materials, supports, displacements, loads, "
            "gravity, analysis, solver");
  EXPECT_EQ(refusal_with(static_case(), "/supports/1/box/too", 1),
            "case.json: supports[1].box.too is not known; did you mean to?");
  EXPECT_EQ(refusal_with(static_case(), "/analysis/steps", 1),
            "case.json: analysis.steps is not known; there are: type, null_space");
  EXPECT_EQ(refusal_with(static_case(), "/analysis/type", "statik"),
            "case.json: analysis.type 'statik' is not known; did you mean static?");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/method", "trapezoidal"),
            "case.json: analysis.method 'trapezoidal' is not known; there are: newmark, "
            "backward-euler");
  EXPECT_EQ(refusal_with(static_case(), "/analysis/null_space", "rigit"),
            "case.json: analysis.null_space 'rigit' is not known; did you mean rigid?");
}

TEST(CaseFile, NamesWhatIsMissing) {
  EXPECT_EQ(refusal_without(static_case(), "", "materials"), "case.json: materials is missing");
  EXPECT_EQ(refusal_with(static_case(), "/materials", json::array()),
            "case.json: materials is empty");
  EXPECT_EQ(refusal_without(static_case(), "", "analysis"), "case.json: analysis is missing");
  EXPECT_EQ(refusal_without(static_case(), "/analysis", "type"),
            "case.json: analysis.type is missing");
  EXPECT_EQ(refusal_without(static_case(), "/materials/0", "poisson"),
            "case.json: materials[0].poisson is missing");
  EXPECT_EQ(refusal_without(dynamic_case(), "/analysis", "time_step"),
            "case.json: analysis.time_step is missing");
  EXPECT_EQ(refusal_without(dynamic_case(), "/materials/0", "density"),
            "case.json: materials[0].density is missing; motion needs it");
  EXPECT_EQ(refusal_with(static_case(), "/gravity", {0, 0, -1}),
            "case.json: materials[0].density is missing; gravity needs it");
  EXPECT_EQ(refusal_without(static_case(), "/supports/0", "group"),
            "case.json: supports[0] needs a group or a box");
  EXPECT_EQ(refusal_without(static_case(), "/displacements/0", "y"),
            "case.json: displacements[0] gives no displacement; give x, y or z");
  EXPECT_EQ(refusal_without(static_case(), "/loads/0", "pressure"),
            "case.json: loads[0] needs either a pressure or a traction");
  EXPECT_EQ(refusal_with(static_case(), "/loads/1/pressure", 1),
            "case.json: loads[1] needs either a pressure or a traction");
}

TEST(CaseFile, NamesWrongTypesAndRanges) {
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/young", "10"),
            "case.json: materials[0].young must be a number");
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/young", 0),
            "case.json: materials[0].young must be above 0 and at most 1e+100, not 0");
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/poisson", 0.5),
            "case.json: materials[0].poisson must be at least 0 and below 0.5, not 0.5");
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/poisson", -0.1),
            "case.json: materials[0].poisson must be at least 0 and below 0.5, not -0.1");
  EXPECT_EQ(refusal_with(static_case(), "/materials/0/density", -1),
            "case.json: materials[0].density must be above 0 and at most 1e+100, not -1");
  EXPECT_EQ(refusal_with(static_case(), "/materials", 3), "case.json: materials must be an array");
  EXPECT_EQ(refusal_with(static_case(), "/materials/0", 3),
            "case.json: materials[0] must be an object");
  EXPECT_EQ(refusal_with(static_case(), "/supports/0/fixed", "xyz"),
            "case.json: supports[0].fixed must be an array of \"x\", \"y\", \"z\"");
  EXPECT_EQ(refusal_with(static_case(), "/supports/0/fixed", {"x", "w"}),
            "case.json: supports[0].fixed must be an array of \"x\", \"y\", \"z\"");
  EXPECT_EQ(refusal_with(static_case(), "/supports/0/group", true),
            "case.json: supports[0].group must be the name of a group or its number");
  EXPECT_EQ(refusal_with(static_case(), "/supports/1/group", "left"),
            "case.json: supports[1] has both a group and a box; give only one of them");
  EXPECT_EQ(
      refusal_with(static_case(), "/supports/1/box/from", {0, 2, 0}),
      "case.json: supports[1].box begins beyond its end; 'from' must have the smaller numbers");
  EXPECT_EQ(refusal_with(static_case(), "/supports/1/box/from", {0, 2}),
            "case.json: supports[1].box.from must be three numbers");
  EXPECT_EQ(refusal_with(static_case(), "/gravity", 9.81),
            "case.json: gravity must be three numbers");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/steps", 2.5),
            "case.json: analysis.steps must be a whole number");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/steps", 0),
            "case.json: analysis.steps must be from 1 to 1000000000, not 0");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/steps", 18446744073709551615U),
            "case.json: analysis.steps must be from 1 to 1000000000, not 18446744073709551615");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/time_step", -1),
            "case.json: analysis.time_step must be above 0 and at most 1e+100, not -1");
  EXPECT_EQ(refusal_with(dynamic_case(), "/analysis/gamma", 0.25),
            "case.json: analysis.gamma must be at least 0.5 and at most 1, not 0.25");
  json euler = dynamic_case();
  euler["analysis"]["method"] = "backward-euler";
  EXPECT_EQ(refusal_with(euler, "/analysis/beta", 0.25),
            "case.json: analysis.beta applies to the method newmark, not to backward-euler");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/tolerance", 1),
            "case.json: solver.tolerance must be above 0 and below 1, not 1");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/earlier_solutions", 33),
            "case.json: solver.earlier_solutions must be from 0 to 32, not 33");
  EXPECT_EQ(
      refusal_with(static_case(), "/solver/earlier_solutions", 3),
      "case.json: solver.earlier_solutions applies only to analyses that take steps; leave it out");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/earlier_solutions", -1),
            "case.json: solver.earlier_solutions must be from 0 to 32, not -1");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/earlier_solutions", 1.5),
            "case.json: solver.earlier_solutions must be a whole number");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/deflation", 0),
            "case.json: solver.deflation must be from 1 to 16, not 0");
  EXPECT_EQ(refusal_with(dynamic_case(), "/solver/deflation", 17),
            "case.json: solver.deflation must be from 1 to 16, not 17");
  EXPECT_EQ(refusal_with(static_case(), "/solver/deflation", 3),
            "case.json: solver.deflation applies only to analyses that take steps; leave it out");
  EXPECT_EQ(refusal("[1]"), "case.json: the file must be an object");
  EXPECT_EQ(refusal("{\"materials\": [1,}").substr(0, 41),
            "case.json: not valid JSON: line 1, column");
  EXPECT_EQ(refusal(R"({"analysis": {"type": "static", "type": "dynamic"}})"),
            "case.json: the file has the key type twice in one object");
  EXPECT_EQ(refusal(std::string(17, '[')), "case.json: the file is nested too deeply");
  EXPECT_EQ(refusal("{\"a\\nb\": 1}").substr(0, 30), "case.json: a?b is not known; t");
}

TEST(CaseFile, AgreesWithItsSchema) {
  const heddle::test::JsonSchema schema(
      json::parse(contents(HEDDLE_SOURCE_DIR "/docs/reference/elastic-case-schema.json")));
  EXPECT_TRUE(schema.accepts(static_case()));
  EXPECT_TRUE(schema.accepts(dynamic_case()));
  json wrong = static_case();
  wrong["materials"][0]["yong"] = 1;
  EXPECT_FALSE(schema.accepts(wrong));
  wrong = static_case();
  wrong["analysis"]["steps"] = 3;
  EXPECT_FALSE(schema.accepts(wrong));
  wrong = dynamic_case();
  wrong["solver"]["earlier_solutions"] = 32;
  EXPECT_TRUE(schema.accepts(wrong));
  wrong["solver"]["earlier_solutions"] = 33;
  EXPECT_FALSE(schema.accepts(wrong));
  for (const auto& [count, is_right] : {std::pair(0, false), {1, true}, {16, true}, {17, false}}) {
    wrong = dynamic_case();
    wrong["solver"]["deflation"] = count;
    EXPECT_EQ(schema.accepts(wrong), is_right) << count;
  }
  for (const char* name : {"static", "dynamic", "corotational"}) {
    const std::string path = std::string(HEDDLE_SOURCE_DIR "/data/elastic/") + name + ".json";
    EXPECT_TRUE(schema.accepts(json::parse(contents(path)))) << name;
    EXPECT_NO_THROW(read_case(path));
  }
}

TEST(CaseFile, SaysWhatCannotBeRead) {
  try {
    read_case("/nowhere/case.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "/nowhere/case.json: No such file or directory");
  }
}

}  // namespace
}  // namespace heddle::elastic
