#include "gmsh_format.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "heddle/tools/text.hpp"
#include "malformed.hpp"

namespace heddle::mesh {

using io::in_quotes;

namespace {

struct NamedVersion {
  std::string_view name;
  GmshFormat::Version version;
};

// Gmsh omits the .0.
constexpr NamedVersion versions[] = {
    {"2", GmshFormat::Version::msh_2},     {"2.0", GmshFormat::Version::msh_2},
    {"2.1", GmshFormat::Version::msh_2},   {"2.2", GmshFormat::Version::msh_2},
    {"4", GmshFormat::Version::msh_4_0},   {"4.0", GmshFormat::Version::msh_4_0},
    {"4.1", GmshFormat::Version::msh_4_1},
};

}  // namespace

GmshFormat read_gmsh_format(TextScanner& scan) {
  const std::size_t begin = scan.offset();
  const std::string_view keyword = scan.at_end() ? "" : scan.word();
  if (keyword == "$NOD") {
    scan.seek(begin);
    return {.version = GmshFormat::Version::msh_1};
  }
  if (keyword != "$MeshFormat") {
    scan.fail(malformed,
              "not a Gmsh mesh: it must begin with $MeshFormat, or in format 1 with $NOD");
  }
  GmshFormat format;
  const std::string_view version = scan.word();
  const auto known = std::ranges::find(versions, version, &NamedVersion::name);
  if (known == std::end(versions)) {
    scan.fail(malformed,
              "format " + in_quotes(version) + " is not supported; 1, 2.0 to 2.2, 4.0 and 4.1 are");
  }
  format.version = known->version;
  const long long type = scan.integer();
  if (type != 0 && type != 1) {
    scan.fail(malformed, std::to_string(type) + " is neither 0 (text) nor 1 (binary)");
  }
  format.is_binary = type == 1;
  const long long size = scan.integer();
  if (size != 8) {
    scan.fail(malformed,
              "numbers of " + std::to_string(size) + " bytes are not supported; those of 8 are");
  }
  if (format.is_binary) {
    scan.skip_line_end();
    scan.set_binary();
    const std::string_view one(scan.bytes(4), 4);
    const bool is_little = one == std::string_view("\1\0\0\0", 4);
    if (!is_little && one != std::string_view("\0\0\0\1", 4)) {
      scan.fail(malformed, "the byte order cannot be determined: no number 1 after the format");
    }
    format.is_swapped = is_little != (std::endian::native == std::endian::little);
  }
  const std::string_view end = scan.word();
  if (end != "$EndMeshFormat") {
    scan.fail(malformed, in_quotes(end) + " where $EndMeshFormat is needed");
  }
  return format;
}

}  // namespace heddle::mesh
