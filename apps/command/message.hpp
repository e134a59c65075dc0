// What programs say on standard error.
#pragma once

#include <string>

namespace heddle::cli {

/// One line behind the program's name, whatever bytes of files and names are in it.
void say(const std::string& text);
/// The same of what does not end the run.
void warn(const std::string& text);

}  // namespace heddle::cli
