// How many threads some work is worth.
#pragma once

#include "heddle/device.hpp"

namespace heddle {

/// Threads to share out `items` of cheap work: waking a team costs more than thousands of items do,
/// and on a busy machine the last of the team may keep the others waiting for milliseconds.
inline int team_size(const Stream& stream, long long items) {
  constexpr long long worth_a_team = 16384;
  return items < worth_a_team ? 1 : stream.threads;
}

}  // namespace heddle
