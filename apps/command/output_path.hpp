// The paths of files that a command will write.
#pragma once

#include <optional>
#include <string>

namespace heddle::cli {

bool ends_with(const std::string& text, const std::string& end);

/// Throws `Error` (usage) for a path with another ending: "--output a.png: surfaces are written as
/// .obj", where `what` is the middle.
void check_ending(const std::string& option, const std::optional<std::string>& path,
                  const std::string& ending, const std::string& what);

/// Checks that a file can appear there at all. Throws `Error` (usage, io).
void check_output(const std::string& path);

/// Writes the whole file or none.
void write_file(const std::string& path, const std::string& text);

}  // namespace heddle::cli
