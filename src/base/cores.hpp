// How many cores this process may use.
#pragma once

namespace heddle {

/// By the affinity of its threads and the quota of its cgroups; at least 1. Found out once.
int usable_cores();

}  // namespace heddle
