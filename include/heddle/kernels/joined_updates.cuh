// Two updates of a method with only a decision between them as one launch, whose blocks meet at the
// decision. Vectors that both updates take stay in registers, and those that only the second takes
// come into L2 while the blocks wait for one another.
#pragma once

#include "heddle/kernels/step.cuh"

namespace heddle::device {

/// The sums over all threads of a cooperative launch of up to `max_groups` groups, in the tree of
/// `add_again`.
template <int N, int Threads>
__device__ __forceinline__ void meet(const Meeting& meeting, double (&sum)[N]) {
  constexpr int warps_of_group = threads_of_group / 32;
  constexpr int per_thread = max_groups / Threads;
  const unsigned long long round = *meeting.round + 1;
  const unsigned count = gridDim.x * partials_of_block(Threads);
  add_over_warps<N, Threads>(sum, warps_of_group);
  if (threadIdx.x < Threads / 32 && threadIdx.x % warps_of_group == 0) {
    const unsigned group = blockIdx.x * partials_of_block(Threads) + threadIdx.x / warps_of_group;
#pragma unroll
    for (int v = 0; v < N; ++v) send(meeting.packets + v * max_groups + group, sum[v], round);
  }
#pragma unroll
  for (int v = 0; v < N; ++v) {
    double parts[per_thread];
#pragma unroll
    for (int s = 0; s < per_thread; ++s) {
      const unsigned at = threadIdx.x * per_thread + s;
      parts[s] = at < count ? receive(meeting.packets + v * max_groups + at, round) : 0.0;
    }
#pragma unroll
    for (int half = 1; half < per_thread; half *= 2) {
#pragma unroll
      for (int s = 0; s + half < per_thread; s += 2 * half) parts[s] += parts[s + half];
    }
    sum[v] = parts[0];
  }
  __shared__ double of_block[N];
  add_over_warps<N, Threads>(sum, 32);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int v = 0; v < N; ++v) of_block[v] = sum[v];
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < N; ++v) sum[v] = of_block[v];
  // Every block has read the last round by now, since it has sent this one.
  if (is_leader()) *meeting.round = round;
}

/// Steps `first` and `second` of the iteration, in blocks whose threads take `Chunks` chunks each.
template <class M, int first, int second, int Chunks, class S, class Chunk>
__device__ __forceinline__ void update_together(const JoinedArguments& a) {
  using L = typename M::Iteration;
  using First = methods::step_at<L, first>;
  using Second = methods::step_at<L, second>;
  constexpr methods::Facts facts = methods::facts_of<L>;
  constexpr int N = own_numbers_of<M, L, first>;
  constexpr unsigned held_by_first = facts.loads(first) | First::writes;
  constexpr unsigned fetched = facts.loads(second) & ~held_by_first;

  follow_kernel_before();
  __shared__ BlockState<M, S> state;
  if (!take_decision<M, false, first, false, threads_of_step>(a.step, state)) {
    return state.write(a.step.state, a.step.side);
  }
  state.record(a.step.state);
  const unsigned thread = blockIdx.x * threads_of_step + threadIdx.x;
  const unsigned block = thread / cuda::threads_of_block;
  const auto visit = [&](const auto& operation) {
#pragma unroll
    for (int n = 0; n < Chunks; ++n) {
      const Offset at = (Offset(block) * Chunks + n) * cuda::threads_of_block +
                        static_cast<int>(thread % cuda::threads_of_block);
      if (at * Chunk::elements < a.step.walk.elements) operation(Chunk(a.step.walk, 0, at), n);
    }
  };
  typename Chunk::Values values[Chunks][M::vectors];
  double sums[N] = {};
  {
    const auto c = state.c;
    const ElementStep<M, L, first, S, true> step{a.step, c, sums};
    visit([&](const Chunk& chunk, int n) { step.visit(chunk, values[n]); });
  }
  visit([&](const Chunk& chunk, int) {
    methods::each<0, M::vectors>([&]<int k>() {
      if constexpr ((fetched >> k & 1u) != 0) {
        const S* const from = static_cast<const S*>(a.step.vector[k]) + chunk.first;
        asm volatile("prefetch.global.L2 [%0];" : : "l"(from));
      }
    });
  });
  meet<N, threads_of_step>(a.meeting, sums);

  DecisionSums<M, false, second - 1, false, threads_of_step> between;
  constexpr int first_sum = facts.step[first].first_sum, end_sum = facts.step[second].first_sum;
  between.template take<first_sum, first_sum, end_sum, 0, 0>(sums);
  if (threadIdx.x == 0)
    state.template decide<typename methods::step_at<L, second - 1>::decision>(between.sum);
  __syncthreads();
  state.write(a.step.state, a.step.side);
  if (state.goes_on == 0) return;
  const auto c = state.c;
  const ElementStep<M, L, second, S, true> step{a.step, c, nullptr};
  visit([&](const Chunk& chunk, int n) { step.template visit<held_by_first>(chunk, values[n]); });
}

}  // namespace heddle::device
