#pragma once

#include "heddle/error.hpp"

namespace heddle::mesh {

constexpr auto malformed = ErrorKind::malformed_file;

}  // namespace heddle::mesh
