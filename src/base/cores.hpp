// The number of cores that a thread and those that work for it may use.
#pragma once

#include <string>

#include "heddle/device.hpp"

namespace heddle {

/// Depends on the affinity of the calling thread, or all places of an OpenMP runtime that has bound
/// it to one (openmp_places.hpp), and on the quota of the process's cgroups; at least 1. Determined
/// once per thread.
int usable_cores();

/// Number of cores that a loop on this device occupies; 0 on a GPU.
int processors_of(const Device& device);

/// The least quota of the process's control groups, in cores; infinity if there is none. Files are
/// looked for under `root`, which is empty except in tests.
double cores_of_control_groups(const std::string& root = "");

}  // namespace heddle
