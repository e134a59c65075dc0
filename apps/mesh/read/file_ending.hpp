#pragma once

#include <string>

namespace heddle::mesh {

/// Removes the ending, with any ".gz" or the like, from a path, and returns it in lower case.
std::string take_ending(std::string& path);

}  // namespace heddle::mesh
