#include <algorithm>
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
      // -0 + 0 gives 0, so that equal positions have equal hashes.
      hash = (std::rotl(hash, 29) ^ std::bit_cast<std::uint64_t>(x + 0.0)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// STL has no vertices of its own: corners at one position become one vertex.
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
    while (!ends("solid")) {
      if (!is_keyword(word_, "facet")) fail("'facet' or 'endsolid'");
      read_facet();
    }
    scan_.skip_line();
  }

  void read_facet() {
    need("normal");
    // Writers put nan for a triangle without area.
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
    need_end("loop");
    need_end("facet");
    weld_.add_triangle(corner);
  }

  void need(std::string_view keyword) {
    word_ = scan_.word();
    if (!is_keyword(word_, keyword)) fail(io::in_quotes(keyword));
  }

  /// True if the next word ends the block that `keyword` began; the end may be two words.
  bool ends(std::string_view keyword) {
    word_ = scan_.word();
    if (is_keyword(word_, "end")) {
      need(keyword);
      return true;
    }
    return is_keyword(word_.substr(0, 3), "end") && is_keyword(word_.substr(3), keyword);
  }
  void need_end(std::string_view keyword) {
    if (!ends(keyword)) fail(io::in_quotes("end" + std::string(keyword)));
  }

  [[noreturn]] void fail(const std::string& needed) const {
    scan_.fail(malformed, io::in_quotes(word_) + " where " + needed + " is needed");
  }

  std::string_view word_;
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

/// Size of a binary file, according to the count in its header.
std::optional<std::uint64_t> promised_size(std::string_view bytes) {
  if (bytes.size() < header_size) return std::nullopt;
  std::uint64_t count = 0;
  for (std::size_t k = 0; k < sizeof(std::uint32_t); ++k) {
    const auto byte = static_cast<unsigned char>(bytes[header_size - 1 - k]);
    count = count << 8 | byte;
  }
  return header_size + triangle_size * count;
}

/// Binary files may begin with "solid" too. Zeros indicate a truncated binary file, unless a facet
/// follows on the next line.
bool is_text(std::string_view bytes) {
  const auto skip = [&](std::string_view passed) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(passed), bytes.size()));
  };
  const bool has_zeros = bytes.find('\0') != bytes.npos;
  if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  skip(" \t\r\n");
  if (!is_keyword(bytes.substr(0, 5), "solid")) return false;
  if (!has_zeros) return true;
  bytes.remove_prefix(std::min(bytes.find_first_of("\r\n"), bytes.size()));
  skip(" \t\r\n");
  return is_keyword(bytes.substr(0, 5), "facet");
}

/// True if zeros, or fewer bytes than a triangle, follow the triangles that the header counts.
bool has_no_triangle(std::string_view bytes, std::uint64_t promised) {
  if (promised > bytes.size()) return false;
  const std::string_view rest = bytes.substr(promised);
  return rest.size() < triangle_size || rest.find_first_not_of('\0') == rest.npos;
}

}  // namespace

SurfaceMesh read_stl(const NamedBytes& file) {
  const auto promised = promised_size(file.bytes);
  if (promised == file.bytes.size()) return read_binary(file);
  if (is_text(file.bytes)) return TextReader(file).read();
  if (promised && has_no_triangle(file.bytes, *promised)) return read_binary(file);
  const std::string size = std::to_string(file.bytes.size());
  const std::string what =
      promised ? "the header and the triangles that it counts take " + std::to_string(*promised) +
                     " bytes, but the file has " + size
               : "not an STL file: neither text that begins with 'solid' nor a header of " +
                     std::to_string(header_size) + " bytes and triangles";
  throw Error(malformed, std::string(file.path) + ": " + what);
}

}  // namespace heddle::mesh
