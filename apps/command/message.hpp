// Messages of programs on standard error.
#pragma once

#include <string>

namespace heddle::cli {

/// Prints one line after the program's name, whatever bytes of files and names it contains.
void say(const std::string& text);
/// Like `say`, for a problem that does not end the run.
void warn(const std::string& text);

}  // namespace heddle::cli
