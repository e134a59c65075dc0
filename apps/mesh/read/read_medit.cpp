#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "mesh_readers.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

namespace {

using io::in_quotes;

struct Section {
  std::string_view keyword;
  int fields;  // numbers per entry
};

// Sections without information about the solid.
constexpr Section skipped[] = {
    {"Edges", 3},
    {"Corners", 1},
    {"Ridges", 1},
    {"RequiredVertices", 1},
    {"RequiredEdges", 1},
    {"RequiredTriangles", 1},
    {"RequiredTetrahedra", 1},
    {"Normals", 3},
    {"NormalAtVertices", 2},
    {"NormalAtTriangleVertices", 3},
    {"NormalAtQuadrilateralVertices", 3},
    {"Tangents", 3},
    {"TangentAtVertices", 2},
    {"TangentAtEdgeVertices", 3},
    {"VertexOnGeometricVertex", 2},
    {"VertexOnGeometricEdge", 3},
    {"EdgeOnGeometricEdge", 2},
    {"SubDomainFromMesh", 4},
    {"SubDomainFromGeom", 4},
};

// Sections that would be missing from the solid or its surface; allowed only without entries.
constexpr std::string_view refused[] = {
    "Quadrilaterals", "RequiredQuadrilaterals", "Hexahedra", "Hexaedra", "Prisms", "Pentahedra",
    "Pyramids"};

// Sections of quadratic elements: vertices in the middle of edges, or the elements themselves.
constexpr std::string_view quadratic[] = {"EdgesP2",
                                          "TrianglesP2",
                                          "TetrahedraP2",
                                          "ExtraVerticesAtEdges",
                                          "ExtraVerticesAtTriangles",
                                          "ExtraVerticesAtTetrahedra"};

const Section* skipped_section(std::string_view keyword) {
  const auto found = std::find_if(std::begin(skipped), std::end(skipped),
                                  [&](const Section& s) { return is_keyword(keyword, s.keyword); });
  return found == std::end(skipped) ? nullptr : found;
}

template <std::size_t n>
bool contains(const std::string_view (&keywords)[n], std::string_view keyword) {
  return std::any_of(std::begin(keywords), std::end(keywords),
                     [&](std::string_view known) { return is_keyword(keyword, known); });
}

class MeditReader {
 public:
  explicit MeditReader(const NamedBytes& file) : scan_(file.path, file.bytes, '#') {}

  SolidMesh read() {
    read_version();
    while (!scan_.at_end()) {
      const std::string_view keyword = scan_.word();
      if (is_keyword(keyword, "End")) break;
      read_section(keyword);
      scan_.end_records();
    }
    check_corners("tetrahedron", tetrahedra_, mesh_.tetrahedron);
    check_corners("triangle", triangles_, mesh_.triangle);
    if (mesh_.tetrahedron.empty()) {
      scan_.fail_at(scan_.offset(), malformed, "the file has no tetrahedra");
    }
    return std::move(mesh_);
  }

 private:
  void read_version() {
    if (scan_.at_end() || !is_keyword(scan_.word(), "MeshVersionFormatted")) {
      scan_.fail(malformed, "not a Medit mesh: it must begin with MeshVersionFormatted");
    }
    const long long version = scan_.integer();
    // Versions differ in how binary files hold numbers.
    if (version < 1 || version > 4) {
      scan_.fail(malformed, "version " + std::to_string(version) + " is not supported; 1 to 4 are");
    }
  }

  void read_section(std::string_view keyword) {
    if (is_keyword(keyword, "Dimension")) return read_dimension();
    if (is_keyword(keyword, "Vertices")) return read_vertices();
    if (is_keyword(keyword, "Tetrahedra")) {
      return read_elements(keyword, "tetrahedra", "tetrahedron", tetrahedra_, mesh_.tetrahedron,
                           mesh_.region);
    }
    if (is_keyword(keyword, "Triangles")) {
      return read_elements(keyword, "triangles", "triangle", triangles_, mesh_.triangle,
                           mesh_.surface);
    }
    if (const Section* section = skipped_section(keyword)) return skip(*section);
    if (contains(refused, keyword)) return refuse(keyword);
    if (contains(quadratic, keyword)) {
      scan_.fail(malformed, in_quotes(keyword) + ": only linear elements are read");
    }
    const char first = keyword[0];
    if (last_keyword_ != nullptr && (io::is_digit(first) || first == '-' || first == '.')) {
      scan_.fail(malformed, std::string("more ") + last_keyword_ + " than the " +
                                std::to_string(last_count_) + " that line " +
                                std::to_string(scan_.line_of(last_place_)) + " promises");
    }
    scan_.fail(malformed, "unknown keyword " + in_quotes(keyword));
  }

  long long read_count(const char* what, int fields) {
    const long long count = scan_.count(what, 2 * static_cast<std::size_t>(fields));
    last_keyword_ = what;
    last_count_ = count;
    last_place_ = scan_.word_offset();
    return count;
  }

  void read_dimension() {
    const long long dimension = scan_.integer();
    if (dimension != 3) {
      scan_.fail(malformed, "a mesh in " + std::to_string(dimension) + " dimensions; 3 are needed");
    }
    has_dimension_ = true;
  }

  void read_vertices() {
    if (!has_dimension_) scan_.fail(malformed, "Vertices before Dimension");
    if (vertices_ != 0) scan_.fail(malformed, "Vertices is given twice");
    const long long count = read_count("vertices", 4);
    vertices_ = scan_.offset();
    mesh_.position.resize(static_cast<std::size_t>(count));
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record("vertex", i + 1, count);
      for (double& x : mesh_.position[static_cast<std::size_t>(i)]) x = scan_.real();
      scan_.integer();
    }
  }

  template <std::size_t corners>
  void read_elements(std::string_view keyword, const char* plural, const char* singular,
                     std::size_t& begin, std::vector<std::array<Index, corners>>& elements,
                     std::vector<int>& group) {
    if (begin != 0) scan_.fail(malformed, std::string(keyword) + " is given twice");
    const long long count = read_count(plural, static_cast<int>(corners) + 1);
    begin = scan_.offset();
    elements.resize(static_cast<std::size_t>(count));
    group.resize(static_cast<std::size_t>(count));
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record(singular, i + 1, count);
      for (Index& corner : elements[static_cast<std::size_t>(i)]) {
        const long long vertex = scan_.integer();
        if (vertex < 1 || vertex > std::numeric_limits<Index>::max()) {
          fail_corner(singular, i + 1, vertex);
        }
        corner = static_cast<Index>(vertex - 1);
      }
      group[static_cast<std::size_t>(i)] = scan_.small_integer();
    }
  }

  void skip(const Section& section) {
    const long long count = read_count("entries", section.fields);
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record("entry", i + 1, count);
      for (int field = 0; field < section.fields; ++field) scan_.real();
    }
  }

  void refuse(std::string_view keyword) {
    const std::size_t at = scan_.word_offset();
    if (scan_.integer() == 0) return;
    scan_.fail_at(at, malformed, in_quotes(keyword) + ": only tetrahedra and triangles are read");
  }

  [[noreturn]] void fail_corner(const char* element, long long number, long long vertex) const {
    scan_.fail_at(scan_.word_offset(), ErrorKind::out_of_range,
                  std::string(element) + " " + std::to_string(number) + " refers to vertex " +
                      std::to_string(vertex) + ", which does not exist");
  }

  /// Called after everything is read, since sections may be in any order.
  template <std::size_t corners>
  void check_corners(const char* element, std::size_t begin,
                     const std::vector<std::array<Index, corners>>& elements) {
    const auto vertices = static_cast<Index>(mesh_.position.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      for (std::size_t k = 0; k < corners; ++k) {
        if (elements[i][k] < vertices) continue;
        scan_.seek(begin);
        for (std::size_t words = 0; words <= i * (corners + 1) + k; ++words) scan_.word();
        fail_corner(element, static_cast<long long>(i) + 1, elements[i][k] + 1LL);
      }
    }
  }

  TextScanner scan_;
  SolidMesh mesh_;
  bool has_dimension_ = false;
  // Where the entries of a section begin; 0 if the section is absent.
  std::size_t vertices_ = 0, tetrahedra_ = 0, triangles_ = 0;
  // The last section, and its declared number of entries.
  const char* last_keyword_ = nullptr;
  long long last_count_ = 0;
  std::size_t last_place_ = 0;
};

}  // namespace

SolidMesh read_medit(const NamedBytes& file) { return MeditReader(file).read(); }

}  // namespace heddle::mesh
