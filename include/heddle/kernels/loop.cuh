// Parts that loops on a GPU share: clocks, requests to stop, and exchange between all blocks.
#pragma once

#include "heddle/kernels/loop_state.hpp"
#include "heddle/kernels/persistent_arguments.hpp"
#include "heddle/methods/judge.hpp"

namespace heddle::device {

__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// The one thread of a launch that writes the state.
__device__ __forceinline__ bool is_leader() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Kernels of a graph's loop may overlap (programmatic dependent launch): the next one comes onto
// the GPU while this one runs, and waits there until all of this one is done. Each calls both
// functions below, the second on every path: the end of a kernel implies that of the kernels before
// it only if it has waited for them. Neither function does anything for kernels that were not
// launched this way.

/// Lets the next kernel's blocks start as soon as all of this one's have started.
__device__ __forceinline__ void let_next_kernel_come() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// From here on, what earlier kernels wrote may be read, and what they read may be overwritten.
__device__ __forceinline__ void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The beginning of a kernel of a graph's loop, unless it has something to do meanwhile.
__device__ __forceinline__ void follow_kernel_before() {
  let_next_kernel_come();
  await_kernel_before();
}

/// The end that the host or the clock requests. The host's flag is far away, so short iterations do
/// not all look at it: `unwatched` of them, 2^k - 1, pass without a look.
__device__ __forceinline__ int requested_end(const LoopState& state, unsigned long long deadline,
                                             long long iteration,
                                             long long unwatched = usually_unwatched) {
  if ((iteration & unwatched) != 0) return loop_runs;
  if (const int wish = state.watch->cancel; wish != loop_runs) return wish;
  if (deadline != 0 && nanoseconds() >= deadline) return loop_time;
  return loop_runs;
}

/// True if the run has ended; for work between the steps of a graph. Steps write `end`, and
/// products, a preconditioner's own kernel and the WHILE node read it: no kernel writes what its
/// blocks read.
__device__ __forceinline__ bool is_over(const LoopState& state) { return state.end != loop_runs; }

/// Called by a vector kernel of a graph: sets why the run ends, if it does. The host may be polling
/// for it.
__device__ __forceinline__ void set_end(LoopState& state, int end) {
  state.end = end;
  if (end != loop_runs) state.watch->end = end;
}

/// Called in a graph: `iteration` iterations are done, and left a residual of this squared norm.
__device__ __forceinline__ void record_iteration(LoopState& state, long long iteration,
                                                 double squared_norm) {
  state.iteration = iteration;
  state.history[iteration - 1] = squared_norm;
  if ((iteration & state.limits.unwatched) == 0) {
    state.watch->squared_norm = squared_norm;
    state.watch->iteration = iteration;
  }
}

__device__ __forceinline__ void send(Packet* to, double value, unsigned long long round) {
  asm volatile(
      "{\n\t.reg .b128 packet;\n\tmov.b128 packet, {%1, %2};\n\t"
      "st.relaxed.gpu.global.b128 [%0], packet;\n\t}"
      :
      : "l"(to), "l"(__double_as_longlong(value)), "l"(round)
      : "memory");
}
/// True if the packet belongs to `round`; `value` is then its number.
__device__ __forceinline__ bool look(const Packet* from, unsigned long long round, double& value) {
  unsigned long long bits, seen;
  asm volatile(
      "{\n\t.reg .b128 packet;\n\tld.relaxed.gpu.global.b128 packet, [%2];\n\t"
      "mov.b128 {%0, %1}, packet;\n\t}"
      : "=l"(bits), "=l"(seen)
      : "l"(from)
      : "memory");
  value = __longlong_as_double(bits);
  return seen == round;
}
__device__ __forceinline__ double receive(const Packet* from, unsigned long long round) {
  double value;
  while (!look(from, round, value)) {
  }
  return value;
}

__device__ __forceinline__ void announce(unsigned long long* flag, unsigned long long round) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(flag), "l"(round) : "memory");
}
/// Waits for that round or a later one: rounds grow, and the announcing block may already be ahead.
__device__ __forceinline__ void await(const unsigned long long* flag, unsigned long long round) {
  unsigned long long seen;
  do {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
  } while (seen < round);
}

/// Everything that blocks wrote before is visible to all of them afterwards. One thread per block
/// announces; as many threads as there are blocks wait.
__device__ __forceinline__ void barrier(unsigned long long* flags, unsigned long long round) {
  __syncthreads();
  if (threadIdx.x == 0) announce(flags + blockIdx.x, round);
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
    await(flags + block, round);
  }
  __syncthreads();
}

}  // namespace heddle::device
