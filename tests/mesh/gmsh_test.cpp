// Gmsh's meshes as text: groups, numbers that are not consecutive, and one line for every fault.
#include <gtest/gtest.h>

#include "read/mesh_readers.hpp"
#include "refused.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

using Corners = std::vector<std::array<Index, 4>>;
using Triangles = std::vector<std::array<Index, 3>>;

const std::string head_2 = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string head_4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n";
const std::string nodes_2 = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
const std::string nodes_4 =
    "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n";

SolidMesh read(const std::string& text) { return read_gmsh({"m.msh", text}); }

std::string elements_2(const std::string& lines) {
  return head_2 + nodes_2 + "$Elements\n1\n" + lines + "\n$EndElements\n";
}
std::string elements_4(const std::string& lines) {
  return head_4 + nodes_4 + "$Elements\n1 1 1 1\n" + lines + "\n$EndElements\n";
}

TEST(Gmsh, ReadsFormat2) {
  const SolidMesh mesh = read(
      "$MeshFormat\r\n2.2 0 8\r\n$EndMeshFormat\r\n$PhysicalNames\r\n3\r\n1 4 \"edge\"\r\n"
      "2 7 \"clamped \\ face\"\r\n3 1 \"steel\"\r\n$EndPhysicalNames\r\n$Comments\n$Nodes\n"
      "$EndComments\n$Nodes\n5\n10 0 0 0\n20 1 0 0\n5 0 1e0 0\n7 0 0 1\n1234567890 1 1 1.5\n"
      "$EndNodes\n$Elements\n6\n1 15 2 0 1 10\n2 1 2 4 1 10 20\n3 8 2 4 1 10 20 5\n"
      "4 2 2 7 1 10 20 5\n9 4 3 1 1 0 10 20 5 7\n10 4 0 1234567890 20 5 7\n$EndElements\n"
      "$ElementData\nanything\n$EndElementData\n");
  ASSERT_EQ(mesh.position.size(), 5u);
  EXPECT_EQ(mesh.position[4], (Point{1, 1, 1.5}));
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {4, 1, 2, 3}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{1, 0}));
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
  EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
  ASSERT_EQ(mesh.names.size(), 2u);
  EXPECT_EQ(mesh.names[0].name, "clamped \\ face");
  EXPECT_EQ(mesh.names[0].dimension, 2);
  EXPECT_EQ(mesh.names[0].number, 7);
  EXPECT_EQ(mesh.names[1].name, "steel");
  EXPECT_EQ(mesh.names[1].dimension, 3);
}

/// Number, type, physical and elementary group, number of nodes, nodes.
TEST(Gmsh, ReadsFormat1) {
  const std::string nodes = "$NOD\n4\n10 0 0 0\n20 1 0 0\n5 0 1 0\n7 0 0 1\n$ENDNOD\n";
  const SolidMesh mesh = read(nodes +
                              "$ELM\n3\n1 15 2 0 1 10\n2 2 7 1 3 10 20 5\n"
                              "3 4 3 1 4 10 20 5 7\n$ENDELM\n$POST\nanything\n$ENDPOST\n");
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{3}));
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
  EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
  expect_refused(
      {{"$NOD\n9999999999\n", "m.msh:2: 9999999999 nodes do not fit in the 1 bytes that follow"},
       {nodes, "m.msh:8: the file has no tetrahedra"},
       {nodes + "$ELM\n1\n1 4 3 1 3 10 20 5\n$ENDELM\n",
        "m.msh:10: element 1 of 1: 3 nodes where 4 are needed"},
       {nodes + "$ELM\n1\n1 5 3 1 8 1 2 3 4 5 6 7 8\n$ENDELM\n",
        "m.msh:10: element 1 is a hexahedron (type 5); only linear tetrahedra and "
        "triangles are read"},
       {"$ELM\n",
        "m.msh:1: not a Gmsh mesh: it must begin with $MeshFormat, or in format 1 with $NOD"}},
      read);
}

TEST(Gmsh, ReadsFormat4) {
  const SolidMesh mesh = read(
      head_4 +
      "$PhysicalNames\n1\n3 5 \"bone\"\n$EndPhysicalNames\n"
      "$Entities\n1 1 2 3\n1 0 0 0 0\n1 0 0 0 1 0 0 0 2 1 -1\n"
      "2 0 0 0 1 1 0 1 7 1 1\n3 0 0 0 1 1 0 0 0\n"
      "1 0 0 0 1 1 1 2 5 6 2 2 3\n2 0 0 0 1 1 1 1 -8 0\n3 0 0 0 1 1 1 0 0\n$EndEntities\n"
      "$Nodes\n4 6 1 99\n0 1 0 1\n1\n0 0 0\n1 1 1 1\n40\n1 0 0 0.5\n"
      "2 2 1 1\n3\n0 1 0 0.25 0.75\n3 1 1 3\n99\n50\n2\n0 0 1 .1 .2 .3\n1 1 1 0 0 0\n2 2 2 0 0 0\n"
      "$EndNodes\n$Periodic\n0\n$EndPeriodic\n"
      "$Elements\n6 7 1 7\n0 1 15 1\n1 1\n1 1 1 1\n2 1 40\n2 2 2 1\n3 1 40 3\n"
      "2 3 2 1\n4 1 40 99\n3 1 4 2\n5 1 40 3 99\n6 40 3 99 50\n3 2 4 1\n7 3 99 50 2\n"
      "$EndElements\n");
  ASSERT_EQ(mesh.position.size(), 6u);
  EXPECT_EQ(mesh.position[1], (Point{1, 0, 0}));
  EXPECT_EQ(mesh.position[2], (Point{0, 1, 0}));
  EXPECT_EQ(mesh.position[5], (Point{2, 2, 2}));
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{5, 5, 8}));
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}, {0, 1, 3}}));
  EXPECT_EQ(mesh.surface, (std::vector<int>{7, 0}));
  ASSERT_EQ(mesh.names.size(), 1u);
  EXPECT_EQ(mesh.names[0].name, "bone");
}

/// Names have no dimension in format 2.0.
TEST(Gmsh, ReadsFormat20) {
  for (const std::string version : {"2", "2.0", "2.1"}) {
    const SolidMesh mesh =
        read("\xEF\xBB\xBF$MeshFormat\n" + version +
             " 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n7 \"face\"\n5 \"steel\"\n6 \"none\"\n"
             "$EndPhysicalNames\n" +
             nodes_2 + "$Elements\n2\n1 2 2 7 1 1 2 3\n2 4 3 5 1 0 1 2 3 4\n$EndElements\n");
    EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{5}));
    ASSERT_EQ(mesh.names.size(), 2U);
    EXPECT_EQ(mesh.names[0].name, "face");
    EXPECT_EQ(mesh.names[0].dimension, 2);
    EXPECT_EQ(mesh.names[1].name, "steel");
    EXPECT_EQ(mesh.names[1].dimension, 3);
  }
}

/// Points have a box, blocks begin with the number of the entity, and each node's coordinates
/// follow its number.
TEST(Gmsh, ReadsFormat40) {
  for (const std::string version : {"4", "4.0"}) {
    const SolidMesh mesh =
        read("$MeshFormat\n" + version +
             " 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 5 \"bone\"\n$EndPhysicalNames\n"
             "$Entities\n1 1 1 1\n1 0 0 0 0 0 0 0\n1 0 0 0 1 0 0 0 2 1 -1\n"
             "2 0 0 0 1 1 0 1 -7 1 1\n3 0 0 0 1 1 1 2 5 6 1 2\n$EndEntities\n"
             "$Nodes\n4 5\n1 0 0 1\n1 0 0 0\n1 1 1 1\n40 1 0 0 0.5\n"
             "2 2 1 1\n3 0 1 0 0.25 0.75\n3 3 1 2\n99 0 0 1\n50 1 1 1\n$EndNodes\n"
             "$Elements\n4 5\n1 0 15 1\n1 1\n1 1 1 1\n2 1 40\n2 2 2 1\n3 1 40 3\n"
             "3 3 4 2\n4 1 40 3 99\n5 40 3 99 50\n$EndElements\n");
    ASSERT_EQ(mesh.position.size(), 5U);
    EXPECT_EQ(mesh.position[1], (Point{1, 0, 0}));
    EXPECT_EQ(mesh.position[4], (Point{1, 1, 1}));
    EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {1, 2, 3, 4}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{5, 5}));
    EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
    EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
    EXPECT_EQ(mesh.names.size(), 1U);
  }
}

TEST(Gmsh, ReadsElementsOfSeveralGroupsOnce) {
  const SolidMesh mesh = read(head_2 + nodes_2 +
                              "$Elements\n6\n1 2 2 7 1 1 2 3\n2 2 2 8 1 1 2 3\n"
                              "3 4 2 5 1 1 2 3 4\n4 4 2 9 1 1 2 3 4\n5 4 2 4 1 1 2 3 4\n"
                              "6 4 2 5 1 2 1 3 4\n$EndElements\n");
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {1, 0, 2, 3}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{5, 5}));
  EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
}

TEST(Gmsh, ReadsFormat4WithoutEntities) {
  const SolidMesh mesh = read(elements_4("3 1 4 1\n1 1 2 3 4"));
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{0}));
}

TEST(Gmsh, RefusesOtherFormats) {
  expect_refused(
      {{"", "m.msh:1: not a Gmsh mesh: it must begin with $MeshFormat, or in format 1 with $NOD"},
       {"$Nodes\n",
        "m.msh:1: not a Gmsh mesh: it must begin with $MeshFormat, or in format 1 with $NOD"},
       {"$MeshFormat\n3 0 8\n",
        "m.msh:2: format '3' is not supported; 1, 2.0 to 2.2, 4.0 and 4.1 are"},
       {head_2 + "$Nodes\n1\x03\n", "m.msh:5: control byte 0x03 in the text"},
       {"$MeshFormat\n2.2 2 8\n", "m.msh:2: 2 is neither 0 (text) nor 1 (binary)"},
       {"$MeshFormat\n4.1 0 4\n", "m.msh:2: numbers of 4 bytes are not supported; those of 8 are"},
       {"$MeshFormat\n4.1 0 8\n$Nodes\n", "m.msh:3: '$Nodes' where $EndMeshFormat is needed"},
       {"$MeshFormat\n4.1 0", "m.msh:2: the file ends too early"}},
      read);
}

TEST(Gmsh, RefusesSectionsInDisorder) {
  expect_refused({{head_2, "m.msh:4: the file has no $Nodes"},
                  {head_2 + nodes_2, "m.msh:11: the file has no tetrahedra"},
                  {head_2 + nodes_2 + nodes_2, "m.msh:11: $Nodes is given twice"},
                  {head_2 + "$Elements\n0\n$EndElements\n", "m.msh:4: $Elements before $Nodes"},
                  {head_2 + nodes_2 + "$Elements\n0\n$EndElements\n$Elements\n0\n$EndElements\n",
                   "m.msh:14: $Elements is given twice"},
                  {head_2 + "nodes\n", "m.msh:4: 'nodes' where a section, $..., is needed"},
                  {head_2 + "$NodeData\n1\n $EndNodeData\n$EndNodeDatas\n",
                   "m.msh:4: section '$NodeData' does not end"},
                  {head_4 + "$PartitionedEntities\n",
                   "m.msh:4: a partitioned mesh is not supported; save it as a whole"},
                  {head_2 + "$PhysicalNames\n1\n3 1 steel\n$EndPhysicalNames\n",
                   "m.msh:6: name 1 of 1: a name in quotation marks is needed"},
                  {head_2 + "$PhysicalNames\n1\n3 1 \"steel\n$EndPhysicalNames\n",
                   "m.msh:6: name 1 of 1: a name in quotation marks is needed"},
                  {head_2 + "$PhysicalNames\n1\n3 1 \"\"\n2 1 \"x\"\n$EndPhysicalNames\n",
                   "m.msh:7: '2' where $EndPhysicalNames is needed"}},
                 read);
}

TEST(Gmsh, RefusesElementsThatAreNotLinearTetrahedraOrTriangles) {
  const std::string only = "; only linear tetrahedra and triangles are read";
  expect_refused(
      {{elements_2("12 11 2 0 1 1 2 3 4 1 1 1 1 1 1"),
        "m.msh:13: element 12 is a quadratic tetrahedron (type 11)" + only},
       {elements_2("12 5 0 1 2 3 4 1 2 3 4"),
        "m.msh:13: element 12 is a hexahedron (type 5)" + only},
       {elements_2("12 9 0 1 2 3 1 1 1"),
        "m.msh:13: element 12 is a quadratic triangle (type 9)" + only},
       {elements_2("12 3 0 1 2 3 1"), "m.msh:13: element 12 is a quadrangle (type 3)" + only},
       {elements_2("12 -1 0 1"), "m.msh:13: element 12 is of type -1" + only},
       {elements_4("3 1 11 1\n1 1 2 3 4 1 1 1 1 1 1"),
        "m.msh:18: an element is a quadratic tetrahedron (type 11)" + only},
       {elements_4("3 1 6 1\n1 1 2 3 4 1 1"), "m.msh:18: an element is a prism (type 6)" + only},
       {elements_4("3 1 999 1\n1 1 2 3"), "m.msh:18: an element is of type 999" + only}},
      read);
}

TEST(Gmsh, RefusesNodesOfOneNumber) {
  expect_refused(
      {{head_2 + "$Nodes\n4\n1 0 0 0\n2 0 0 0\n2 0 0 0\n1 0 0 0\n$EndNodes\n",
        "m.msh:8: node 2 appears twice"},
       {head_2 + "$Nodes\n4\n7 0 0 0\n900000000 0 0 0\n7 0 0 0\n900000000 0 0 0\n$EndNodes\n",
        "m.msh:8: node 7 appears twice"},
       {head_4 + "$Nodes\n1 2 1 2\n3 1 0 2\n5\n5\n0 0 0\n1 0 0\n$EndNodes\n",
        "m.msh:8: node 5 appears twice"},
       {head_2 + "$Nodes\n1\n-3 0 0 0\n$EndNodes\n",
        "m.msh:6: node 1 of 1: -3 is not a valid node number"}},
      read);
}

TEST(Gmsh, NamesElementsOfNodesThatAreNotThere) {
  const auto range = ErrorKind::out_of_range;
  expect_refused({{elements_2("12 4 2 0 1 1 2 3 5"),
                   "m.msh:13: element 12 refers to node 5, which does not exist", range},
                  {elements_2("12 2 0 1 2 0"),
                   "m.msh:13: element 12 refers to node 0, which does not exist", range},
                  {elements_4("3 1 4 1\n8 1 2 3 99999999999"),
                   "m.msh:19: element 8 refers to node 99999999999, which does not exist", range},
                  {head_2 + "$Nodes\n2\n7 0 0 0\n900000000 0 0 0\n$EndNodes\n$Elements\n1\n"
                            "3 2 0 7 900000000 8\n$EndElements\n",
                   "m.msh:11: element 3 refers to node 8, which does not exist", range}},
                 read);
}

TEST(Gmsh, RefusesCountsThatDoNotMatch) {
  const std::string block_4 = "3 1 4 1\n1 1 2 3 4\n";
  expect_refused(
      {{head_2 + "$Nodes\n99999999999\n1 0 0 0\n$EndNodes\n",
        "m.msh:5: 99999999999 nodes do not fit in the 19 bytes that follow"},
       {head_2 + "$Nodes\n-1\n$EndNodes\n", "m.msh:5: -1 is not a valid number of nodes"},
       {head_2 + "$Nodes\n2\n1 0 0 0\n$EndNodes\n",
        "m.msh:7: node 2 of 2: '$EndNodes' is not a whole number"},
       {head_2 + "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n",
        "m.msh:7: '2' where $EndNodes is needed"},
       {head_2 + nodes_2 + "$Elements\n2\n1 4 2 0 1 1 2 3 4\n$EndElements\n",
        "m.msh:14: element 2 of 2: '$EndElements' is not a whole number"},
       {elements_2("1 4 -1 1 2 3 4"), "m.msh:13: element 1 of 1: -1 is not a valid number of tags"},
       {elements_2("1 4 2 0 1 1 2 3 4\n2 4 2 0 1 1 2 3 4"),
        "m.msh:14: '2' where $EndElements is needed"},
       {head_4 + "$Nodes\n1 3 1 3\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n",
        "m.msh:6: block 1 of 1: more nodes than the 3 that the section promises"},
       {head_4 + "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
        "m.msh:8: nodes: the section holds 1 and promises 2"},
       {head_4 + nodes_4 + "$Elements\n2 1 1 1\n" + block_4 + block_4 + "$EndElements\n",
        "m.msh:20: block 2 of 2: more elements than the 1 that the section promises"},
       {head_4 + nodes_4 + "$Elements\n1 2 1 1\n" + block_4 + "$EndElements\n",
        "m.msh:19: elements: the section holds 1 and promises 2"},
       {head_4 + nodes_4 + "$Elements\n1 99999999 1 1\n" + block_4 + "$EndElements\n",
        "m.msh:17: 99999999 elements do not fit in the 36 bytes that follow"},
       {head_4 + "$Entities\n0 0 0 88888888\n$EndEntities\n",
        "m.msh:5: 88888888 entities do not fit in the 14 bytes that follow"},
       {head_4 + "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 9999999 0\n$EndEntities\n",
        "m.msh:6: volume 1 of 1: 9999999 groups do not fit in the 16 bytes that follow"}},
      read);
}

TEST(Gmsh, RefusesNumbersThatAreNone) {
  expect_refused(
      {{head_2 + "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", "m.msh:6: node 1 of 1: 'nan' is not finite",
        ErrorKind::not_finite},
       {head_4 + "$Nodes\n1 1 1 1\n0 1 0 1\n1\n0 0 inf\n$EndNodes\n",
        "m.msh:8: node 1 of 1: 'inf' is not finite", ErrorKind::not_finite},
       {head_2 + "$Nodes\n1\n1 0 x 0\n$EndNodes\n", "m.msh:6: node 1 of 1: 'x' is not a number"},
       {elements_2("1 4.0 2"), "m.msh:13: element 1 of 1: '4.0' is not a whole number"},
       {elements_2("3000000000 4 2"),
        "m.msh:13: element 1 of 1: '3000000000' is too large a number"}},
      read);
}

TEST(Gmsh, CutAnywhereIsRefused) {
  for (const std::string& text :
       {elements_2("1 4 2 5 1 1 2 3 4"), elements_4("3 1 4 1\n1 1 2 3 4")}) {
    ASSERT_EQ(read(text).tetrahedron.size(), 1u);
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {
      EXPECT_THROW(read(text.substr(0, size)), Error) << size;
    }
  }
}

}  // namespace
