// The memory that Linux still gives to this process.
#pragma once

#include <string>

#include "heddle/device.hpp"

namespace heddle {

/// Bytes that can be allocated on the host without swapping: what the machine has available, within
/// what RLIMIT_AS, RLIMIT_DATA and `control_groups_leave` permit.
long long available_host_memory();

/// The device's `available_memory()`. On a host, if less than 16 MiB are needed, it returns
/// `needed`: the look would take longer than the work that needs so little, and an allocation that
/// fails reports it as well.
inline long long available_memory_for(long long needed, const Device& device) {
  constexpr long long worth_a_look = 16LL << 20;
  return device.on_gpu() || needed >= worth_a_look ? device.available_memory() : needed;
}

/// The least that the control groups of the process leave, from its own up to the root, of version
/// 1 or 2; pages of files that they keep count as free. The largest number if there is no limit.
/// Files are looked for under `root`, which is empty except in tests.
long long control_groups_leave(const std::string& root = "");

}  // namespace heddle
