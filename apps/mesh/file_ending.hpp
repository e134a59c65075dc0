#pragma once

#include <string>

namespace heddle::mesh {

/// Takes ".gz" and the like off the end of a path, and returns it in lower case.
std::string take_ending(std::string& path);

}  // namespace heddle::mesh
