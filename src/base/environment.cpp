#include "environment.hpp"

#include <cstdlib>

namespace heddle {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path user_cache_folder() {
  // The XDG specification has relative paths ignored.
  const std::filesystem::path caches = environment("XDG_CACHE_HOME");
  if (caches.is_absolute()) return caches / "heddle";
  const std::filesystem::path home = environment("HOME");
  return home.is_absolute() ? home / ".cache" / "heddle" : std::filesystem::path();
}

}  // namespace heddle
