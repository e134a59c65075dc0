// VTU files: their XML, the arrays after it byte by byte, and reading by another program.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>

#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "vtu_file.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

const std::vector<Point> position = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1.5}};
const std::vector<std::array<Index, 4>> tetrahedron = {{0, 1, 2, 3}, {1, 2, 3, 4}};

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.25 * static_cast<double>(i) - 1;
  return values;
}
const std::vector<double> temperature = numbers(5), displacement = numbers(15), energy = numbers(2),
                          stress = numbers(12), gradient = numbers(18);
const std::vector<VtuArray> point_data = {{"temperature", 1, temperature},
                                          {"displacement", 3, displacement}};
const std::vector<VtuArray> cell_data = {
    {"a<b & \"c\"", 1, energy}, {"stress", 6, stress}, {"gradient", 9, gradient}};

/// The value of an attribute of the XML element in `line`.
std::string attribute(const std::string& line, const std::string& name) {
  const std::string mark = " " + name + "=\"";
  const std::size_t begin = line.find(mark);
  if (begin == std::string::npos) return "none";
  return line.substr(begin + mark.size(),
                     line.find('"', begin + mark.size()) - begin - mark.size());
}

struct Array {
  std::string type, inside;
  int components = 0;
  std::string bytes;
};

/// The arrays of a file by their names, and the lines of its XML.
struct Vtu {
  std::vector<std::string> lines;
  std::map<std::string, Array> arrays;
};

Vtu parse(const std::string& file) {
  Vtu vtu;
  const std::string begin_mark = "<AppendedData encoding=\"raw\">\n_";
  const std::string end_mark = "\n  </AppendedData>\n</VTKFile>\n";
  const std::size_t begin = file.find(begin_mark);
  const std::size_t end = file.size() - end_mark.size();
  EXPECT_NE(begin, std::string::npos);
  EXPECT_EQ(file.substr(end), end_mark);
  const std::string data = file.substr(begin + begin_mark.size(), end - begin - begin_mark.size());

  std::string inside;
  std::size_t expected_offset = 0;
  for (std::size_t at = 0; at < begin;) {
    const std::size_t line_end = file.find('\n', at);
    const std::string line = file.substr(at, line_end - at);
    vtu.lines.push_back(line);
    at = line_end + 1;
    const std::string element = line.substr(std::min(line.find('<'), line.size() - 1) + 1);
    if (element.rfind("DataArray", 0) != 0) {
      inside = element.substr(0, element.find('>'));
      continue;
    }
    const std::size_t offset = std::stoul(attribute(line, "offset"));
    EXPECT_EQ(offset, expected_offset);
    EXPECT_EQ(attribute(line, "format"), "appended");
    std::uint64_t size = 0;
    std::memcpy(&size, data.data() + offset, sizeof size);
    expected_offset = offset + sizeof size + size;
    EXPECT_LE(expected_offset, data.size());
    const std::string components = attribute(line, "NumberOfComponents");
    vtu.arrays[attribute(line, "Name")] = {attribute(line, "type"), inside,
                                           components == "none" ? 1 : std::stoi(components),
                                           data.substr(offset + sizeof size, size)};
  }
  EXPECT_EQ(expected_offset, data.size());
  return vtu;
}

template <class T>
std::vector<T> values_of(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

void expect_doubles(const Vtu& vtu, const std::string& name, const std::string& inside,
                    int components, const std::vector<double>& values) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(vtu.arrays.contains(name));
  const Array& array = vtu.arrays.at(name);
  EXPECT_EQ(array.type, "Float64");
  EXPECT_EQ(array.inside, inside);
  EXPECT_EQ(array.components, components);
  EXPECT_EQ(values_of<double>(array), values);
}

TEST(Vtu, HoldsArraysAfterItsXml) {
  const TemporaryFolder folder;
  write_vtu(folder / "a.vtu", {position, tetrahedron, point_data, cell_data});
  EXPECT_EQ(folder.files(), 1u);
  const Vtu vtu = parse(contents(folder / "a.vtu"));

  EXPECT_EQ(vtu.lines[0], "<?xml version=\"1.0\"?>");
  EXPECT_EQ(attribute(vtu.lines[1], "type"), "UnstructuredGrid");
  EXPECT_EQ(attribute(vtu.lines[1], "byte_order"),
            std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian");
  EXPECT_EQ(attribute(vtu.lines[1], "header_type"), "UInt64");
  EXPECT_EQ(attribute(vtu.lines[3], "NumberOfPoints"), "5");
  EXPECT_EQ(attribute(vtu.lines[3], "NumberOfCells"), "2");

  std::vector<double> coordinates;
  for (const Point& point : position) {
    coordinates.insert(coordinates.end(), point.begin(), point.end());
  }
  expect_doubles(vtu, "Points", "Points", 3, coordinates);
  expect_doubles(vtu, "temperature", "PointData", 1, temperature);
  expect_doubles(vtu, "displacement", "PointData", 3, displacement);
  expect_doubles(vtu, "a&lt;b &amp; &quot;c&quot;", "CellData", 1, energy);
  expect_doubles(vtu, "stress", "CellData", 6, stress);
  expect_doubles(vtu, "gradient", "CellData", 9, gradient);
  EXPECT_EQ(values_of<std::int64_t>(vtu.arrays.at("connectivity")),
            (std::vector<std::int64_t>{0, 1, 2, 3, 1, 2, 3, 4}));
  EXPECT_EQ(values_of<std::int64_t>(vtu.arrays.at("offsets")), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(values_of<std::uint8_t>(vtu.arrays.at("types")), (std::vector<std::uint8_t>{10, 10}));
  EXPECT_EQ(vtu.arrays.at("types").inside, "Cells");
  EXPECT_EQ(vtu.arrays.size(), 9u);
}

TEST(Vtu, HoldsManyPoints) {
  const std::vector<Point> points(100000, Point{1, 2, 3});
  const std::vector<double> field = numbers(300000);
  const std::vector<VtuArray> data = {{"field", 3, field}};
  const TemporaryFolder folder;
  write_vtu(folder / "a.vtu", {points, tetrahedron, data, {}});
  expect_doubles(parse(contents(folder / "a.vtu")), "field", "PointData", 3, field);
}

void expect_error(const VtuContents& what, ErrorKind kind, const std::string& message) {
  const TemporaryFolder folder;
  try {
    write_vtu(folder / "a.vtu", what);
    ADD_FAILURE() << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_EQ(error.kind(), kind);
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Vtu, RefusesWhatDoesNotFit) {
  const auto of_points = [](const std::vector<VtuArray>& data, ErrorKind kind,
                            const std::string& message) {
    expect_error({position, tetrahedron, data, {}}, kind, message);
  };
  const auto usage = ErrorKind::usage;
  of_points({{"x", 2, numbers(10)}}, usage,
            "point data 'x' has 2 components; 1, 3, 6 and 9 are possible");
  of_points({{"x", 3, temperature}}, ErrorKind::size_mismatch,
            "point data 'x' has 5 numbers; 5 times 3 are needed");
  of_points({{"", 1, temperature}}, usage, "point data without a name");
  of_points({{"x", 1, temperature}, {"x", 1, temperature}}, usage, "point data 'x' appears twice");
  of_points({{"x\ny", 1, temperature}}, usage, "the name of an array has a control character");
  const std::vector<VtuArray> cells = {{"x", 1, temperature}};
  expect_error({position, tetrahedron, {}, cells}, ErrorKind::size_mismatch,
               "cell data 'x' has 5 numbers; 2 times 1 are needed");
  const std::vector<std::array<Index, 4>> outside = {{0, 1, 2, 3}, {0, 1, 2, 5}};
  expect_error({position, outside, {}, {}}, ErrorKind::out_of_range,
               "tetrahedron 1 refers to vertex 5 of 5");
  EXPECT_THROW(write_vtu("/nowhere/a.vtu", {position, tetrahedron, {}, {}}), Error);
}

/// The output of a command; nothing if it fails.
std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  return pclose(pipe) == 0 ? text : "";
}

TEST(Vtu, IsReadByMeshio) {
  // Debian's packages belong to its own Python, which another one may precede in the path.
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const std::string check = std::string(candidate) + " -c 'import meshio; print(1)' 2>&1";
    if (python.empty() && output_of(check) == "1\n") python = candidate;
  }
  if (python.empty()) {
    GTEST_SKIP() << "meshio is not there (Debian: python3-meshio)";
  }
  const TemporaryFolder folder;
  const std::string path = folder / "a.vtu";
  write_vtu(path, {position, tetrahedron, point_data, cell_data});
  const std::string script =
      folder.write("read.py",
                   "import sys, meshio\n"
                   "m = meshio.read(sys.argv[1])\n"
                   "print(m.points[4].tolist(), m.cells[0].type, m.cells[0].data.tolist())\n"
                   "for name in sorted(m.point_data):\n"
                   "    print(name, m.point_data[name].shape, m.point_data[name].flat[4])\n"
                   "for name in sorted(m.cell_data):\n"
                   "    print(name, m.cell_data[name][0].shape, m.cell_data[name][0].flat[1])\n");
  EXPECT_EQ(output_of(python + " " + script + " " + path),
            "[1.0, 1.0, 1.5] tetra [[0, 1, 2, 3], [1, 2, 3, 4]]\n"
            "displacement (5, 3) 0.0\n"
            "temperature (5,) 0.0\n"
            "a<b & \"c\" (2,) -0.75\n"
            "gradient (2, 9) -0.75\n"
            "stress (2, 6) -0.75\n");
}

}  // namespace
