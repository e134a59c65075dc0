// Case files: the meaning of valid ones, and the messages for invalid ones.
#include <algorithm>
#include <filesystem>

#include "heart/tissue.hpp"
#include "io/temporary_folder.hpp"
#include "membranes/model_parameters.hpp"
#include "run/unusual_values.hpp"
#include "support/json_schema.hpp"

namespace heddle::heart::test {
namespace {

std::string why_not(const json& of) {
  try {
    const Case given = parse_case(of.dump(), "case.json");
    if (given.slab) Tissue tissue(of);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::internal);
    return error.what();
  }
  return "";
}

json whole_case() {
  json of = slab_case();
  of["conductivity"] = {{"intracellular", {{"along", 0.17}, {"across", 0.019}}},
                        {"extracellular", {{"along", 0.62}, {"across", 0.24}}}};
  of["regions"].push_back({{"membrane", {{"model", "fitzhugh-nagumo"}}},
                           {"conductivity", {{"along", 0.2}, {"across", 0.1}}},
                           {"box", {{"from", {2, 0, 0}}, {"to", {4, 2, 1}}}}});
  of["chi"] = 120;
  of["Cm"] = 0.02;
  of["stimuli"].push_back({{"group", "x-greatest"},
                           {"start", 10},
                           {"duration", 1},
                           {"amplitude", 30},
                           {"period", 100},
                           {"count", 3}});
  of["time"] = {{"step", 0.1}, {"end", 20},        {"splitting", "strang"},
                {"theta", 1},  {"mass", "lumped"}, {"ionic_current", "integration-points"}};
  of["output_every"] = 0.5;
  of["trace_every"] = 0.2;
  of["activation_threshold"] = -20;
  of["points"] = {{"tip", {4, 2, 1}}};
  of["electrodes"] = {{"V1", {9, 9, 9}}};
  of["solver"] = {{"tolerance", 1e-6}, {"max_iterations", 50}, {"guess", "last"}};
  return of;
}

TEST(HeartCase, SaysWhatIsMeant) {
  const Tissue tissue(whole_case());
  const Case& given = tissue.given;
  EXPECT_EQ(given.time.steps, 200);
  EXPECT_EQ(given.time.splitting, Splitting::strang);
  EXPECT_EQ(given.time.mass, Mass::lumped);
  EXPECT_EQ(given.time.ionic_current, CurrentPlace::integration_points);
  EXPECT_EQ(given.output_every, 5);
  EXPECT_EQ(given.trace_every, 2);
  EXPECT_EQ(given.activation_threshold, -20);
  EXPECT_EQ(given.solver.guess, Guess::last);
  const Model& model = tissue.model;
  ASSERT_EQ(model.diffusivity.size(), 2U);
  EXPECT_NEAR(model.diffusivity[0].along, 0.17 * 0.62 / 0.79 / 2.4, 1e-15);
  EXPECT_NEAR(model.diffusivity[1].across, 0.1 / 2.4, 1e-15);
  ASSERT_EQ(model.stimuli.size(), 2U);
  EXPECT_NEAR(model.stimuli[1].amplitude, 30 / 2.4, 1e-13);
  EXPECT_EQ(model.stimuli[1].count, 3);
  for (std::size_t v = 0; v < model.position.size(); ++v) {
    EXPECT_EQ(model.region_of_vertex[v], model.position[v][0] >= 2 ? 1 : 0);
    EXPECT_EQ((model.stimuli_of_vertex[v] & 2U) != 0, model.position[v][0] == 4);
  }
  const Case usual = parse_case(slab_case().dump(), "case.json");
  EXPECT_EQ(usual.output_every, usual.time.steps);
  EXPECT_EQ(usual.time.mass, Mass::consistent);
  EXPECT_EQ(usual.time.ionic_current, CurrentPlace::nodes);
  EXPECT_EQ(usual.time.theta, 0.5);
}

TEST(HeartCase, RefusesOtherUnits) {
  const json good = slab_case();
  EXPECT_EQ(why_not(with(good, "/chi", 140000)),
            "case.json: chi must be from 1 to 1000 1/mm, not 140000");
  EXPECT_EQ(why_not(with(good, "/Cm", 1)), "case.json: Cm must be from 0.001 to 0.1 uF/mm2, not 1");
  EXPECT_EQ(why_not(with(good, "/conductivity/along", 170)),
            "case.json: conductivity.along must be from 1e-05 to 20 S/m, not 170");
  EXPECT_EQ(why_not(with(good, "/conductivity/across", -0.1)),
            "case.json: conductivity.across must be from 1e-05 to 20 S/m, not -0.1");
  EXPECT_EQ(why_not(with(good, "/stimuli/0/amplitude", 50000)),
            "case.json: stimuli[0].amplitude must be from 0.001 to 5000 uA/mm3, not 50000");
  EXPECT_EQ(why_not(with(good, "/stimuli/0/duration", 2e-6)),
            "case.json: stimuli[0].duration must be from 1e-04 to 1e+06 ms, not 2e-06");
  EXPECT_EQ(why_not(with(good, "/time/step", 50)),
            "case.json: time.step must be from 1e-05 to 5 ms, not 50");
  EXPECT_EQ(why_not(with(good, "/mesh", {{"slab", {0.02, 0.008, 0.004}}, {"h", 0.002}})),
            "the mesh is 0.02 mm wide, as its coordinates are in mm; heart muscle is from 0.5 to "
            "1000 mm wide");
}

/// Refused before its cubes are made.
TEST(HeartCase, RefusesASlabInMicrometres) {
  EXPECT_EQ(why_not(with(slab_case(), "/mesh", {{"slab", {20000, 7000, 3000}}, {"h", 10}})),
            "the mesh is 20000 mm wide, as its coordinates are in mm; heart muscle is from 0.5 to "
            "1000 mm wide");
}

std::vector<std::string> warnings_of(const json& of) {
  return unusual_values(parse_case(of.dump(), "case.json"));
}

TEST(HeartCase, WarnsOfWhatIsHardlyOfTheRightUnit) {
  using Lines = std::vector<std::string>;
  json of = slab_case();
  EXPECT_EQ(warnings_of(of), Lines{});
  EXPECT_EQ(warnings_of(with(of, "/conductivity", {{"along", 1.3}, {"across", 1.8e-5}})),
            (Lines{"case.json: regions[0]: the conductivity along fibres is 1.3 S/m; usual values "
                   "are 0.003 to 1",
                   "case.json: regions[0]: the conductivity across fibres is 1.8e-05 S/m; usual "
                   "values are 0.003 to 1"}));
  EXPECT_EQ(warnings_of(with(of, "/conductivity", {{"along", 0.02}, {"across", 0.13}})),
            Lines{"case.json: regions[0]: the conductivity across fibres, 0.13 S/m, is above that "
                  "along them, 0.02 S/m"});
  EXPECT_EQ(warnings_of(with(of, "/conductivity", {{"along", 0.1}, {"across", 0.1}})), Lines{});
  EXPECT_EQ(
      warnings_of(with(of, "/stimuli/0/amplitude", 0.05)),
      Lines{"case.json: stimuli[0]: the amplitude is 0.05 uA/mm3; usual values are 1 to 500"});
  of["stimuli"][0]["duration"] = 0.002;
  of["time"] = {{"step", 5e-5}, {"end", 0.07}};
  EXPECT_EQ(warnings_of(of),
            (Lines{"case.json: stimuli[0]: the duration is 0.002 ms; usual values are 0.02 to 200",
                   "case.json: time: the step is 5e-05 ms; usual values are 5e-04 to 5"}));
  EXPECT_EQ(warnings_of(with(slab_case(), "/stimuli/0/start", 100)),
            Lines{"case.json: stimuli[0] never acts: it begins at 100 ms, and the case ends at 5 "
                  "ms"});
  EXPECT_EQ(warnings_of(with(slab_case(), "/fibres",
                             {{"from", {{"group", "z-least"}}},
                              {"to", {{"group", "z-greatest"}}},
                              {"angles", {1.05, -1.05}},
                              {"axis", {1, 0, 0}}})),
            Lines{"case.json: fibres: angles are in degrees, and 1.05 is the largest; are they in "
                  "radians?"});
  const auto of_parameters = [](const json& parameters) {
    return warnings_of(with(slab_case(), "/regions/0/membrane",
                            {{"model", "ten-tusscher-panfilov"}, {"parameters", parameters}}));
  };
  EXPECT_EQ(of_parameters({{"T", 37}}),
            Lines{"case.json: regions[0].membrane: the parameter T of ten-tusscher-panfilov is 37 "
                  "K; its default is 310 K"});
  EXPECT_EQ(of_parameters({{"K_o", 0.001}}).size(), 1U);
  EXPECT_EQ(of_parameters({{"Cm", 0.01}}).size(), 1U);
  EXPECT_EQ(of_parameters({{"g_Kr", 0}, {"K_o", 8}, {"T", 308}, {"g_CaL", 2e-5}}), Lines{});
}

/// Checks that names, values and units are those of the program.
TEST(HeartCase, ParametersAreDocumented) {
  const std::string page = contents(HEDDLE_SOURCE_DIR "/docs/simulations/heart.md");
  for (const std::string& model : model_names()) {
    for (const KnownParameter& known : parameters_of({.model = model})) {
      const std::string begin = "| `" + model + "` | `" + known.name + "` | ";
      const std::size_t at = page.find(begin);
      ASSERT_NE(at, std::string::npos) << begin;
      const std::string row =
          page.substr(at + begin.size(), page.find('\n', at) - at - begin.size());
      EXPECT_EQ(std::stod(row), known.own) << begin;
      EXPECT_NE(row.find(" | " + known.unit + " | "), std::string::npos) << row;
    }
  }
}

TEST(HeartCase, RefusesWhatMeansNothing) {
  const json good = slab_case();
  EXPECT_EQ(why_not(with(good, "/conductivty", 1)),
            "case.json: conductivty is not known; did you mean conductivity?");
  EXPECT_EQ(why_not(with(good, "/mesh/h", 0.3)),
            "the slab's side of 4 is not a whole number of cubes of 0.3");
  EXPECT_EQ(why_not(with(good, "/mesh/slab", {4, 0, 1})),
            "the slab's side of 0 is not a whole number of cubes of 0.5");
  EXPECT_EQ(why_not(with(good, "/regions", json::array())), "case.json: regions is empty");
  EXPECT_EQ(why_not(with(good, "/regions/0/membrane/model", "luo-rudy")),
            "case.json: regions[0].membrane: there is no membrane model \"luo-rudy\"; there are: "
            "aliev-panfilov, fitzhugh-nagumo, ten-tusscher-panfilov");
  EXPECT_EQ(why_not(with(good, "/regions/0/membrane/type", 3)),
            "case.json: regions[0].membrane.type must be a string");
  EXPECT_EQ(why_not(with(good, "/regions/0/membrane/type", "")),
            "case.json: regions[0].membrane.type is empty");
  EXPECT_EQ(why_not(with(good, "/stimuli/0/duration", 0.02)),
            "case.json: stimuli[0].duration is shorter than a step of the membranes, 0.05 ms");
  EXPECT_EQ(why_not(with(good, "/regions/0/group", "atrium")),
            "case.json: regions[0] names the group atrium, which the mesh does not have; its "
            "groups of tetrahedra are: slab");
  EXPECT_EQ(why_not(with(good, "/regions/0/box", {{"from", {0, 0, 0}}, {"to", {2, 2, 1}}})),
            "case.json: no entry of regions covers tetrahedron 25 of the mesh");
  EXPECT_EQ(why_not(with(good, "/stimuli/0/box", {{"from", {9, 9, 9}}, {"to", {10, 10, 10}}})),
            "case.json: stimuli[0] selects no vertices");
  EXPECT_EQ(why_not(with(good, "/fibres", {{"direction", {0, 0, 0}}})),
            "case.json: fibres.direction must have a length above 0");
  EXPECT_EQ(why_not(with(good, "/time/end", 5.02)),
            "case.json: time.end is not a whole number of time steps of 0.05 ms");
  EXPECT_EQ(why_not(with(good, "/output_every", 0.12)),
            "case.json: output_every is not a whole number of time steps of 0.05 ms");
  EXPECT_EQ(why_not(with(good, "/stimuli/0/period", 10)),
            "case.json: stimuli[0] has only one of period and count; give both, or neither for one "
            "pulse");
  EXPECT_EQ(why_not(with(good, "/points", {{"tip", {5, 0, 0}}})),
            "case.json: points.tip lies outside the mesh");
  json bare = good;
  bare.erase("conductivity");
  EXPECT_EQ(why_not(bare),
            "case.json: regions[0].conductivity is missing, here and for the whole tissue");
}

TEST(HeartCase, SchemaAcceptsWhatIsRead) {
  const heddle::test::JsonSchema schema(
      json::parse(contents(HEDDLE_SOURCE_DIR "/docs/reference/heart-case-schema.json")));
  EXPECT_TRUE(schema.accepts(slab_case()));
  EXPECT_TRUE(schema.accepts(whole_case()));
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/chi", 140000)));
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/solver/tolerance", 0)));
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/stimuli/0/period", 10)));
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/stimuli/0/group", "slab")));
  const json models =
      json::parse(contents(HEDDLE_SOURCE_DIR "/docs/reference/heart-case-schema.json"))
          .at(json::json_pointer("/properties/regions/items/properties/membrane/"
                                 "properties/model/enum"));
  std::vector<std::string> known = model_names(), listed = models.get<std::vector<std::string>>();
  std::sort(known.begin(), known.end());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(listed, known);
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/time/stp", 1)));
  EXPECT_TRUE(schema.accepts(with(slab_case(), "/time/adaptive", {{"tolerance", 1}})));
  EXPECT_FALSE(schema.accepts(with(slab_case(), "/time/adaptive", {{"tolerance", 0}})));
  for (const auto& file : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR "/data/heart")) {
    if (file.path().extension() != ".json") continue;
    const std::string text = contents(file.path().string());
    EXPECT_TRUE(schema.accepts(json::parse(text))) << file.path();
    EXPECT_EQ(why_not(json::parse(text)), "") << file.path();
  }
}

}  // namespace
}  // namespace heddle::heart::test
