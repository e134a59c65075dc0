#include <string>
#include <vector>

#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "surface_builder.hpp"
#include "surface_readers.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

namespace {

/// Reads a line with counts, one line per vertex, and one line per face.
class OffReader {
 public:
  explicit OffReader(const NamedBytes& file)
      : path_(file.path), scan_(file.path, file.bytes, '#') {}

  SurfaceMesh read() {
    read_keyword();
    const long long vertices = scan_.count("vertices", 6);
    counts_offset_ = scan_.word_offset();
    scan_.need_field();
    const long long faces = scan_.count("faces", 8);
    // Number of edges, which many writers set to 0 or omit.
    if (!scan_.at_line_end()) scan_.integer();
    end_line("the counts of vertices, faces and edges");
    read_vertices(vertices);
    read_faces(faces);
    scan_.end_records();
    if (!scan_.at_end()) {
      scan_.word();
      scan_.fail(malformed, "more lines than the " + std::to_string(vertices) + " vertices and " +
                                std::to_string(faces) + " faces that line " +
                                std::to_string(scan_.line_of(counts_offset_)) + " promises");
    }
    return std::move(mesh_).finish(path_);
  }

 private:
  void read_keyword() {
    if (scan_.at_end()) scan_.fail_at(scan_.offset(), malformed, "not an OFF file: it is empty");
    const std::string_view keyword = scan_.word();
    std::string_view prefix = keyword;
    if (prefix.size() < 3 || !is_keyword(prefix.substr(prefix.size() - 3), "OFF")) {
      scan_.fail(malformed,
                 "not an OFF file: it must begin with OFF, not " + io::in_quotes(keyword));
    }
    prefix.remove_suffix(3);
    for (const std::string_view columns : {"ST", "C", "N"}) {
      if (!is_keyword(prefix.substr(0, columns.size()), columns)) continue;
      prefix.remove_prefix(columns.size());
      has_more_columns_ = true;
    }
    if (!prefix.empty()) {
      scan_.fail(malformed,
                 io::in_quotes(keyword) +
                     " is not supported; OFF is, also with ST, C and N before it, in this order");
    }
    if (!scan_.at_line_end()) {
      const std::size_t after = scan_.offset();
      if (is_keyword(scan_.word(), "BINARY"))
        scan_.fail(malformed, "binary OFF files are not supported");
      scan_.seek(after);
    }
  }

  void end_line(const char* what) {
    if (scan_.at_line_end()) return;
    scan_.word();
    scan_.fail(malformed, std::string("the line holds more than ") + what);
  }

  void skip_numbers() {
    while (!scan_.at_line_end()) scan_.real();
  }

  void read_vertices(long long count) {
    mesh_.position.resize(static_cast<std::size_t>(count));
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record("vertex", i + 1, count);
      Point& point = mesh_.position[static_cast<std::size_t>(i)];
      point[0] = scan_.real();
      for (const int k : {1, 2}) {
        scan_.need_field();
        point[k] = scan_.real();
      }
      if (has_more_columns_) skip_numbers();
      end_line("three coordinates");
    }
  }

  void read_faces(long long count) {
    const auto vertices = static_cast<long long>(mesh_.position.size());
    std::vector<Index> face;
    for (long long i = 0; i < count; ++i) {
      scan_.begin_record("face", i + 1, count);
      const long long corners = scan_.count("corners", 2);
      if (corners < 3) {
        scan_.fail(malformed, std::to_string(corners) + " corners; a face has 3 or more");
      }
      face.resize(static_cast<std::size_t>(corners));
      for (Index& corner : face) {
        scan_.need_field();
        const long long vertex = scan_.integer();
        if (vertex < 0 || vertex >= vertices) {
          scan_.fail_at(scan_.word_offset(), ErrorKind::out_of_range,
                        "face " + std::to_string(i) + " refers to vertex " +
                            std::to_string(vertex) + ", which does not exist");
        }
        corner = static_cast<Index>(vertex);
      }
      skip_numbers();  // its colour
      mesh_.add_polygon(face);
    }
  }

  std::string_view path_;
  TextScanner scan_;
  SurfaceBuilder mesh_;
  bool has_more_columns_ = false;
  std::size_t counts_offset_ = 0;
};

}  // namespace

SurfaceMesh read_off(const NamedBytes& file) { return OffReader(file).read(); }

}  // namespace heddle::mesh
