// Time, place and command of a measurement.
#pragma once

#include <string>

namespace heddle::cli {

/// The current time in UTC, in the format of strftime.
std::string utc(const char* format);

/// The commit that the program was built from, followed by "+" if files had changed; empty without
/// git.
std::string commit();

/// The name of the machine that this runs on; empty if the system does not report it.
std::string host_name();

/// The command line as it was typed, as far as the system still knows it.
std::string command_line();

}  // namespace heddle::cli
