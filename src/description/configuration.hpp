// The library and its machine, for reports of errors.
#pragma once

#include <string>

namespace heddle::detail {

/// A JSON object: versions and the file of the library, the processor, what was compiled in, GPUs
/// and NVIDIA's libraries or why there are none, folders and the environment. Opens these libraries
/// as a solve on a GPU does, but takes no GPU's memory.
std::string configuration();

}  // namespace heddle::detail
