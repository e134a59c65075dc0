// What a process is told by its environment.
#pragma once

#include <filesystem>
#include <string>

namespace heddle {

/// The value of a variable; empty where it is not set.
std::string environment(const char* name);

/// $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty where neither is set.
std::filesystem::path user_cache_folder();

}  // namespace heddle
