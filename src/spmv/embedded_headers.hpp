// The headers that kernels are made of, as texts inside the library.
#pragma once

#include <span>

namespace heddle::cuda {

struct EmbeddedHeader {
  const char* name;  // path in an #include: "heddle/entries/quaternion.hpp"
  const char* text;
};

/// Every header of include/heddle/entries and include/heddle/kernels, in the order of their names.
std::span<const EmbeddedHeader> embedded_headers();

}  // namespace heddle::cuda
