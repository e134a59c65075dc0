// Gmsh's meshes as bytes, in either order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "read/mesh_readers.hpp"
#include "refused.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

using Corners = std::vector<std::array<Index, 4>>;
using Triangles = std::vector<std::array<Index, 3>>;

constexpr std::array<Point, 4> corner = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.5}}};

SolidMesh read_bytes(const std::string& bytes) { return read_gmsh({"b.msh", bytes}); }

/// A file in Gmsh's format; `swapped` selects the byte order that differs from this machine's.
class Bytes {
 public:
  Bytes(const std::string& version, bool swapped) : swapped_(swapped) {
    text("$MeshFormat\n" + version + " 1 8\n").integers({1}).text("\n$EndMeshFormat\n");
  }

  Bytes& text(const std::string& t) {
    bytes_ += t;
    return *this;
  }
  Bytes& integers(const std::vector<std::int32_t>& values) { return put(values); }
  Bytes& sizes(const std::vector<std::uint64_t>& values) { return put(values); }
  Bytes& reals(const std::vector<double>& values) { return put(values); }
  Bytes& point(const Point& p) { return reals({p[0], p[1], p[2]}); }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  Bytes& put(const std::vector<T>& values) {
    for (const T& value : values) {
      char raw[sizeof(T)];
      std::memcpy(raw, &value, sizeof(T));
      if (swapped_) std::reverse(raw, raw + sizeof(T));
      bytes_.append(raw, sizeof(T));
    }
    return *this;
  }

  bool swapped_;
  std::string bytes_;
};

Bytes& add_nodes_2(Bytes& file, const std::array<int, 4>& number) {
  file.text("$Nodes\n4\n");
  for (std::size_t i = 0; i < 4; ++i) file.integers({number[i]}).point(corner[i]);
  return file.text("\n$EndNodes\n");
}

std::string format_2(bool swapped) {
  Bytes file("2.2", swapped);
  file.text("$PhysicalNames\n1\n3 9 \"steel\"\n$EndPhysicalNames\n");
  // The byte value 10 is also a line end.
  add_nodes_2(file, {10, 2, 300, 4}).text("$Elements\n4\n");
  file.integers({1, 1, 2}).integers({1, 0, 1, 10, 2});
  file.integers({2, 1, 2}).integers({2, 7, 1, 10, 2, 300});
  file.integers({4, 2, 2}).integers({3, 9, 1, 10, 2, 300, 4}).integers({4, 8, 1, 2, 10, 300, 4});
  return file.text("\n$EndElements\n").bytes();
}

Bytes& add_nodes_4(Bytes& file) {
  file.text("$Nodes\n").sizes({2, 4, 10, 400}).integers({0, 1, 0}).sizes({1, 10});
  file.point(corner[0]).integers({1, 1, 1}).sizes({3, 20, 300, 400});
  for (std::size_t i = 1; i < 4; ++i) file.point(corner[i]).reals({0.5});
  return file.text("\n$EndNodes\n");
}

std::string format_4(bool swapped) {
  Bytes file("4.1", swapped);
  file.text("$Entities\n").sizes({1, 0, 1, 1});
  file.integers({1}).point({0, 0, 0}).sizes({0});
  file.integers({2}).reals({0, 0, 0, 1, 1, 1}).sizes({1}).integers({7}).sizes({0});
  file.integers({3}).reals({0, 0, 0, 1, 1, 1}).sizes({2}).integers({9, 5}).sizes({1});
  file.integers({2}).text("\n$EndEntities\n");
  add_nodes_4(file).text("$Elements\n").sizes({3, 3, 1, 3});
  file.integers({0, 1, 15}).sizes({1, 1, 10});
  file.integers({2, 2, 2}).sizes({1, 2, 10, 20, 300});
  file.integers({3, 3, 4}).sizes({1, 3, 10, 20, 300, 400});
  return file.text("\n$EndElements\n").bytes();
}

std::string format_40(bool swapped) {
  Bytes file("4", swapped);
  file.text("$Entities\n").sizes({1, 0, 1, 1});
  file.integers({1}).reals({0, 0, 0, 0, 0, 0}).sizes({0});
  file.integers({2}).reals({0, 0, 0, 1, 1, 1}).sizes({1}).integers({7}).sizes({0});
  file.integers({3}).reals({0, 0, 0, 1, 1, 1}).sizes({1}).integers({9}).sizes({1});
  file.integers({2}).text("\n$EndEntities\n$Nodes\n").sizes({2, 4});
  file.integers({1, 0, 0}).sizes({1}).integers({10}).point(corner[0]);
  file.integers({1, 1, 1}).sizes({3});
  const std::int32_t number[] = {0, 20, 300, 400};
  for (std::size_t i = 1; i < 4; ++i) file.integers({number[i]}).point(corner[i]).reals({0.5});
  file.text("\n$EndNodes\n$Elements\n").sizes({2, 2});
  file.integers({2, 2, 2}).sizes({1}).integers({2, 10, 20, 300});
  file.integers({3, 3, 4}).sizes({1}).integers({3, 10, 20, 300, 400});
  return file.text("\n$EndElements\n").bytes();
}

TEST(GmshBinary, ReadsFormat2InEitherByteOrder) {
  for (const bool swapped : {false, true}) {
    const SolidMesh mesh = read_bytes(format_2(swapped));
    ASSERT_EQ(mesh.position.size(), 4u);
    EXPECT_TRUE(std::equal(corner.begin(), corner.end(), mesh.position.begin()));
    EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {1, 0, 2, 3}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{9, 8}));
    EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
    EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
    ASSERT_EQ(mesh.names.size(), 1u);
    EXPECT_EQ(mesh.names[0].name, "steel");
  }
}

TEST(GmshBinary, ReadsFormat4InEitherByteOrder) {
  for (const std::string& bytes :
       {format_4(false), format_4(true), format_40(false), format_40(true)}) {
    const SolidMesh mesh = read_bytes(bytes);
    ASSERT_EQ(mesh.position.size(), 4u);
    EXPECT_TRUE(std::equal(corner.begin(), corner.end(), mesh.position.begin()));
    EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{9}));
    EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
    EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
  }
}

/// Some writers omit the line end after bytes, also in sections that are skipped.
TEST(GmshBinary, NeedsNoLineEndInFrontOfAnEnd) {
  for (std::string bytes : {format_2(false), format_4(false)}) {
    for (const std::string end : {"$EndMeshFormat", "$EndNodes", "$EndElements"}) {
      bytes.erase(bytes.find("\n" + end), 1);
    }
    bytes += "$NodeData\n1\n\"u\"\nbytes$EndNodeData\n$Periodic\nbytes$EndPeriodic";
    EXPECT_EQ(read_bytes(bytes).tetrahedron[0], (std::array<Index, 4>{0, 1, 2, 3}));
  }
}

TEST(GmshBinary, CutAnywhereIsRefused) {
  for (const std::string& bytes : {format_2(false), format_4(false), format_40(false)}) {
    for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
      EXPECT_THROW(read_bytes(bytes.substr(0, size)), Error) << size;
    }
  }
}

TEST(GmshBinary, RefusesInOneLineWithoutItsNumber) {
  const auto made = [](const std::string& version, const auto& fill) {
    Bytes file(version, false);
    fill(file);
    return file.bytes();
  };
  const auto of_2 = [&](const auto& fill) { return made("2.2", fill); };
  const auto of_4 = [&](const auto& fill) { return made("4.1", fill); };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto range = ErrorKind::out_of_range;
  const std::string only = "; only linear tetrahedra and triangles are read";
  expect_refused(
      {{"$MeshFormat\n2.2 1 8\nabcd\n$EndMeshFormat\n",
        "b.msh: the byte order cannot be determined: no number 1 after the format"},
       {"$MeshFormat\n2.2 1 8 x\n", "b.msh:2: a line end is needed"},
       {"$MeshFormat\n2.2 1 8\nab", "b.msh: the file ends too early"},
       {of_2([](Bytes& f) { f.text("$Nodes\n4\n").integers({1}); }),
        "b.msh: 4 nodes do not fit in the 5 bytes that follow"},
       {of_2([](Bytes& f) { f.text("$Nodes\n2\n").integers({1}).point({0, 0, 0}).text("\n$E"); }),
        "b.msh: node 2 of 2: the file ends too early"},
       {of_2([](Bytes& f) {
          f.text("$Nodes\n1\n").integers({1}).point({0, nan, 0}).text("\n$EndNodes\n");
        }),
        "b.msh: node 1 of 1: a number is not finite", ErrorKind::not_finite},
       {of_2([](Bytes& f) { add_nodes_2(f, {1, 2, 2, 4}); }), "b.msh: node 2 appears twice"},
       {of_2([](Bytes& f) {
          add_nodes_2(f, {1, 2, 3, 4}).text("$Elements\n1\n").integers({4, 1, 0, 6, 1, 2, 3, 5});
        }),
        "b.msh: element 6 refers to node 5, which does not exist", range},
       {of_2([](Bytes& f) {
          add_nodes_2(f, {1, 2, 3, 4}).text("$Elements\n1\n").integers({4, 2, 0, 1, 1, 2, 3, 4});
        }),
        "b.msh: element 1 of 1: a block of 2 elements"},
       {of_2([](Bytes& f) {
          add_nodes_2(f, {1, 2, 3, 4}).text("$Elements\n1\n").integers({11, 1, 0, 6, 1, 2, 3, 5});
        }),
        "b.msh: element 6 is a quadratic tetrahedron (type 11)" + only},
       {of_4([](Bytes& f) { f.text("$Nodes\n").sizes({1, std::uint64_t(1) << 40, 1, 1}); }),
        "b.msh: 1099511627776 nodes do not fit in the 16 bytes that follow"},
       {of_4([](Bytes& f) { f.text("$Nodes\n").sizes({1, std::uint64_t(1) << 63, 1, 1}); }),
        "b.msh: -9223372036854775808 is not a valid number of nodes"},
       {of_4([](Bytes& f) {
          add_nodes_4(f).text("$Elements\n").sizes({1, 1, 1, 1}).integers({3, 3, 4});
          f.sizes({1, 8, 10, 20, 300, 500});
        }),
        "b.msh: element 8 refers to node 500, which does not exist", range},
       {of_4([](Bytes& f) {
          add_nodes_4(f).text("$Elements\n").sizes({1, 1, 1, 1}).integers({3, 3, 5});
          f.sizes({1, 8, 10, 20, 300, 400, 10, 20, 300, 400});
        }),
        "b.msh: an element is a hexahedron (type 5)" + only}},
      read_bytes);
}

}  // namespace
