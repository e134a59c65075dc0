// Amounts in messages.
#pragma once

#include <string>

namespace heddle {

/// In binary units: "1.5 GiB".
std::string readable_bytes(long long bytes);

}  // namespace heddle
