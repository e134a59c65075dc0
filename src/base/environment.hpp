// What a process is told by its environment.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace heddle {

/// The value of a variable; empty where it is not set.
std::string environment(const char* name);

/// $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty where neither is set.
std::filesystem::path user_cache_folder();

/// Makes a folder and those above it, as far as they are missing, for this user alone. The reason
/// where that fails.
std::error_code make_private_folder(const std::filesystem::path& folder);

}  // namespace heddle
