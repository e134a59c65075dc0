// Sources of rho: files, names, images.
#include "curvature_change.hpp"

#include <gtest/gtest.h>

#include <string>

#include "grey_image.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "support/message_of.hpp"

namespace heddle::spin {
namespace {

using test::message_of;

TriangleMesh two_triangles() {
  TriangleMesh mesh;
  mesh.position = Array<Point>(std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}});
  mesh.triangle =
      Array<std::array<Index, 3>>(std::vector<std::array<Index, 3>>{{0, 1, 2}, {1, 3, 2}});
  return mesh;
}

class CurvatureChange : public testing::Test {
 protected:
  std::string file(const std::string& text) const { return folder.write("rho.txt", text); }
  TemporaryFolder folder;
};

TEST_F(CurvatureChange, OfTrianglesAndOfVertices) {
  const mesh::SurfaceMesh mesh{two_triangles()};
  EXPECT_EQ(curvature_change_from_file(file("1.5\n\t-2e1 "), mesh),
            (std::vector<double>{1.5, -20}));
  EXPECT_EQ(curvature_change_from_file(file("\xEF\xBB\xBF"
                                            "0 3\n+6 12"),
                                       mesh),
            (std::vector<double>{3, 7}));
}

/// A file may include vertices that belong to no face.
TEST_F(CurvatureChange, OfVerticesOfTheFile) {
  mesh::SurfaceMesh mesh{two_triangles()};
  mesh.left_out = {0, 3};
  EXPECT_EQ(curvature_change_from_file(file("9 0 3 9 6 12"), mesh), (std::vector<double>{3, 7}));
  EXPECT_EQ(curvature_change_from_file(file("0 3 6 12"), mesh), (std::vector<double>{3, 7}));
}

TEST_F(CurvatureChange, RefusesWhatItCannotRead) {
  const mesh::SurfaceMesh surface{two_triangles()};
  const TriangleMesh& mesh = surface.triangles;
  const std::string path = folder / "rho.txt";
  EXPECT_EQ(message_of([&] { curvature_change_from_file(file("1 2 3"), surface); }),
            path + ": 3 numbers; the surface has 4 vertices and 2 triangles");
  EXPECT_EQ(message_of([&] { curvature_change_from_file(file("1\ntwo"), surface); }),
            path + ":2: not a number");
  EXPECT_EQ(message_of([&] { curvature_change_from_file(file("1\n\nnan"), surface); }),
            path + ":3: not a finite number");
  EXPECT_EQ(message_of([&] { curvature_change_from_file(file("1 1e999"), surface); }),
            path + ":1: not a finite number");
  const std::string none = folder / "none";
  EXPECT_EQ(message_of([&] { curvature_change_from_file(none, surface); }),
            none + ": No such file or directory");
  EXPECT_EQ(message_of([&] { named_curvature_change("wave", 1, mesh); }),
            "no function is named 'wave'; there are: zero, x, y, z, bump, stripes, waves");
}

TEST(NamedFunctions, AreAllKnown) {
  const TriangleMesh mesh = two_triangles();
  for (const NamedFunction& function : named_functions()) {
    EXPECT_EQ(named_curvature_change(function.name, 1, mesh).size(), 2U) << function.name;
  }
}

/// 2 x 2 pixels of an uncompressed grey TGA, from the lower left.
std::string small_image() {
  std::string tga(18, '\0');
  tga[2] = 3;
  tga[12] = tga[14] = 2;
  tga[16] = 8;
  return tga + std::string("\x00\xff\x33\x66", 4);
}

TEST_F(CurvatureChange, OfAnImage) {
  folder.write("grey.tga", small_image());
  const std::vector<mesh::TextureCoordinate> points = {{0, 0},       {0.5, 0}, {0, 0.5},
                                                       {0.25, 0.25}, {7, 7},   {-1e300, -1e300}};
  const std::vector<double> wanted = {0, 1, 0.2, (0 + 1 + 0.2 + 0.4) / 4, 0.4, 0};
  const std::vector<double> grey = grey_at(folder / "grey.tga", points);
  ASSERT_EQ(grey.size(), points.size());
  for (std::size_t k = 0; k < points.size(); ++k) EXPECT_DOUBLE_EQ(grey[k], wanted[k]);

  mesh::SurfaceMesh mesh{two_triangles(), {}};
  EXPECT_NE(message_of([&] {
              curvature_change_from_image(folder / "grey.tga", 5, mesh);
            }).find("needs a surface with texture coordinates"),
            std::string::npos);
  mesh.texture = {{{{0, 0}, {0.5, 0}, {0, 0.5}}}, {{{0.5, 0}, {0.5, 0}, {0.5, 0}}}};
  const auto rho = curvature_change_from_image(folder / "grey.tga", 5, mesh);
  EXPECT_DOUBLE_EQ(rho[0], (2 * (0 + 1 + 0.2) / 3 - 1) * 5);
  EXPECT_DOUBLE_EQ(rho[1], 5);
  folder.write("no.png", "no image");
  EXPECT_NE(message_of([&] { grey_at(folder / "no.png", points); }).find("neither a PNG image, "),
            std::string::npos);
}

}  // namespace
}  // namespace heddle::spin
