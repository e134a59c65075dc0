#include "loop_sums_cuda.hpp"

#include "base/launch_cuda.cuh"
#include "heddle/error.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"
#include "heddle/row_share.hpp"
#include "ranks_in_loop.hpp"

namespace heddle::cuda {

namespace {

constexpr int threads = 1024;

template <int N>
__global__ void __launch_bounds__(threads)
    add_all(device::PartialSums sums, double* to, Offset stride) {
  device::follow_kernel_before();
  sums.partials += blockIdx.x * stride;
  to += blockIdx.x * stride;
  double total[N];
  device::add_again<N, threads>(sums, total);
  if (threadIdx.x < N) to[threadIdx.x] = total[threadIdx.x];
}

RanksInLoop& ranks_of(const Stream& stream) {
  auto* const ranks = dynamic_cast<RanksInLoop*>(stream.share);
  if (ranks != nullptr) return *ranks;
  throw Error(ErrorKind::unsupported, "these ranks cannot join sums on a GPU");
}

}  // namespace

device::PartialSums joined_by_ranks(int numbers, int parts, double* partials, double* joined,
                                    const Stream& stream) {
  ranks_of(stream).queue_join(partials, parts, numbers, joined, stream);
  return {joined, 1, 1};
}

device::SumsOfRanks sums_of_next_kernel(const Stream& stream) {
  return ranks_of(stream).next_sums(stream);
}

bool can_overlap_sums(const Stream& stream) { return can_overlap(add_all<1>, stream); }

device::PartialSums for_every_block(int numbers, const device::PartialSums& sums, unsigned blocks,
                                    double* joined, const SystemsOfSums& systems, bool overlapped,
                                    const Stream& stream) {
  // At this limit, the reads of all blocks take as long as a separate kernel, some 4 us.
  constexpr Offset max_reads = 1 << 21;
  const Offset count = Offset(numbers) * sums.count;
  if (count <= device::max_for_every_block && count * blocks * systems.count <= max_reads)
    return sums;
  using Kernel = void (*)(device::PartialSums, double*, Offset);
  constexpr Kernel kernels[] = {add_all<1>, add_all<2>, add_all<3>, add_all<4>,
                                add_all<5>, add_all<6>, add_all<7>, add_all<8>};
  launch_kernel(kernels[numbers - 1], systems.count, threads, overlapped, stream, sums, joined,
                systems.stride);
  return {joined, 1, 1};
}

}  // namespace heddle::cuda
