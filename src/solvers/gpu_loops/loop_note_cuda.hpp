// The view that ranks on GPUs have of a run between two iterations, the same for all of them.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::cuda {

/// The state of a run after a body. Kernels write the watch as they go, so two ranks may find
/// different iterations there.
struct LoopNote {
  int end = device::loop_runs;  // a LoopEnd
  long long iteration = 0;
  double squared_norm = 0;  // the residual's, if there has been an iteration
};

/// Writes a note in stream order, into mapped memory of the host.
void note(const device::LoopState* state, LoopNote* to, const Stream& stream);

/// Work on the stream from here on finds that the host requests `end`.
void ask_for(device::LoopEnd end, device::LoopWatch* watch, const Stream& stream);

}  // namespace heddle::cuda
