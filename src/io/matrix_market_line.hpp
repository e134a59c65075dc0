// Faults of a line of a Matrix Market file.
#pragma once

#include <string_view>

#include "matrix_market_header.hpp"

namespace heddle::io {

/// Throws `Error`, without the place, for a line of an entry that contradicts the header.
[[noreturn]] void explain_line(std::string_view line, const Header& header);

}  // namespace heddle::io
