#include "vtu_file.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "xml_attribute.hpp"

namespace heddle::mesh {

namespace {

constexpr std::uint8_t vtk_tetra = 10;

void check_array(const VtuArray& array, std::size_t rows, const char* of) {
  if (array.name.empty()) throw Error(ErrorKind::usage, std::string(of) + " data without a name");
  const std::string name = std::string(of) + " data '" + std::string(array.name) + "'";
  const int n = array.components;
  if (n != 1 && n != 3 && n != 6 && n != 9) {
    throw Error(ErrorKind::usage,
                name + " has " + std::to_string(n) + " components; 1, 3, 6 and 9 are possible");
  }
  if (array.values.size() != rows * static_cast<std::size_t>(n)) {
    throw Error(ErrorKind::size_mismatch, name + " has " + std::to_string(array.values.size()) +
                                              " numbers; " + std::to_string(rows) + " times " +
                                              std::to_string(n) + " are needed");
  }
}

void check_arrays(std::span<const VtuArray> arrays, std::size_t rows, const char* of) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    check_array(arrays[i], rows, of);
    for (std::size_t k = 0; k < i; ++k) {
      if (arrays[k].name != arrays[i].name) continue;
      throw Error(ErrorKind::usage,
                  std::string(of) + " data '" + std::string(arrays[i].name) + "' appears twice");
    }
  }
}

void check_corners(const VtuContents& contents) {
  const auto points = static_cast<long long>(contents.position.size());
  for (std::size_t i = 0; i < contents.tetrahedron.size(); ++i) {
    for (const Index corner : contents.tetrahedron[i]) {
      if (corner >= 0 && corner < points) continue;
      throw Error(ErrorKind::out_of_range, "tetrahedron " + std::to_string(i) +
                                               " refers to vertex " + std::to_string(corner) +
                                               " of " + std::to_string(points));
    }
  }
}

/// The XML before the arrays, with the offset of each array after it.
class Header {
 public:
  explicit Header(const VtuContents& contents) {
    const std::size_t points = contents.position.size(), cells = contents.tetrahedron.size();
    text_ =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"";
    text_ += vtk_byte_order();
    text_ += "\" header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"" +
             std::to_string(points) + "\" NumberOfCells=\"" + std::to_string(cells) + "\">\n";
    add_arrays("PointData", contents.point_data);
    add_arrays("CellData", contents.cell_data);
    text_ += "      <Points>\n";
    add("Float64", "Points", 3, points * sizeof(Point));
    text_ += "      </Points>\n      <Cells>\n";
    add("Int64", "connectivity", 1, 4 * cells * sizeof(std::int64_t));
    add("Int64", "offsets", 1, cells * sizeof(std::int64_t));
    add("UInt8", "types", 1, cells);
    text_ +=
        "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData "
        "encoding=\"raw\">\n_";
  }

  const std::string& text() const { return text_; }

 private:
  void add_arrays(const std::string& element, std::span<const VtuArray> arrays) {
    text_ += "      <" + element + ">\n";
    for (const VtuArray& array : arrays) {
      add("Float64", xml_attribute(array.name, "the name of an array"), array.components,
          array.values.size_bytes());
    }
    text_ += "      </" + element + ">\n";
  }

  void add(const char* type, const std::string& name, int components, std::size_t bytes) {
    text_ += std::string("        <DataArray type=\"") + type + "\" Name=\"" + name + "\"";
    if (components > 1) text_ += " NumberOfComponents=\"" + std::to_string(components) + "\"";
    text_ += " format=\"appended\" offset=\"" + std::to_string(offset_) + "\"/>\n";
    offset_ += sizeof(std::uint64_t) + bytes;
  }

  std::string text_;
  std::uint64_t offset_ = 0;
};

/// Writes bytes in portions, so that the buffer stays small.
void write_bytes(OutputFile& file, const void* data, std::size_t size) {
  constexpr std::size_t portion = std::size_t(1) << 16;
  std::string_view left(static_cast<const char*>(data), size);
  while (!left.empty()) {
    file.write(left.substr(0, portion));
    left.remove_prefix(std::min(portion, left.size()));
  }
}

void write_length(OutputFile& file, std::uint64_t bytes) {
  write_bytes(file, &bytes, sizeof bytes);
}

template <class T>
void write_array(OutputFile& file, std::span<const T> values) {
  write_length(file, values.size_bytes());
  write_bytes(file, values.data(), values.size_bytes());
}

void write_cells(OutputFile& file, std::span<const std::array<Index, 4>> cells) {
  write_length(file, 4 * cells.size() * sizeof(std::int64_t));
  for (const auto& cell : cells) {
    const std::array<std::int64_t, 4> corner = {cell[0], cell[1], cell[2], cell[3]};
    write_bytes(file, corner.data(), sizeof corner);
  }
  write_length(file, cells.size() * sizeof(std::int64_t));
  for (std::size_t i = 1; i <= cells.size(); ++i) {
    const auto end = static_cast<std::int64_t>(4 * i);
    write_bytes(file, &end, sizeof end);
  }
  const std::vector<std::uint8_t> types(cells.size(), vtk_tetra);
  write_array<std::uint8_t>(file, types);
}

}  // namespace

void write_vtu(const std::string& path, const VtuContents& contents) {
  check_arrays(contents.point_data, contents.position.size(), "point");
  check_arrays(contents.cell_data, contents.tetrahedron.size(), "cell");
  check_corners(contents);
  const Header header(contents);
  OutputFile file(path);
  file.write(header.text());
  for (const VtuArray& array : contents.point_data) write_array(file, array.values);
  for (const VtuArray& array : contents.cell_data) write_array(file, array.values);
  write_array(file, contents.position);
  write_cells(file, contents.tetrahedron);
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.commit();
}

}  // namespace heddle::mesh
