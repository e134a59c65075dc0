// Directions of fibres: constant, from a file, and by the rule for a wall.
#include <cmath>
#include <numbers>

#include "heart/tissue.hpp"
#include "io/temporary_folder.hpp"

namespace heddle::heart::test {
namespace {

std::string refusal(const json& of, const std::string& case_path = "case.json") {
  try {
    const Case given = parse_case(of.dump(), case_path);
    make_model(mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split), given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(HeartFibres, AreOfLengthOne) {
  const Tissue tissue(with(slab_case(), "/fibres", {{"direction", {3, 0, -4}}}));
  for (const Point& f : tissue.model.fibre) EXPECT_EQ(f, (Point{0.6000000000000001, 0, -0.8}));
}

TEST(HeartFibres, TurnThroughAWall) {
  json of = with(slab_case(), "/mesh", {{"slab", {1, 1, 2}}, {"h", 0.25}});
  of["fibres"] = {{"from", {{"group", "z-least"}}},
                  {"to", {{"group", "z-greatest"}}},
                  {"angles", {60, -60}},
                  {"axis", {0, 5, 0}}};
  const Tissue tissue(of);
  for (std::size_t e = 0; e < tissue.model.fibre.size(); ++e) {
    const auto corner = tissue.model.corners(e);
    double z = 0;
    for (const Point& p : corner) z += p[2] / 4;
    const double angle = (60 - 120 * z / 2) * std::numbers::pi / 180;
    const Point& f = tissue.model.fibre[e];
    EXPECT_NEAR(f[0], std::cos(angle), 1e-8);  // y x z = x
    EXPECT_NEAR(f[1], std::sin(angle), 1e-8);
    EXPECT_NEAR(f[2], 0, 1e-8);
  }
  of["fibres"]["axis"] = {0, 0, 1};
  EXPECT_EQ(refusal(of),
            "case.json: fibres: the direction across the wall is parallel to the axis in "
            "tetrahedron 1 of the mesh");
  of["fibres"]["to"] = {{"group", "x-least"}};
  EXPECT_EQ(refusal(of), "case.json: fibres: vertex 1 of the mesh is on both surfaces of the wall");
}

TEST(HeartFibres, ComeFromAFile) {
  const TemporaryFolder folder;
  json of = with(slab_case(), "/mesh", {{"slab", {1, 1, 1}}, {"h", 1}});
  of["stimuli"] = json::array();
  of["fibres"] = {{"file", "fibres.txt"}};
  const std::string path = folder / "case.json";
  folder.write("fibres.txt",
               "\xEF\xBB\xBF"
               "0 2 0\n1 0 0\n0 0 -1\n1e0 0 0\n0 1 0\n 0 1 0 \n \n\n");
  const Case given = parse_case(of.dump(), path);
  const Model model =
      make_model(mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split), given);
  EXPECT_EQ(model.fibre[0], (Point{0, 1, 0}));
  EXPECT_EQ(model.fibre[2], (Point{0, 0, -1}));
  const std::string file = folder / "fibres.txt";
  folder.write("fibres.txt", "0 2 0\n0 0 0\n");
  EXPECT_EQ(refusal(of, path), file + ":2: the direction has length 0");
  folder.write("fibres.txt", "0 2\n");
  EXPECT_EQ(refusal(of, path),
            file + ":1: a line must have three numbers, the direction of the fibres in an element");
  folder.write("fibres.txt", "0 2 0 1\n");
  EXPECT_EQ(refusal(of, path), file + ":1: there are more than three numbers");
  folder.write("fibres.txt", "0 2 0\n");
  EXPECT_EQ(refusal(of, path), file + ": 1 fibre directions, but the mesh has 6 tetrahedra");
}

}  // namespace
}  // namespace heddle::heart::test
