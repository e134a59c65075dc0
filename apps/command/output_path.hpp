// The paths of files that a command will write.
#pragma once

#include <optional>
#include <string>

namespace heddle::cli {

bool ends_with(const std::string& text, const std::string& end);

/// Throws `Error` (usage) for a path that ends otherwise: "--output a.png: surfaces are written as
/// .obj", of which `what` is the middle.
void check_ending(const std::string& option, const std::optional<std::string>& path,
                  const std::string& ending, const std::string& what);

/// Can a file appear there at all? Throws `Error` (usage, io).
void check_output(const std::string& path);

/// The whole file or none.
void write_file(const std::string& path, const std::string& text);

}  // namespace heddle::cli
