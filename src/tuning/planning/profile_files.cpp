#include "profile_files.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>

namespace heddle {

namespace fs = std::filesystem;

std::vector<fs::path> profiles_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    // What begins with a dot is being written; a pipe would never end.
    std::error_code gone;
    if (name.front() != '.' && name.ends_with(".json") && at->is_regular_file(gone)) {
      files.push_back(at->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

namespace {

/// The folders of the shared library that holds this function, if it lies in one, and of the
/// program.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&shipped_profiles), &library) != 0) {
    const fs::path path = library.dli_fname;  // of a program what it was called by: any text
    if (path.is_absolute()) folders.push_back(fs::weakly_canonical(path, error).parent_path());
  }
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  return folders;
}

}  // namespace

fs::path shipped_profiles() {
  const fs::path below = fs::path("share") / "heddle" / "profiles";
  std::error_code error;
  for (const fs::path& folder : own_folders()) {
    for (const fs::path& base :
         {folder, folder.parent_path(), folder.parent_path().parent_path()}) {
      if (!base.empty() && fs::is_directory(base / below, error)) return base / below;
    }
  }
  const fs::path installed = HEDDLE_INSTALLED_PROFILES;
  return fs::is_directory(installed, error) ? installed : fs::path();
}

}  // namespace heddle
