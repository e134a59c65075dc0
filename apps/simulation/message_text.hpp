// Words and numbers in messages.
#pragma once

#include <string>

namespace heddle::simulation {

/// A number in the fewest digits that read back as the same number.
std::string shortest(double value);

/// A word from a file, made safe for a one-line message: without control characters, and cut if it
/// is long.
std::string printable(const std::string& word);

}  // namespace heddle::simulation
