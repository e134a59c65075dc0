// Facts about the machine that Linux reports.
#pragma once

#include <string>

namespace heddle {

/// The value of a line "key : value" in a file of /proc; empty if there is none.
std::string proc_value(const char* path, const std::string& key);

}  // namespace heddle
