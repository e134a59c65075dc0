// What Linux tells of the machine.
#pragma once

#include <string>

namespace heddle {

/// The value behind "key : value" in a file of /proc; empty where it is not there.
std::string proc_value(const char* path, const std::string& key);

}  // namespace heddle
