// The control groups of Linux that a process is in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

struct ControlGroup {
  int version = 2;
  std::filesystem::path folder;
};

/// The groups that may limit what `controller` ("cpu", "memory") gives to this process, from its
/// own up to the root, of versions 1 and 2; some folders may not exist. Files are looked for under
/// `root`, which is empty except in tests.
std::vector<ControlGroup> control_groups(const std::string& controller,
                                         const std::string& root = "");

}  // namespace heddle
