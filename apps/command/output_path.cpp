#include "output_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::cli {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void check_ending(const std::string& option, const std::optional<std::string>& path,
                  const std::string& ending, const std::string& what) {
  if (!path || ends_with(*path, ending)) return;
  throw Error(ErrorKind::usage, option + " " + *path + ": " + what + " " + ending);
}

void check_output(const std::string& path) {
  namespace fs = std::filesystem;
  if (const int named = named_descriptor(path); named >= 0) {
    const int flags = fcntl(named, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
      throw Error(ErrorKind::io, "cannot write " + path + ": it is not open for writing");
    }
    return;
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ErrorKind::io, path + " is a folder; name a file to write in it");
  }
  const fs::path target = written_path(path);
  const bool exists = fs::exists(target, ignored);
  if (exists && access(target.c_str(), W_OK) != 0) {
    throw Error(ErrorKind::io, "cannot write " + path + ": " + std::strerror(errno));
  }
  // Pipes and devices are written in place. A file is written next to its target first.
  if (exists && !fs::is_regular_file(target, ignored)) return;
  const fs::path folder = target.parent_path();
  const fs::path named = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  const std::string shown = fs::is_symlink(path, ignored) ? folder.string() : named.string();
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorKind::io, "cannot write " + path + ": there is no folder " + shown);
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorKind::io, "cannot write " + path + ": no permission to write in " + shown);
  }
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace heddle::cli
