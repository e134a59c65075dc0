// How many cores this process may use.
#pragma once

#include <string>

namespace heddle {

/// By the affinity of its threads and the quota of its cgroups; at least 1. Found out once.
int usable_cores();

/// The least quota of the process's control groups, in cores; infinity where there is none. Files
/// are looked for under `root`, which is empty but in tests.
double cores_of_control_groups(const std::string& root = "");

}  // namespace heddle
