// The paths of files that a command will write.
#pragma once

#include <string>
#include <vector>

namespace heddle::cli {

bool ends_with(const std::string& text, const std::string& end);

/// Before minutes of work: can a file appear there at all? Throws `Error` (usage, io).
void check_output(const std::string& option, const std::string& path);

/// A file that a command reads or writes, and the option that names it.
struct NamedFile {
  std::string option;
  std::string path;
};
/// Throws `Error` (usage) where an output is one of the inputs, or another output, by whatever
/// name.
void check_distinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// The whole file or none.
void write_file(const std::string& path, const std::string& text);

}  // namespace heddle::cli
