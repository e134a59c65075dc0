#include <cmath>
#include <limits>
#include <string>

#include "malformed.hpp"
#include "mesh_readers.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

namespace {

/// One of the files: a line of numbers that describe the rest, then lines of records.
class TetgenFile {
 public:
  explicit TetgenFile(const NamedBytes& file) : scan_(file.path, file.bytes, '#') {}

  /// The count on the first line, for `plural` records of `fields` numbers or more.
  long long begin(const char* plural, const char* singular, std::size_t fields) {
    plural_ = plural;
    singular_ = singular;
    count_ = scan_.count(plural, 2 * fields);
    count_offset_ = scan_.word_offset();
    return count_;
  }

  /// Another number on the first line, which may be absent.
  int header_number(int otherwise) {
    if (scan_.at_line_end()) return otherwise;
    const int number = scan_.small_integer();
    if (number < 0) scan_.fail(malformed, "a number on the first line is negative");
    return number;
  }

  /// The number that the file gives to record `i`, counted from 0.
  long long begin_record(long long i) {
    scan_.begin_record(singular_, i + 1, count_);
    return scan_.integer();
  }

  // The remaining numbers on the record's line.
  long long integer() {
    scan_.need_field();
    return scan_.integer();
  }
  int small_integer() {
    scan_.need_field();
    return scan_.small_integer();
  }
  double real() {
    scan_.need_field();
    return scan_.real();
  }

  void end_record() {
    if (scan_.at_line_end()) return;
    scan_.word();
    scan_.fail(malformed, "more numbers than the first line promises");
  }
  void skip_line() {
    while (!scan_.at_line_end()) scan_.word();
  }

  void end() {
    scan_.end_records();
    if (scan_.at_end()) return;
    scan_.word();
    scan_.fail(malformed, std::string("more ") + plural_ + " than the " + std::to_string(count_) +
                              " that line " + std::to_string(scan_.line_of(count_offset_)) +
                              " promises");
  }

  /// Corners of an element, where the first node has the number `first`.
  template <std::size_t corners>
  std::array<Index, corners> read_corners(long long number, long long first, std::size_t nodes) {
    std::array<Index, corners> corner;
    for (Index& c : corner) {
      const long long node = integer();
      if (node < first || node - first >= static_cast<long long>(nodes)) {
        scan_.fail_at(scan_.word_offset(), ErrorKind::out_of_range,
                      std::string(singular_) + " " + std::to_string(number) + " refers to node " +
                          std::to_string(node) + ", which does not exist");
      }
      c = static_cast<Index>(node - first);
    }
    return corner;
  }

  [[noreturn]] void fail(const std::string& message) const { scan_.fail(malformed, message); }

 private:
  TextScanner scan_;
  const char* plural_ = nullptr;
  const char* singular_ = nullptr;
  long long count_ = 0;
  std::size_t count_offset_ = 0;
};

/// Returns the number of the first node, 0 or 1.
long long read_nodes(const NamedBytes& bytes, SolidMesh& mesh) {
  TetgenFile file(bytes);
  const long long count = file.begin("nodes", "node", 4);
  const int dimension = file.header_number(3);
  if (dimension != 3) {
    file.fail("nodes in " + std::to_string(dimension) + " dimensions; 3 are needed");
  }
  const int attributes = file.header_number(0);
  const bool has_markers = file.header_number(0) != 0;
  file.end_record();
  mesh.position.reserve(static_cast<std::size_t>(count));
  long long first = 0;
  for (long long i = 0; i < count; ++i) {
    const long long number = file.begin_record(i);
    if (i == 0) {
      if (number != 0 && number != 1) {
        file.fail("the first node is number " + std::to_string(number) + ", neither 0 nor 1");
      }
      first = number;
    }
    if (number != first + i) {
      file.fail("number " + std::to_string(number) + " where " + std::to_string(first + i) +
                " is needed");
    }
    Point& point = mesh.position.emplace_back();
    for (double& x : point) x = file.real();
    for (int k = 0; k < attributes; ++k) file.real();
    if (has_markers) file.integer();
    file.end_record();
  }
  file.end();
  return first;
}

/// True if the attribute is a region: a whole number, which the file may write as 1.0.
bool is_region(double attribute) {
  constexpr double most = std::numeric_limits<int>::max();
  return attribute == std::floor(attribute) && std::abs(attribute) <= most;
}

void read_tetrahedra(const NamedBytes& bytes, long long first_node, SolidMesh& mesh) {
  TetgenFile file(bytes);
  const long long count = file.begin("tetrahedra", "tetrahedron", 5);
  const int nodes = file.header_number(4);
  if (nodes != 4) {
    file.fail("tetrahedra with " + std::to_string(nodes) +
              " nodes; only linear ones, with 4, are read");
  }
  const int attributes = file.header_number(0);
  file.end_record();
  if (count == 0) file.fail("the file has no tetrahedra");
  mesh.tetrahedron.reserve(static_cast<std::size_t>(count));
  mesh.region.reserve(static_cast<std::size_t>(count));
  bool are_regions = true;
  for (long long i = 0; i < count; ++i) {
    const long long number = file.begin_record(i);
    mesh.tetrahedron.push_back(file.read_corners<4>(number, first_node, mesh.position.size()));
    // TetGen puts the region after the attributes of its input.
    double attribute = 0;
    for (int k = 0; k < attributes; ++k) attribute = file.real();
    are_regions = are_regions && is_region(attribute);
    mesh.region.push_back(are_regions ? static_cast<int>(attribute) : 0);
    file.end_record();
  }
  file.end();
  // An attribute such as a density does not distinguish regions.
  if (!are_regions) mesh.region.assign(mesh.region.size(), 0);
}

void read_faces(const NamedBytes& bytes, long long first_node, SolidMesh& mesh) {
  TetgenFile file(bytes);
  const long long count = file.begin("faces", "face", 4);
  const bool has_markers = file.header_number(0) != 0;
  file.end_record();
  mesh.triangle.reserve(static_cast<std::size_t>(count));
  mesh.surface.reserve(static_cast<std::size_t>(count));
  for (long long i = 0; i < count; ++i) {
    const long long number = file.begin_record(i);
    mesh.triangle.push_back(file.read_corners<3>(number, first_node, mesh.position.size()));
    mesh.surface.push_back(has_markers ? file.small_integer() : 0);
    file.skip_line();  // the tetrahedra on either side, which the first line does not mention
  }
  file.end();
}

}  // namespace

SolidMesh read_tetgen(const NamedBytes& node, const NamedBytes& ele, const NamedBytes* face) {
  SolidMesh mesh;
  const long long first_node = read_nodes(node, mesh);
  read_tetrahedra(ele, first_node, mesh);
  if (face != nullptr) read_faces(*face, first_node, mesh);
  return mesh;
}

}  // namespace heddle::mesh
