// Devices by the names that options give them.
#pragma once

#include <optional>
#include <string_view>

namespace heddle {

/// CUDA's number of the GPU that "cuda" or "cuda:N" names; none for "cpu". "auto" is GPU 0 if it
/// works, else none. Throws `Error` (usage) for any other name.
std::optional<int> gpu_named(std::string_view given);

}  // namespace heddle
