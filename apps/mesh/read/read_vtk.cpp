#include <bit>
#include <string>

#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "vtk_grid.hpp"
#include "vtk_numbers.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

class VtkReader {
 public:
  explicit VtkReader(const NamedBytes& file)
      : scan_(file.path, file.bytes),
        is_binary_(read_head()),
        numbers_(scan_, !is_binary_, std::endian::native != std::endian::big) {}

  VtkGrid read() && {
    need("DATASET");
    const std::string kind = keyword();
    if (kind != "UNSTRUCTURED_GRID" && kind != "POLYDATA") {
      scan_.fail(malformed, "dataset " + in_quotes(kind) +
                                " is not supported; UNSTRUCTURED_GRID and POLYDATA are");
    }
    is_poly_data_ = kind == "POLYDATA";
    while (!scan_.at_end()) read_section(keyword());
    return std::move(grid_);
  }

 private:
  /// Returns true if numbers are bytes.
  bool read_head() {
    constexpr std::string_view begin[] = {"#", "vtk", "DataFile", "Version"};
    for (const std::string_view word : begin) {
      if (scan_.at_end() || !is_keyword(scan_.word(), word)) {
        scan_.fail(malformed, "not a VTK file: it must begin with # vtk DataFile Version");
      }
    }
    const std::string_view version = scan_.word();
    if (version.size() < 3 || version[0] < '2' || version[0] > '5' || version[1] != '.') {
      scan_.fail(malformed, "version " + in_quotes(version) + " is not supported; 2.0 to 5.1 are");
    }
    has_offsets_ = version[0] == '5';
    scan_.skip_line_end();
    scan_.skip_line();  // the title
    const std::string coding = keyword();
    if (coding != "ASCII" && coding != "BINARY") {
      scan_.fail(malformed, in_quotes(coding) + " where ASCII or BINARY is needed");
    }
    if (coding == "BINARY") scan_.set_binary();
    return coding == "BINARY";
  }

  /// The next word in upper case: VTK accepts keywords in any case.
  std::string keyword() {
    std::string word(scan_.word());
    for (char& c : word) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return word;
  }

  void need(std::string_view keyword) {
    const std::string_view word = scan_.word();
    if (!is_keyword(word, keyword)) {
      scan_.fail(malformed, in_quotes(word) + " where " + std::string(keyword) + " is needed");
    }
  }

  const VtkType& type() {
    const std::string_view name = scan_.word();
    const VtkType* const found = find_vtk_type(name);
    if (found == nullptr)
      scan_.fail(malformed, "numbers of type " + in_quotes(name) + " are not supported");
    return *found;
  }

  /// `count` numbers follow, on the next line if they are bytes.
  void begin_data(const VtkType& type, long long count, const char* what = "numbers") {
    scan_.check_count(count, what, numbers_.min_bytes(type));
    if (is_binary_) scan_.skip_line_end();
    scan_.check_count(count, what, numbers_.min_bytes(type));
  }

  std::vector<long long> integers(const VtkType& type, long long count) {
    if (!type.is_whole()) scan_.fail(malformed, "whole numbers are needed");
    begin_data(type, count);
    std::vector<long long> values(static_cast<std::size_t>(count));
    for (long long& value : values) value = numbers_.integer(type);
    return values;
  }

  void read_section(std::string_view keyword) {
    if (keyword == "POINTS") return read_points();
    if (keyword == "CELLS" || (is_poly_data_ && keyword == "POLYGONS")) return read_cells(true);
    if (keyword == "VERTICES" || keyword == "LINES") return read_cells(false);
    if (keyword == "CELL_TYPES") {
      const long long count = scan_.count("cells", 1);
      grid_.type = integers(*find_vtk_type("int"), count);
    } else if (keyword == "CELL_DATA" || keyword == "POINT_DATA") {
      is_cell_data_ = keyword == "CELL_DATA";
      tuples_ = scan_.count("tuples", 1);
    } else if (keyword == "METADATA") {
      skip_to_empty_line();
    } else {
      read_attribute(keyword);
    }
  }

  void read_points() {
    if (!grid_.position.empty()) scan_.fail(malformed, "POINTS is given twice");
    const long long count = scan_.count("points", 3);
    const VtkType& of = type();
    begin_data(of, 3 * count);
    grid_.position.resize(static_cast<std::size_t>(count));
    long long number = 0;
    for (Point& point : grid_.position) {
      scan_.begin_record("point", ++number, count);
      for (double& x : point) x = numbers_.real(of);
    }
    scan_.end_records();
  }

  /// In a surface, polygons are the cells; VERTICES and LINES are skipped.
  void read_cells(bool are_kept) {
    const long long first = scan_.integer(), second = scan_.integer();
    std::vector<long long> corner, end;
    if (has_offsets_) {
      need("OFFSETS");
      const VtkType& of_ends = type();
      end = integers(of_ends, first);
      need("CONNECTIVITY");
      const VtkType& of_corners = type();
      corner = integers(of_corners, second);
      if (!end.empty()) end.erase(end.begin());  // start of the first cell
    } else {
      split(first, integers(*find_vtk_type("int"), second), corner, end);
    }
    if (!are_kept) return;
    if (!grid_.end.empty()) scan_.fail(malformed, "cells are given twice");
    if (is_poly_data_) grid_.type.assign(end.size(), vtk_polygon);
    grid_.corner = std::move(corner);
    grid_.end = std::move(end);
  }

  /// Each cell is stored as the number of its corners, then the corners.
  void split(long long cells, const std::vector<long long>& numbers, std::vector<long long>& corner,
             std::vector<long long>& end) const {
    for (std::size_t i = 0; i < numbers.size();) {
      const long long corners = numbers[i++];
      if (corners < 0 || corners > static_cast<long long>(numbers.size() - i)) {
        scan_.fail(malformed, "cell " + std::to_string(end.size()) + " has " +
                                  std::to_string(corners) + " corners");
      }
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(i);
      corner.insert(corner.end(), begin, begin + corners);
      end.push_back(static_cast<long long>(corner.size()));
      i += static_cast<std::size_t>(corners);
    }
    if (static_cast<long long>(end.size()) != cells) {
      scan_.fail(malformed, std::to_string(end.size()) + " cells where " + std::to_string(cells) +
                                " are promised");
    }
  }

  void skip_to_empty_line() {
    do {
      scan_.skip_line();
      if (scan_.is_after_last_byte()) return;
      scan_.skip_line_end();
    } while (!scan_.at_line_end());
  }

  void read_attribute(std::string_view keyword) {
    if (keyword == "FIELD") return read_fields();
    const std::string name(scan_.word());
    if (keyword == "SCALARS") {
      const VtkType& of = type();
      const long long components = scan_.at_line_end() ? 1 : scan_.count("components", 1);
      if (is_binary_) scan_.skip_line_end();
      need("LOOKUP_TABLE");
      scan_.word();
      return read_array(name, of, components, tuples_);
    }
    if (keyword == "LOOKUP_TABLE" || keyword == "COLOR_SCALARS") {
      const long long count = scan_.count("colours", 1);
      const bool is_table = keyword == "LOOKUP_TABLE";
      const VtkType& byte = *find_vtk_type("unsigned_char");
      return read_array("", byte, is_table ? 4 : count, is_table ? count : tuples_);
    }
    long long components = 1;
    if (keyword == "VECTORS" || keyword == "NORMALS") {
      components = 3;
    } else if (keyword == "TENSORS") {
      components = 9;
    } else if (keyword == "TENSORS6") {
      components = 6;
    } else if (keyword == "TEXTURE_COORDINATES") {
      components = scan_.count("components", 1);
    } else if (keyword != "GLOBAL_IDS" && keyword != "PEDIGREE_IDS") {
      scan_.fail(malformed, in_quotes(keyword) + " is not supported");
    }
    read_array(name, type(), components, tuples_);
  }

  void read_fields() {
    scan_.word();
    const long long count = scan_.count("arrays", 4);
    for (long long i = 0; i < count; ++i) {
      std::string name(scan_.word());
      if (is_keyword(name, "METADATA")) {
        skip_to_empty_line();
        name = scan_.word();
      }
      const long long components = scan_.count("components", 1);
      const long long tuples = scan_.integer();
      scan_.check_count(tuples, "tuples", 1);
      read_array(name, type(), components, tuples);
    }
  }

  void read_array(const std::string& name, const VtkType& of, long long components,
                  long long tuples) {
    // Cell data of POLYDATA count vertices and lines too, and surfaces have no groups.
    const bool may_be_group = is_cell_data_ && !is_poly_data_ && grid_.group.empty();
    if (may_be_group && components == 1 && of.is_whole() && is_group_name(name)) {
      grid_.group = integers(of, tuples);
      return;
    }
    begin_data(of, components * tuples);
    numbers_.skip(of, components * tuples);
  }

  TextScanner scan_;
  bool has_offsets_ = false;
  bool is_binary_;
  VtkNumbers numbers_;
  VtkGrid grid_;
  bool is_poly_data_ = false, is_cell_data_ = false;
  long long tuples_ = 0;
};

}  // namespace

VtkGrid read_vtk(const NamedBytes& file) { return VtkReader(file).read(); }

}  // namespace heddle::mesh
