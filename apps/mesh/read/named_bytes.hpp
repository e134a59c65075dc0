#pragma once

#include <string_view>

namespace heddle::mesh {

/// The contents of a file, inflated; `path` is used in messages.
struct NamedBytes {
  std::string_view path, bytes;
};

}  // namespace heddle::mesh
