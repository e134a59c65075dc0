// Where profiles lie that nobody has to name.
#pragma once

#include <filesystem>
#include <vector>

namespace heddle {

/// Every *.json of a folder, by name; none where the folder cannot be read.
std::vector<std::filesystem::path> profiles_in(const std::filesystem::path& folder);

/// share/heddle/profiles beside, above or two above the folder of this library or of the program,
/// else under the prefix of the installation; empty where there is none. So an installation can be
/// moved as a whole, and a build tree, which has a link of that name, finds the sources' own.
std::filesystem::path shipped_profiles();

}  // namespace heddle
