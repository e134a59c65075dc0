#include "environment.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

namespace heddle {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path user_cache_folder() {
  // The XDG specification requires that relative paths are ignored.
  const std::filesystem::path caches = environment("XDG_CACHE_HOME");
  if (caches.is_absolute()) return caches / "heddle";
  const std::filesystem::path home = environment("HOME");
  return home.is_absolute() ? home / ".cache" / "heddle" : std::filesystem::path();
}

std::error_code make_private_folder(const std::filesystem::path& folder) {
  constexpr mode_t owner_alone = 0700;
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return {};
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    if (const std::error_code failed = make_private_folder(folder.parent_path())) return failed;
  }
  if (mkdir(folder.c_str(), owner_alone) == 0) return {};
  const std::error_code reason(errno, std::generic_category());
  return std::filesystem::is_directory(folder, ignored) ? std::error_code() : reason;
}

}  // namespace heddle
