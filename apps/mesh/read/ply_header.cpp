#include "ply_header.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "heddle/tools/text.hpp"
#include "malformed.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

struct TypeName {
  std::string_view name, alias;
  std::size_t size;
};

// In the order of PlyType.
constexpr TypeName types[] = {
    {"char", "int8", 1}, {"uchar", "uint8", 1}, {"short", "int16", 2},   {"ushort", "uint16", 2},
    {"int", "int32", 4}, {"uint", "uint32", 4}, {"float", "float32", 4}, {"double", "float64", 8},
};

// In the order of PlyFormat.
constexpr std::string_view formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};

class HeaderReader {
 public:
  explicit HeaderReader(TextScanner& scan) : scan_(scan) {}

  PlyHeader read() {
    if (scan_.at_end() || scan_.word() != "ply") {
      scan_.fail(malformed, "not a PLY file: it must begin with ply");
    }
    end_line();
    for (;;) {
      const std::string_view keyword = scan_.word();
      if (keyword == "end_header") break;
      if (keyword == "comment" || keyword == "obj_info") {
        scan_.skip_line();
        continue;
      }
      if (keyword == "format") {
        read_format();
      } else if (keyword == "element") {
        read_element();
      } else if (keyword == "property") {
        read_property();
      } else {
        scan_.fail(malformed, "unknown keyword " + in_quotes(keyword));
      }
      end_line();
    }
    end_line();
    if (!has_format_) scan_.fail(malformed, "the header names no format");
    return std::move(header_);
  }

 private:
  std::string_view field(const char* what) {
    scan_.need_field(what);
    return scan_.word();
  }

  void end_line() {
    if (scan_.at_line_end()) return;
    scan_.fail(malformed, in_quotes(scan_.word()) + " where the line must end");
  }

  void read_format() {
    if (has_format_) scan_.fail(malformed, "format is given twice");
    const std::string_view name = field("a format");
    const auto found = std::find(std::begin(formats), std::end(formats), name);
    if (found == std::end(formats)) {
      scan_.fail(malformed,
                 in_quotes(name) +
                     " is not a format: use ascii, binary_little_endian or binary_big_endian");
    }
    header_.format = static_cast<PlyFormat>(found - std::begin(formats));
    const std::string_view version = field("a version");
    if (version != "1.0") {
      scan_.fail(malformed, "version " + in_quotes(version) + " is not supported; 1.0 is");
    }
    has_format_ = true;
  }

  void read_element() {
    const std::string name(field("the name of an element"));
    const bool is_there = std::any_of(header_.element.begin(), header_.element.end(),
                                      [&](const PlyElement& e) { return e.name == name; });
    if (is_there) scan_.fail(malformed, "element " + in_quotes(name) + " is given twice");
    scan_.need_field();
    const long long count = scan_.integer();
    if (count < 0) {
      scan_.fail(malformed,
                 std::to_string(count) + " is not a valid number of elements " + in_quotes(name));
    }
    header_.element.push_back({name, count, {}});
  }

  PlyType read_type() {
    const std::string_view name = field("a type");
    const auto found = std::find_if(std::begin(types), std::end(types), [&](const TypeName& type) {
      return type.name == name || type.alias == name;
    });
    if (found == std::end(types)) scan_.fail(malformed, in_quotes(name) + " is not a type");
    return static_cast<PlyType>(found - std::begin(types));
  }

  void read_property() {
    if (header_.element.empty()) scan_.fail(malformed, "a property before any element");
    std::vector<PlyProperty>& known = header_.element.back().property;
    PlyProperty property;
    scan_.need_field("a type");
    const std::size_t type = scan_.offset();
    if (scan_.word() == "list") {
      property.count_type = read_type();
      if (!is_whole(*property.count_type)) {
        scan_.fail(malformed, "the length of a list must have a whole-number type");
      }
    } else {
      scan_.seek(type);
    }
    property.type = read_type();
    property.name = field("the name of a property");
    const bool is_there = std::any_of(
        known.begin(), known.end(), [&](const PlyProperty& p) { return p.name == property.name; });
    if (is_there) scan_.fail(malformed, "property " + in_quotes(property.name) + " is given twice");
    known.push_back(std::move(property));
  }

  TextScanner& scan_;
  PlyHeader header_;
  bool has_format_ = false;
};

}  // namespace

std::size_t size_of(PlyType type) { return types[static_cast<std::size_t>(type)].size; }
bool is_whole(PlyType type) { return type < PlyType::float32; }

PlyHeader read_ply_header(TextScanner& scan) { return HeaderReader(scan).read(); }

}  // namespace heddle::mesh
