// The format of a Gmsh file, from its beginning.
#pragma once

#include "text_scanner.hpp"

namespace heddle::mesh {

struct GmshFormat {
  enum class Version { msh_1, msh_2, msh_4_0, msh_4_1 };

  Version version = Version::msh_2;
  bool is_binary = false;
  bool is_swapped = false;  // bytes are not in this machine's order
};

/// Reads to the end of $MeshFormat, which format 1 lacks: there, to the start of $NOD. Throws
/// `Error` (malformed_file).
GmshFormat read_gmsh_format(TextScanner& scan);

}  // namespace heddle::mesh
