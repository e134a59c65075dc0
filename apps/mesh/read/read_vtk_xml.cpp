#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <pugixml.hpp>
#include <string>

#include "heddle/tools/text.hpp"
#include "vtk_data.hpp"
#include "vtk_grid.hpp"
#include "vtk_numbers.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

class VtkXmlReader {
 public:
  explicit VtkXmlReader(const NamedBytes& file) : file_(file) { load(); }

  VtkGrid read() && {
    const pugi::xml_node root = document_.child("VTKFile");
    if (!root) refuse("not a VTK file: it has no element VTKFile");
    const std::string kind = root.attribute("type").value();
    if (kind != "UnstructuredGrid" && kind != "PolyData") {
      refuse("a file of type " + in_quotes(kind) +
             " is not supported; UnstructuredGrid and PolyData are");
    }
    read_coding(root);
    const pugi::xml_node piece = root.child(kind.c_str()).child("Piece");
    if (!piece) refuse("the file has no Piece");
    if (piece.next_sibling("Piece"))
      refuse("a file in several pieces is not supported; save it in one piece");
    const long long points = count(piece, "NumberOfPoints");
    const std::vector<double> coordinates =
        numbers<double>(need_array(piece, "Points", nullptr), {"Points", points, 3});
    grid_.position.resize(coordinates.size() / 3);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      grid_.position[i / 3][i % 3] = coordinates[i];
    }
    kind == "PolyData" ? read_polygons(piece) : read_cells(piece);
    return std::move(grid_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::malformed_file, std::string(file_.path) + ": " + what);
  }

  /// Bytes after the XML do not belong to it, so the XML is cut before them.
  void load() {
    const std::size_t element = file_.bytes.find("<AppendedData");
    const std::size_t mark = element == file_.bytes.npos ? element : file_.bytes.find('_', element);
    std::string xml(file_.bytes.substr(0, mark));
    refuse_control_bytes(file_.bytes.substr(0, mark));
    if (mark != file_.bytes.npos) {
      appended_ = file_.bytes.substr(mark + 1);
      xml += "</AppendedData></VTKFile>";
    }
    const pugi::xml_parse_result parsed =
        document_.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) refuse(std::string("not valid XML: ") + parsed.description());
  }

  void read_coding(const pugi::xml_node& root) {
    const std::string order = root.attribute("byte_order").as_string("LittleEndian");
    const std::string lengths = root.attribute("header_type").as_string("UInt32");
    const std::string compressor = root.attribute("compressor").value();
    if (order != "LittleEndian" && order != "BigEndian")
      refuse(in_quotes(order) + " is not a byte order");
    if (lengths != "UInt32" && lengths != "UInt64") {
      refuse("lengths of type " + in_quotes(lengths) + " are not supported");
    }
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor") {
      refuse("data of " + in_quotes(compressor) +
             " are not supported; those of vtkZLibDataCompressor are");
    }
    coding_.has_long_lengths = lengths == "UInt64";
    coding_.is_swapped = (order == "LittleEndian") != (std::endian::native == std::endian::little);
    coding_.is_compressed = !compressor.empty();
    const std::string encoding = root.child("AppendedData").attribute("encoding").value();
    is_appended_raw_ = encoding == "raw";
    if (!is_appended_raw_) refuse_control_bytes(appended_);
  }

  /// Checks a part of the file.
  void refuse_control_bytes(std::string_view part) const {
    const std::size_t at = find_control_byte(part);
    if (at == part.npos) return;
    const auto begin = static_cast<std::size_t>(part.data() - file_.bytes.data());
    TextScanner(file_.path, file_.bytes).fail_control_byte(begin + at);
  }

  long long count(const pugi::xml_node& piece, const char* name) const {
    const std::string_view text = piece.attribute(name).value();
    long long value = -1;
    const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || after != text.data() + text.size() || value < 0) {
      refuse(std::string(name) + " is " + in_quotes(text) + ", which is not a valid number");
    }
    return value;
  }

  /// The count of numbers that an array must have: `each` for each of `count` things.
  struct Wanted {
    const char* array;
    long long count;
    long long each = 1;
  };

  void check_size(const Wanted& wanted, std::uint64_t size) const {
    const auto each = static_cast<std::uint64_t>(wanted.each);
    if (size % each == 0 && static_cast<long long>(size / each) == wanted.count) return;
    const std::string each_of = each > 1 ? std::to_string(each) + " of each of " : "";
    refuse(std::string(wanted.array) + " has " + std::to_string(size) + " numbers where " +
           each_of + std::to_string(wanted.count) + " are needed");
  }

  /// Takes the first array if no name is given.
  pugi::xml_node need_array(const pugi::xml_node& piece, const char* of, const char* name) const {
    const pugi::xml_node parent = piece.child(of);
    const pugi::xml_node array = name == nullptr
                                     ? parent.child("DataArray")
                                     : parent.find_child_by_attribute("DataArray", "Name", name);
    if (!array) refuse(std::string(of) + " has no array " + (name == nullptr ? "" : name));
    return array;
  }

  /// An array in packed form; `decoded` keeps the bytes decoded from base64.
  std::string_view packed(const pugi::xml_node& array, std::string& decoded) const {
    const std::string format = array.attribute("format").value();
    if (format == "binary") return decoded = from_base64(array.text().get());
    if (format != "appended") refuse(in_quotes(format) + " is not an array format");
    const auto offset = static_cast<unsigned long long>(count(array, "offset"));
    if (offset > appended_.size()) refuse("an array begins beyond the end of the file");
    const std::string_view rest = appended_.substr(offset);
    if (is_appended_raw_) return rest;
    return decoded = from_base64(rest);
  }

  /// The bytes of an array; their number is checked before any is inflated.
  std::string bytes_of(const pugi::xml_node& array, const VtkType& type, const std::string& name,
                       const Wanted& wanted) const {
    const std::string where = std::string(file_.path) + ": " + name;
    std::string decoded;
    const std::string_view bytes = packed(array, decoded);
    const std::uint64_t size = unpacked_size(bytes, coding_, where);
    if (size % type.size != 0) refuse(name + "a number is cut off");
    check_size(wanted, size / type.size);
    return unpacked(bytes, coding_, where);
  }

  /// All numbers of an array.
  template <class T>
  std::vector<T> numbers(const pugi::xml_node& array, const Wanted& wanted) const {
    const std::string name = "array " + in_quotes(array.attribute("Name").value()) + ": ";
    const std::string_view type_name = array.attribute("type").value();
    const VtkType* const type = find_vtk_type(type_name);
    if (type == nullptr || (!type->is_whole() && std::is_integral_v<T>)) {
      refuse(name + "numbers of type " + in_quotes(type_name) + " are not supported here");
    }
    const bool is_text = std::strcmp(array.attribute("format").as_string("ascii"), "ascii") == 0;
    const std::string bytes = is_text ? array.text().get() : bytes_of(array, *type, name, wanted);
    const std::string scanned = std::string(file_.path) + ": " + name.substr(0, name.size() - 2);
    TextScanner scan(scanned, bytes);
    scan.set_binary();  // its lines are not the file's
    VtkNumbers values(scan, is_text, coding_.is_swapped);
    std::vector<T> result;
    if (!is_text) result.reserve(bytes.size() / type->size);
    while (is_text ? !scan.at_end() : !scan.is_after_last_byte()) {
      if constexpr (std::is_integral_v<T>) {
        result.push_back(values.integer(*type));
      } else {
        result.push_back(values.real(*type));
      }
    }
    if (is_text) check_size(wanted, result.size());
    return result;
  }

  /// Corners of all cells, and the end of each cell.
  void read_corners(const pugi::xml_node& piece, const char* of, long long cells) {
    grid_.end = numbers<long long>(need_array(piece, of, "offsets"), {"offsets", cells});
    const long long corners = grid_.end.empty() ? 0 : grid_.end.back();
    grid_.corner =
        numbers<long long>(need_array(piece, of, "connectivity"), {"connectivity", corners});
  }

  void read_cells(const pugi::xml_node& piece) {
    const long long cells = count(piece, "NumberOfCells");
    read_corners(piece, "Cells", cells);
    grid_.type = numbers<long long>(need_array(piece, "Cells", "types"), {"types", cells});
    for (const pugi::xml_node array : piece.child("CellData").children("DataArray")) {
      const VtkType* const type = find_vtk_type(array.attribute("type").value());
      const bool is_whole = type != nullptr && type->is_whole();
      if (!is_whole || !is_group_name(array.attribute("Name").value())) continue;
      if (array.attribute("NumberOfComponents").as_int(1) > 1) continue;
      grid_.group = numbers<long long>(array, {"groups", cells});
      return;
    }
  }

  void read_polygons(const pugi::xml_node& piece) {
    if (piece.attribute("NumberOfStrips") && count(piece, "NumberOfStrips") > 0) {
      refuse("strips of triangles are not supported");
    }
    const long long polygons = count(piece, "NumberOfPolys");
    read_corners(piece, "Polys", polygons);
    grid_.type.assign(grid_.end.size(), vtk_polygon);
  }

  NamedBytes file_;
  pugi::xml_document document_;
  std::string_view appended_;
  bool is_appended_raw_ = false;
  VtkCoding coding_;
  VtkGrid grid_;
};

}  // namespace

VtkGrid read_vtk_xml(const NamedBytes& file) { return VtkXmlReader(file).read(); }

}  // namespace heddle::mesh
