#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tools/team.hpp"
#include "heddle/tools/text.hpp"
#include "malformed.hpp"
#include "surface_builder.hpp"
#include "surface_readers.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

namespace {

/// References by corners to numbered items (from 0); a face may precede the items it refers to.
class References {
 public:
  explicit References(const char* what) : what_(what) {}

  /// `number` is as in the file: from 1, or -1 for the last of `count` so far.
  Index resolve(const TextScanner& scan, long long face, long long number, std::size_t count) {
    const auto last = static_cast<long long>(count);
    if (number == 0 || number < -last || number > std::numeric_limits<Index>::max()) {
      fail(scan, scan.word_offset(), face, number);
    }
    const long long from_0 = number > 0 ? number - 1 : last + number;
    if (from_0 > largest_) {
      largest_ = from_0;
      face_ = face;
      offset_ = scan.word_offset();
    }
    return static_cast<Index>(from_0);
  }

  /// The largest so far, from 0; -1 for none.
  long long largest() const { return largest_; }

  /// To be called once all `count` are known.
  void check(const TextScanner& scan, std::size_t count) const {
    if (largest_ >= static_cast<long long>(count)) fail(scan, offset_, face_, largest_ + 1);
  }

 private:
  [[noreturn]] void fail(const TextScanner& scan, std::size_t offset, long long face,
                         long long number) const {
    scan.fail_at(offset, ErrorKind::out_of_range,
                 "face " + std::to_string(face) + " refers to " + what_ + " " +
                     std::to_string(number) + ", which does not exist");
  }

  const char* what_;
  long long largest_ = -1, face_ = 0;
  std::size_t offset_ = 0;
};

/// A copy of the same size in which each backslash at the end of a line, except in a comment, and
/// that line end become blanks; empty if there are none.
std::string with_lines_joined(std::string_view text) {
  if (text.find("\\\n") == text.npos && text.find("\\\r") == text.npos) return {};
  std::string joined(text);
  bool is_comment = false;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (joined[i] == '#') is_comment = true;
    if (joined[i] == '\n' || joined[i] == '\r') is_comment = false;
    if (joined[i] != '\\' || is_comment) continue;
    const std::string_view after = text.substr(i + 1);
    const std::size_t line_end =
        after.starts_with("\r\n") ? 2 : after.starts_with('\n') || after.starts_with('\r');
    if (line_end > 0) joined.replace(i, 1 + line_end, 1 + line_end, ' ');
  }
  return joined;
}

class ObjReader {
 public:
  /// `original` is the text before lines were joined.
  ObjReader(const NamedBytes& file, std::string_view original)
      : path_(file.path), scan_(file.path, file.bytes, '#') {
    scan_.count_lines_of(original);
  }

  SurfaceMesh read() {
    read_lines();
    vertices_.check(scan_, mesh_.position.size());
    coordinates_.check(scan_, coordinate_.size());
    return std::move(*this).finish();
  }

  /// Like `read`, by several threads, each of which reads its own lines. Returns none if the text
  /// is short, counts from the last vertex, or has an error, which `read` then reports with its
  /// place in the whole file.
  static std::optional<SurfaceMesh> read_in_parts(const NamedBytes& file) {
    constexpr std::size_t min_bytes = std::size_t(1) << 17;
    const std::size_t count =
        std::min(static_cast<std::size_t>(default_threads()), file.bytes.size() / min_bytes);
    if (count < 2) return std::nullopt;
    std::vector<ObjReader> parts;
    for (std::size_t k = 0, begin = 0; k < count; ++k) {
      const std::size_t line = file.bytes.find('\n', file.bytes.size() / count * (k + 1));
      const bool is_last = k + 1 == count || line == file.bytes.npos;
      const std::size_t end = std::max(begin, is_last ? file.bytes.size() : line + 1);
      const std::string_view part = file.bytes.substr(begin, end - begin);
      // Inside the text these bytes are not a byte order mark.
      if (k > 0 && part.starts_with(byte_order_mark)) return std::nullopt;
      parts.emplace_back(NamedBytes{file.path, part}, part);
      begin = end;
    }
    const bool are_read = parallel_all(default_threads(), count, [&](std::size_t k) {
      try {
        parts[k].read_lines();
        return !parts[k].counts_back_;
      } catch (const Error&) {
        return false;
      }
    });
    if (!are_read) return std::nullopt;
    ObjReader& all = parts.front();
    for (std::size_t k = 1; k < count; ++k) all.append(parts[k]);
    const bool are_there = std::ranges::all_of(parts, [&](const ObjReader& part) {
      return part.vertices_.largest() < static_cast<long long>(all.mesh_.position.size()) &&
             part.coordinates_.largest() < static_cast<long long>(all.coordinate_.size());
    });
    if (!are_there) return std::nullopt;
    return std::move(all).finish();
  }

 private:
  void read_lines() {
    while (!scan_.at_end()) read_line();
  }

  void append(const ObjReader& part) {
    mesh_.append(part.mesh_);
    coordinate_.insert(coordinate_.end(), part.coordinate_.begin(), part.coordinate_.end());
    texture_corner_.insert(texture_corner_.end(), part.texture_corner_.begin(),
                           part.texture_corner_.end());
    is_textured_ = is_textured_ && part.is_textured_;
  }

  SurfaceMesh finish() && {
    if (is_textured_) {
      mesh_.texture.reserve(texture_corner_.size());
      for (const Index coordinate : texture_corner_) {
        mesh_.texture.push_back(coordinate_[static_cast<std::size_t>(coordinate)]);
      }
    }
    return std::move(mesh_).finish(path_);
  }

  void read_line() {
    const std::string_view keyword = scan_.word();
    if (keyword == "v") return read_vertex();
    if (keyword == "vt") return read_coordinate();
    if (keyword == "f") return read_face();
    const char first = static_cast<char>(keyword[0] | 0x20);
    if (first < 'a' || first > 'z') {
      scan_.fail(malformed, io::in_quotes(keyword) + " is not a keyword");
    }
    scan_.skip_line();
  }

  double real() {
    scan_.need_field();
    return scan_.real();
  }
  /// Weights and colours.
  void skip_numbers() {
    while (!scan_.at_line_end()) scan_.real();
  }

  void read_vertex() {
    Point& point = mesh_.position.emplace_back();
    for (double& x : point) x = real();
    skip_numbers();
  }

  void read_coordinate() {
    TextureCoordinate& coordinate = coordinate_.emplace_back();
    coordinate[0] = real();
    if (!scan_.at_line_end()) coordinate[1] = real();
    skip_numbers();
  }

  void read_face() {
    ++faces_;
    const std::size_t keyword = scan_.word_offset();
    corner_.clear();
    const std::size_t textured_before = texture_corner_.size();
    while (!scan_.at_line_end()) read_corner(scan_.word());
    if (corner_.size() < 3) {
      scan_.fail_at(keyword, malformed,
                    "face " + std::to_string(faces_) + " has " + std::to_string(corner_.size()) +
                        (corner_.size() == 1 ? " corner" : " corners") + "; 3 or more are needed");
    }
    mesh_.add_polygon(corner_);
    is_textured_ = is_textured_ && texture_corner_.size() - textured_before == corner_.size();
  }

  /// v, v/vt, v//vn or v/vt/vn; numbers after a slash may be missing.
  void read_corner(std::string_view word) {
    std::array<std::string_view, 3> part;
    std::size_t parts = 0;
    for (std::string_view rest = word;; ++parts) {
      if (parts == part.size()) fail_corner(word);
      const std::size_t slash = rest.find('/');
      part[parts] = rest.substr(0, slash);
      if (slash == rest.npos) break;
      rest.remove_prefix(slash + 1);
    }
    const auto resolved = [&](References& to, std::string_view digits, std::size_t count) {
      const long long given = number(digits, word);
      if (given < 0) counts_back_ = true;
      return to.resolve(scan_, faces_, given, count);
    };
    corner_.push_back(resolved(vertices_, part[0], mesh_.position.size()));
    if (!part[1].empty()) {
      texture_corner_.push_back(resolved(coordinates_, part[1], coordinate_.size()));
    }
    if (!part[2].empty()) number(part[2], word);
  }

  long long number(std::string_view digits, std::string_view word) const {
    long long value = 0;
    const auto [after, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error == std::errc::result_out_of_range && after == digits.end()) {
      scan_.fail(malformed, io::in_quotes(digits) + " is too large a number");
    }
    if (error != std::errc() || after != digits.end()) fail_corner(word);
    return value;
  }

  [[noreturn]] void fail_corner(std::string_view word) const {
    scan_.fail(malformed,
               io::in_quotes(word) + " is not a corner of the form v, v/vt, v//vn or v/vt/vn");
  }

  std::string_view path_;
  TextScanner scan_;
  SurfaceBuilder mesh_;
  std::vector<TextureCoordinate> coordinate_;
  std::vector<Index> texture_corner_;  // coordinates at the corners of the faces
  bool is_textured_ = true;            // true if every corner so far has coordinates
  bool counts_back_ = false;           // a corner has a negative number
  References vertices_{"vertex"}, coordinates_{"texture coordinate"};
  long long faces_ = 0;
  std::vector<Index> corner_;  // corners of the current face
};

}  // namespace

SurfaceMesh read_obj(const NamedBytes& file) {
  const std::string joined = with_lines_joined(file.bytes);
  const NamedBytes text{file.path, joined.empty() ? file.bytes : joined};
  std::optional<SurfaceMesh> mesh = ObjReader::read_in_parts(text);
  return mesh ? std::move(*mesh) : ObjReader(text, file.bytes).read();
}

}  // namespace heddle::mesh
