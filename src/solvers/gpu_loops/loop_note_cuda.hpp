// What ranks on GPUs see of a run between two iterations: all of them the same.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::cuda {

/// The state of a run behind a body. Kernels write the watch as they go, so that two ranks may find
/// another iteration there.
struct LoopNote {
  int end = device::loop_runs;  // a LoopEnd
  long long iteration = 0;
  double squared_norm = 0;  // of the residual, where there has been an iteration
};

/// In stream order, into mapped memory of the host.
void note(const device::LoopState* state, LoopNote* to, const Stream& stream);

/// What the stream does from here on finds that the host wants `end`.
void ask_for(device::LoopEnd end, device::LoopWatch* watch, const Stream& stream);

}  // namespace heddle::cuda
