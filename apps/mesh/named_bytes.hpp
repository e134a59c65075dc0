#pragma once

#include <string_view>

namespace heddle::mesh {

/// What a file holds, inflated; `path` stands in messages.
struct NamedBytes {
  std::string_view path, bytes;
};

}  // namespace heddle::mesh
