#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "binary_numbers.hpp"
#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "ply_header.hpp"
#include "surface_builder.hpp"
#include "surface_readers.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

/// Numbers as text, one line per element.
class TextNumbers {
 public:
  static std::size_t min_bytes(PlyType /*type*/) { return 2; }

  explicit TextNumbers(TextScanner& scan) : scan_(scan) {}

  double real(PlyType /*type*/) {
    begin_field();
    return scan_.real();
  }
  long long integer(PlyType /*type*/) {
    begin_field();
    return scan_.integer();
  }
  /// Skips any words: writers put nan into normals.
  void skip(PlyType /*type*/, long long count) {
    for (; count > 0; --count) {
      begin_field();
      scan_.word();
    }
  }
  void end_element() {
    is_first_ = true;
    if (scan_.at_line_end()) return;
    scan_.word();
    scan_.fail(malformed, "the line holds more than the header promises");
  }
  void end() {
    if (scan_.at_end()) return;
    scan_.word();
    scan_.fail(malformed, "more lines than the header promises");
  }

 private:
  void begin_field() {
    if (!std::exchange(is_first_, false)) scan_.need_field();
  }

  TextScanner& scan_;
  bool is_first_ = true;
};

class ByteNumbers {
 public:
  static std::size_t min_bytes(PlyType type) { return size_of(type); }

  ByteNumbers(TextScanner& scan, bool is_swapped) : scan_(scan), numbers_(scan, is_swapped) {}

  double real(PlyType type) {
    if (type == PlyType::float64) return numbers_.take_finite<double>();
    if (type == PlyType::float32) return numbers_.take_finite<float>();
    return static_cast<double>(integer(type));
  }
  /// For integer types only.
  long long integer(PlyType type) {
    switch (type) {
      case PlyType::int8:
        return numbers_.take<std::int8_t>();
      case PlyType::uint8:
        return numbers_.take<std::uint8_t>();
      case PlyType::int16:
        return numbers_.take<std::int16_t>();
      case PlyType::uint16:
        return numbers_.take<std::uint16_t>();
      case PlyType::int32:
        return numbers_.take<std::int32_t>();
      default:
        return numbers_.take<std::uint32_t>();
    }
  }
  void skip(PlyType type, long long count) {
    scan_.bytes(size_of(type) * static_cast<std::size_t>(count));
  }
  void end_element() {}
  void end() {
    if (scan_.is_after_last_byte()) return;
    scan_.fail(malformed, "more bytes than the header promises");
  }

 private:
  TextScanner& scan_;
  BinaryNumbers numbers_;
};

const PlyElement& find_element(const TextScanner& scan, const PlyHeader& header,
                               std::string_view name) {
  for (const PlyElement& element : header.element) {
    if (element.name == name) return element;
  }
  scan.fail(malformed, "the header has no element " + in_quotes(name));
}

/// Index of an element's property with this name.
std::size_t find_property(const TextScanner& scan, const PlyElement& element, const char* name) {
  for (std::size_t k = 0; k < element.property.size(); ++k) {
    if (element.property[k].name != name) continue;
    if (element.property[k].count_type) {
      scan.fail(malformed, "property " + in_quotes(name) + " of element " +
                               in_quotes(element.name) + " is a list");
    }
    return k;
  }
  scan.fail(malformed,
            "element " + in_quotes(element.name) + " has no property " + in_quotes(name));
}

std::size_t find_corners(const TextScanner& scan, const PlyElement& face) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t found = none;
  for (std::size_t k = 0; k < face.property.size(); ++k) {
    const PlyProperty& property = face.property[k];
    if (property.name != "vertex_indices" && property.name != "vertex_index") continue;
    if (found != none) {
      scan.fail(malformed, "element 'face' has both vertex_indices and vertex_index");
    }
    if (!property.count_type || !is_whole(property.type)) {
      scan.fail(malformed, "property " + in_quotes(property.name) +
                               " of element 'face' is not a list of whole numbers");
    }
    found = k;
  }
  if (found == none) scan.fail(malformed, "element 'face' has no property 'vertex_indices'");
  return found;
}

template <class Numbers>
class BodyReader {
 public:
  BodyReader(TextScanner& scan, Numbers numbers, const PlyHeader& header)
      : scan_(scan),
        numbers_(numbers),
        header_(header),
        vertex_(find_element(scan, header, "vertex")),
        face_(find_element(scan, header, "face")),
        coordinate_{find_property(scan, vertex_, "x"), find_property(scan, vertex_, "y"),
                    find_property(scan, vertex_, "z")},
        corners_(find_corners(scan, face_)) {}

  SurfaceMesh read(std::string_view path) && {
    for (const PlyElement& element : header_.element) check_count(element);
    for (const PlyElement& element : header_.element) {
      const std::string what = &element == &vertex_ ? "vertex"
                               : &element == &face_ ? "face"
                                                    : in_quotes(element.name);
      for (long long i = 0; i < element.count; ++i) {
        scan_.begin_record(what.c_str(), i + 1, element.count);
        read_element(element, i);
        numbers_.end_element();
      }
      scan_.end_records();
    }
    numbers_.end();
    return std::move(mesh_).finish(path);
  }

 private:
  /// Called before the first element, so that a file is refused before any is read.
  void check_count(const PlyElement& element) const {
    if (element.property.empty()) {
      scan_.fail(malformed, "element " + in_quotes(element.name) + " has no properties");
    }
    std::size_t bytes = 0;
    for (const PlyProperty& property : element.property) {
      bytes += Numbers::min_bytes(property.count_type.value_or(property.type));
    }
    scan_.check_count(element.count, ("elements " + in_quotes(element.name)).c_str(), bytes);
  }

  void read_element(const PlyElement& element, long long number) {
    Point point;
    for (std::size_t k = 0; k < element.property.size(); ++k) {
      const PlyProperty& property = element.property[k];
      if (property.count_type) {
        const long long count = numbers_.integer(*property.count_type);
        scan_.check_count(count, "entries of a list", Numbers::min_bytes(property.type));
        if (&element == &face_ && k == corners_) {
          read_corners(property.type, number, count);
        } else {
          numbers_.skip(property.type, count);
        }
        continue;
      }
      const auto role = &element == &vertex_ ? std::find(coordinate_.begin(), coordinate_.end(), k)
                                             : coordinate_.end();
      if (role == coordinate_.end()) {
        numbers_.skip(property.type, 1);
      } else {
        point[static_cast<std::size_t>(role - coordinate_.begin())] = numbers_.real(property.type);
      }
    }
    if (&element == &vertex_) mesh_.position.push_back(point);
  }

  void read_corners(PlyType type, long long face, long long count) {
    if (count < 3) {
      scan_.fail(malformed, std::to_string(count) + " corners; a face has 3 or more");
    }
    corner_.resize(static_cast<std::size_t>(count));
    for (Index& corner : corner_) {
      const long long vertex = numbers_.integer(type);
      // Vertices may come after the faces in the file.
      if (vertex < 0 || vertex >= vertex_.count) {
        scan_.fail_at(scan_.word_offset(), ErrorKind::out_of_range,
                      "face " + std::to_string(face) + " refers to vertex " +
                          std::to_string(vertex) + ", which does not exist");
      }
      corner = static_cast<Index>(vertex);
    }
    mesh_.add_polygon(corner_);
  }

  TextScanner& scan_;
  Numbers numbers_;
  const PlyHeader& header_;
  const PlyElement& vertex_;
  const PlyElement& face_;
  std::array<std::size_t, 3> coordinate_;  // indices among a vertex's properties
  std::size_t corners_;                    // index among a face's properties
  SurfaceBuilder mesh_;
  std::vector<Index> corner_;
};

}  // namespace

SurfaceMesh read_ply(const NamedBytes& file) {
  TextScanner scan(file.path, file.bytes);
  const PlyHeader header = read_ply_header(scan);
  if (header.format == PlyFormat::ascii) {
    return BodyReader(scan, TextNumbers(scan), header).read(file.path);
  }
  const auto order =
      header.format == PlyFormat::binary_little_endian ? std::endian::little : std::endian::big;
  BodyReader reader(scan, ByteNumbers(scan, order != std::endian::native), header);
  scan.skip_line_end();
  scan.set_binary();
  return std::move(reader).read(file.path);
}

}  // namespace heddle::mesh
