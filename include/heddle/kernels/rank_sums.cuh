// Sums of ranks with a GPU each, joined at the start of the kernels that decide by them, which
// takes less time than a separate kernel. Each of the first blocks joins the groups of a node and
// sends its numbers to all ranks. The blocks that run at once wait for the numbers of all nodes and
// join them. A launch begins with its first blocks, so none waits for one that finds no room.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/peer_words.cuh"
#include "heddle/kernels/rank_arguments.hpp"

namespace heddle::device {

struct SharedSumsOfRanks {
  static constexpr int warps_of_node = groups_of_node / 32;

  double numbers[max_nodes_of_ranks * max_numbers_of_source];
  double of_warp[warps_of_node * max_numbers_of_source];
  // Loads from far away would be waited for at every level.
  NodeJoining joinings[max_nodes_of_ranks];
  int levels[max_levels_of_ranks + 1];
};

/// One for all sources of a kernel.
__device__ __forceinline__ SharedSumsOfRanks& shared_sums_of_ranks() {
  __shared__ SharedSumsOfRanks shared;
  return shared;
}

/// A number of a group, summed from the parts that blocks left.
__device__ __forceinline__ double sum_of_parts(const double* from, int parts, int count) {
  if (parts == 1) return from[0];
  if (parts == 2) return from[0] + from[count];
  double sum = (from[0] + from[count]) + (from[2 * count] + from[3 * count]);
  if (parts == 8) {
    from += 4 * count;
    sum += (from[0] + from[count]) + (from[2 * count] + from[3 * count]);
  }
  return sum;
}

/// Called by a block: adds the groups of a node in a pairwise tree, and sends its numbers to all
/// ranks.
template <int N>
__device__ __forceinline__ void send_node(const SumsOfRanks& a, int node, const PartialSums& own,
                                          Offset first, unsigned round, SharedSumsOfRanks& shared) {
  constexpr unsigned all = 0xffffffffu;
  constexpr int warps = SharedSumsOfRanks::warps_of_node;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = lane % warps;
  const int groups = a.groups[node];
  // Loads that nothing else waits for.
  PeerPacket* const inbox_of_lane = warp < a.ranks ? a.inboxes[warp] : nullptr;
  const Index at = thread < groups_of_node ? a.group_at[node * groups_of_node + thread] : -1;
  double sum[N];
#pragma unroll
  for (int v = 0; v < N; ++v) {
    sum[v] =
        at < 0 ? 0.0 : sum_of_parts(own.partials + Offset(at) * own.parts * N + v, own.parts, N);
  }
  for (int half = 1; half < 32; half *= 2) {
#pragma unroll
    for (int v = 0; v < N; ++v) {
      const double other = __shfl_down_sync(all, sum[v], half);
      if (thread % (2 * half) == 0 && thread + half < groups) sum[v] += other;
    }
  }
  __syncthreads();  // the numbers of the node before are read
  if (lane == 0 && thread < groups_of_node) {
#pragma unroll
    for (int v = 0; v < N; ++v) shared.of_warp[v * warps + thread / 32] = sum[v];
  }
  __syncthreads();
  if (thread >= 32) return;
  // Eight lanes per number.
#pragma unroll
  for (int four = 0; four < N; four += 32 / warps) {
    const int v = four + lane / warps;
    double value = v < N ? shared.of_warp[v * warps + warp] : 0.0;
    for (int half = 1; half < warps; half *= 2) {
      const double other = __shfl_down_sync(all, value, half, warps);
      if (warp % (2 * half) == 0 && (warp + half) * 32 < groups) value += other;
    }
    value = __shfl_sync(all, value, 0, warps);
    if (v >= N) continue;
    for (int rank = warp; rank < a.ranks; rank += warps) {
      PeerPacket* const inbox = rank == warp ? inbox_of_lane : a.inboxes[rank];
      send_to_peer(inbox + first + (a.first_node + node) * N + v, value, round);
    }
  }
}

/// The sums over the rows of all ranks, from the partial sums that earlier kernels left for each of
/// this rank's groups; valid in thread 0. Called by all blocks, and by the kernels of all ranks.
/// `source`: index among this kernel's sources.
template <int N, int Threads>
__device__ __forceinline__ void add_over_ranks(const SumsOfRanks& a, int source,
                                               const PartialSums& own, double (&total)[N]) {
  static_assert(Threads % groups_of_node == 0 && N <= max_numbers_of_source);
  SharedSumsOfRanks& shared = shared_sums_of_ranks();
  const int thread = static_cast<int>(threadIdx.x);
  if (source > 0) __syncthreads();  // the numbers of the one before are read
  const unsigned round = round_of_launch(a.rounds + a.turn);
  const Offset first = a.packet(source);
  for (int node = static_cast<int>(blockIdx.x); node < a.own_nodes;
       node += static_cast<int>(gridDim.x)) {
    send_node<N>(a, node, own, first, round, shared);
  }
  PeerPacket* const totals = a.inbox + a.packet_of_total(source);
  if (blockIdx.x >= max_joining_blocks) {
    double number = 0;
    if (thread < N) {
      await_peer([&] { return look_at_packet(totals + thread, round, number); }, a.given_up);
      shared.numbers[thread] = number;
    }
    __syncthreads();
    if (thread > 0) return;
#pragma unroll
    for (int v = 0; v < N; ++v) total[v] = shared.numbers[v];
    return;
  }
  // Late blocks of this kernel read the other word.
  if (blockIdx.x == 0 && thread == 0) a.rounds[1 - a.turn] = round;
  for (int i = thread; i < a.nodes - 1; i += Threads) shared.joinings[i] = a.joinings[i];
  for (int i = thread; i <= a.level_count; i += Threads) shared.levels[i] = a.levels[i];
  const PeerPacket* const inbox = a.inbox + first;
  for (int i = thread; i < a.nodes * N; i += Threads) {
    double number = 0;
    await_peer([&] { return look_at_packet(inbox + i, round, number); }, a.given_up);
    shared.numbers[i] = number;
  }
  __syncthreads();
  if (thread >= 32) return;
  for (int level = 0; level < a.level_count; ++level) {
    const int end = shared.levels[level + 1] * N;
    for (int i = shared.levels[level] * N + thread; i < end; i += 32) {
      const NodeJoining joining = shared.joinings[i / N];
      shared.numbers[joining.to * N + i % N] += shared.numbers[joining.from * N + i % N];
    }
    __syncwarp();
  }
#pragma unroll
  for (int v = 0; v < N; ++v) total[v] = a.nodes == 0 ? 0.0 : shared.numbers[a.root * N + v];
  if (blockIdx.x > 0 || thread > 0 || gridDim.x <= max_joining_blocks) return;
#pragma unroll
  for (int v = 0; v < N; ++v) send_to_peer(totals + v, total[v], round);
}

}  // namespace heddle::device
