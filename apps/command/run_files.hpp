// All files of one run: what it writes must be nothing that it reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class RunFiles {
 public:
  /// A file that the run reads, and who names it: an option, a variable, "the command". An empty
  /// path names none. Of a folder every file that is read from it is to be named.
  void reads(const std::string& by, const std::string& path);
  void reads(const std::string& by, const std::vector<std::string>& paths);
  /// A file that the run writes, and the option that names it.
  void writes(const std::string& option, const std::optional<std::string>& path);

  /// Before minutes of work. Throws `Error`: usage where an output is an input or another output,
  /// by whatever name (links of either kind, also for what is not there yet; pipes and devices may
  /// be named twice), or standard output an input; io where a file cannot appear at all.
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
