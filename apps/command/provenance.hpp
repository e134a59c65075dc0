// When, where and by which command a measurement was made.
#pragma once

#include <string>

namespace heddle::cli {

/// Now, as strftime writes it, in UTC.
std::string utc(const char* format);

/// That the program was built from, "+" behind it where files had changed; empty without git.
std::string commit();

/// The name of the machine that this runs on; empty where the system does not tell it.
std::string host_name();

/// As it was typed, as far as the system still knows.
std::string command_line();

}  // namespace heddle::cli
