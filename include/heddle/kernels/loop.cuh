// What loops on a GPU share: clocks, the wish to stop, and exchange between all blocks.
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
// functions below, the second on every path: that a kernel is done tells of those before it only if
// it has waited for them. Neither does anything for kernels that were not launched so.

/// The next kernel's blocks may come, as soon as all of this one's are there.
__device__ __forceinline__ void let_next_kernel_come() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// From here on, what kernels before this one wrote may be read, and what they read be written.
__device__ __forceinline__ void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// How a kernel of a graph's loop begins, unless it has something to do meanwhile.
__device__ __forceinline__ void follow_kernel_before() {
  let_next_kernel_come();
  await_kernel_before();
}

/// What the host or the clock asks for; the host's flag is far away, so not in every iteration that
/// is short: `unwatched` of them, 2^k - 1, go by without a look.
__device__ __forceinline__ int requested_end(const LoopState& state, unsigned long long deadline,
                                             long long iteration,
                                             long long unwatched = usually_unwatched) {
  if ((iteration & unwatched) != 0) return loop_runs;
  if (const int wish = state.watch->cancel; wish != loop_runs) return wish;
  if (deadline != 0 && nanoseconds() >= deadline) return loop_time;
  return loop_runs;
}

/// Of work between steps in a graph: true if the run has ended. Steps write `end`, and products, a
/// preconditioner's own kernel and the WHILE node read it: no kernel writes what its blocks read.
__device__ __forceinline__ bool is_over(const LoopState& state) { return state.end != loop_runs; }

/// For a graph, by a vector kernel: why the run ends, if it does. The host may be looking out for
/// it.
__device__ __forceinline__ void set_end(LoopState& state, int end) {
  state.end = end;
  if (end != loop_runs) state.watch->end = end;
}

/// For a graph: so many iterations are done, and left a residual of this squared norm.
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
/// Whether the packet is that of `round`; `value` is then its number.
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
/// For that round or a later one: rounds grow, and whoever announced one may be ahead already.
__device__ __forceinline__ void await(const unsigned long long* flag, unsigned long long round) {
  unsigned long long seen;
  do {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
  } while (seen < round);
}

/// What all blocks wrote before is visible to all of them after. One thread a block announces, as
/// many as there are blocks wait.
__device__ __forceinline__ void barrier(unsigned long long* flags, unsigned long long round) {
  __syncthreads();
  if (threadIdx.x == 0) announce(flags + blockIdx.x, round);
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
    await(flags + block, round);
  }
  __syncthreads();
}

}  // namespace heddle::device
