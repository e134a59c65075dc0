#include "shared_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "heddle/error.hpp"

namespace heddle {

namespace {

std::vector<std::string> usual_places(const std::string& name) {
  std::vector<std::string> places = {name};
  const auto add = [&](const std::filesystem::path& toolkit) {
    for (const char* folder : {"lib64", "lib"}) {
      places.push_back((toolkit / folder / name).string());
    }
  };
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') add(home);
  add("/usr/local/cuda");
  return places;
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& variable, const std::vector<std::string>& names) {
  if (const char* named = std::getenv(variable.c_str()); named != nullptr && *named != '\0') {
    const std::filesystem::path path = named;
    std::error_code unread;  // an unreadable path is a file that the loader refuses
    const bool is_open =
        std::filesystem::is_directory(path, unread)
            ? std::any_of(names.begin(), names.end(),
                          [&](const auto& name) { return open((path / name).string()); })
            : open(path.string());
    if (is_open) return;
    // Includes the loader's message, which names the path.
    throw Error(ErrorKind::no_device,
                variable + " names no library that can be opened: " + std::string(dlerror()));
  }
  std::string looked_for;
  for (const std::string& name : names) {
    looked_for += (looked_for.empty() ? "" : ", ") + name;
    for (const std::string& place : usual_places(name)) {
      if (open(place)) return;
    }
  }
  throw Error(ErrorKind::no_device,
              "not found: " + looked_for +
                  " (on the loader's path, in $CUDA_HOME and in /usr/local/cuda); " + variable +
                  " may name its file or folder");
}

bool SharedLibrary::open(const std::string& path) {
  path_ = path;
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library_ != nullptr;
}

void* SharedLibrary::address(const char* name) const {
  void* found = address_or_null(name);
  if (found == nullptr) {
    throw Error(ErrorKind::unsupported, path_ + " has no " + name + "; install a newer one");
  }
  return found;
}

void* SharedLibrary::address_or_null(const char* name) const { return dlsym(library_, name); }

std::string file_of(const void* code) {
  Dl_info found{};
  return dladdr(code, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "";
}

}  // namespace heddle
