// All files of one run: no file that it writes may be one that it reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class RunFiles {
 public:
  /// A file that the run reads, and the source of its name: an option, a variable, "the command".
  /// An empty path is ignored. For a folder, every file that is read from it must be given.
  void reads(const std::string& by, const std::string& path);
  void reads(const std::string& by, const std::vector<std::string>& paths);
  /// A file that the run writes, and the option that names it.
  void writes(const std::string& option, const std::optional<std::string>& path);

  /// Called before minutes of work. Throws `Error`: usage if an output is an input or another
  /// output under any name (links of either kind, also to files that do not exist yet; pipes and
  /// devices may be named twice), or if standard output is an input; io if a file cannot appear at
  /// all.
  void check() const;

 private:
  struct File {
    std::string by;
    std::string path;
  };
  std::vector<File> inputs_;
  std::vector<File> outputs_;
};

}  // namespace heddle::cli
