// Whole files in memory.
#pragma once

#include <string>

namespace heddle::mesh {

/// The contents of a file, inflated where it is compressed with gzip. Throws `Error` (io).
std::string read_bytes(const std::string& path);

}  // namespace heddle::mesh
