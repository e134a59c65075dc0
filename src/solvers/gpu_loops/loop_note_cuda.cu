#include "loop_note_cuda.hpp"

#include "base/cuda_call.hpp"

namespace heddle::cuda {

namespace {

__global__ void write_note(const device::LoopState* state, LoopNote* to) {
  const long long iteration = state->iteration;
  to->end = state->end;
  to->iteration = iteration;
  to->squared_norm = iteration > 0 ? state->history[iteration - 1] : 0;
}

__global__ void write_wish(int end, device::LoopWatch* watch) { watch->cancel = end; }

}  // namespace

void note(const device::LoopState* state, LoopNote* to, const Stream& stream) {
  const OnGpu here(stream);
  write_note<<<1, 1, 0, stream.queue>>>(state, to);
  check(cudaGetLastError(), "launch of a note on the loop");
}

void ask_for(device::LoopEnd end, device::LoopWatch* watch, const Stream& stream) {
  const OnGpu here(stream);
  write_wish<<<1, 1, 0, stream.queue>>>(end, watch);
  check(cudaGetLastError(), "launch of a request to end the loop");
}

}  // namespace heddle::cuda
