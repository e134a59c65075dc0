#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "binary_numbers.hpp"
#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "surface_builder.hpp"
#include "surface_readers.hpp"

namespace heddle::mesh {

namespace {

constexpr std::size_t header_size = 84, triangle_size = 50;

struct PositionHash {
  std::size_t operator()(const Point& point) const {
    std::uint64_t hash = 0;
    for (const double x : point) {
      // -0 + 0 is 0, which it is equal to.
      hash = (std::rotl(hash, 29) ^ std::bit_cast<std::uint64_t>(x + 0.0)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// STL has no vertices of its own: corners of one position become one.
class Weld {
 public:
  explicit Weld(std::string_view path) : path_(path) {}

  void add_triangle(const std::array<Point, 3>& corner) {
    std::array<Index, 3> triangle;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [at, is_new] =
          vertex_at_.emplace(corner[k], static_cast<Index>(mesh_.position.size()));
      if (is_new) mesh_.position.push_back(corner[k]);
      triangle[k] = at->second;
    }
    mesh_.add_polygon(triangle);
  }

  SurfaceMesh finish() && { return std::move(mesh_).finish(path_); }

 private:
  std::string_view path_;
  SurfaceBuilder mesh_;
  std::unordered_map<Point, Index, PositionHash> vertex_at_;
};

class TextReader {
 public:
  explicit TextReader(const NamedBytes& file) : scan_(file.path, file.bytes), weld_(file.path) {}

  SurfaceMesh read() && {
    while (!scan_.at_end()) read_solid();
    return std::move(weld_).finish();
  }

 private:
  void read_solid() {
    need("solid");
    scan_.skip_line();  // its name
    for (;;) {
      const std::string_view word = scan_.word();
      if (word == "endsolid") break;
      if (word != "facet") {
        scan_.fail(malformed, io::in_quotes(word) + " where 'facet' or 'endsolid' is needed");
      }
      read_facet();
    }
    scan_.skip_line();
  }

  void read_facet() {
    need("normal");
    // Writers put nan where a triangle has no area.
    for (int k = 0; k < 3; ++k) {
      scan_.need_field();
      scan_.word();
    }
    need("outer");
    need("loop");
    std::array<Point, 3> corner;
    for (Point& point : corner) {
      need("vertex");
      for (double& x : point) x = scan_.real();
    }
    need("endloop");
    need("endfacet");
    weld_.add_triangle(corner);
  }

  void need(std::string_view keyword) {
    const std::string_view word = scan_.word();
    if (word != keyword) {
      scan_.fail(malformed,
                 io::in_quotes(word) + " where " + io::in_quotes(keyword) + " is needed");
    }
  }

  TextScanner scan_;
  Weld weld_;
};

SurfaceMesh read_binary(const NamedBytes& file) {
  TextScanner scan(file.path, file.bytes);
  scan.set_binary();
  BinaryNumbers numbers(scan, std::endian::native != std::endian::little);
  scan.seek(header_size - sizeof(std::uint32_t));
  const auto count = numbers.take<std::uint32_t>();
  Weld weld(file.path);
  for (std::uint32_t i = 0; i < count; ++i) {
    scan.begin_record("triangle", i + 1LL, count);
    scan.bytes(3 * sizeof(float));  // the normal
    std::array<Point, 3> corner;
    for (Point& point : corner) {
      for (double& x : point) x = numbers.take_finite<float>();
    }
    scan.bytes(sizeof(std::uint16_t));
    weld.add_triangle(corner);
  }
  return std::move(weld).finish();
}

/// Of a binary file, by the count in its header.
std::optional<std::uint64_t> promised_size(std::string_view bytes) {
  if (bytes.size() < header_size) return std::nullopt;
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < sizeof(std::uint32_t); ++k) {
    const auto byte = static_cast<unsigned char>(bytes[header_size - 1 - k]);
    count = count << 8 | byte;
  }
  return header_size + triangle_size * count;
}

}  // namespace

// Binary files may begin with "solid" too, but their size tells them, and zeros one that was cut.
SurfaceMesh read_stl(const NamedBytes& file) {
  const auto promised = promised_size(file.bytes);
  if (promised == file.bytes.size()) return read_binary(file);
  const std::size_t begin = file.bytes.find_first_not_of(" \t\r\n");
  if (begin != file.bytes.npos && file.bytes.substr(begin).starts_with("solid") &&
      file.bytes.find('\0') == file.bytes.npos) {
    return TextReader(file).read();
  }
  const std::string size = std::to_string(file.bytes.size());
  const std::string what = promised ? "the triangles that its header counts take " +
                                          std::to_string(*promised) +
                                          " bytes with it, the file has " + size
                                    : "no STL file: neither text that begins with 'solid' nor " +
                                          std::to_string(header_size) + " bytes and triangles";
  throw Error(malformed, std::string(file.path) + ": " + what);
}

}  // namespace heddle::mesh
