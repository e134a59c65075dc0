// Words and numbers in messages.
#pragma once

#include <string>

namespace heddle::simulation {

/// A number in as few digits as read back the same.
std::string shortest(double value);

/// A word of a file's, so that the message stays one line: without control characters, and cut
/// where it is long.
std::string printable(const std::string& word);

}  // namespace heddle::simulation
