// Settings that a process gets from its environment.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace heddle {

/// The value of a variable; empty if it is not set.
std::string environment(const char* name);

/// $XDG_CACHE_HOME/heddle, else $HOME/.cache/heddle; empty if neither is set.
std::filesystem::path user_cache_folder();

/// Makes a folder and those above it, as far as they are missing, for this user alone. Returns the
/// reason if that fails.
std::error_code make_private_folder(const std::filesystem::path& folder);

}  // namespace heddle
