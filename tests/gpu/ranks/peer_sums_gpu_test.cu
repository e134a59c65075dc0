// Sums over ranks that a kernel joins at its start, compared with those of a separate kernel.
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "base/cuda_call.hpp"
#include "distributed/communicators/group_sums_cuda.hpp"
#include "distributed/communicators/peer_sums_cuda.hpp"
#include "heddle/communicator.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/rank_sums.cuh"
#include "heddle/partition.hpp"
#include "support/on_gpu.hpp"

namespace peer_sums_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class PeerSumsOnGpu : public OnGpu {};

constexpr int numbers = 5;
constexpr int threads = 512;

/// Every block stores the sums that it has joined.
__global__ void sums_of_blocks(const __grid_constant__ heddle::device::SumsOfRanks ranks,
                               const heddle::device::PartialSums own, double* to) {
  double total[numbers];
  heddle::device::add_over_ranks<numbers, threads>(ranks, 0, own, total);
  if (threadIdx.x != 0) return;
  for (int v = 0; v < numbers; ++v) to[blockIdx.x * numbers + v] = total[v];
}

/// A single rank: kernels of several ranks on one GPU might wait for one another.
TEST_F(PeerSumsOnGpu, HaveTheBitsOfAKernelForThem) {
  std::mt19937_64 generator(195);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Stream& stream = device.stream();
  const cuda::OnGpu here(stream);
  const Array<int> given_up(1, device);
  for (const long long groups : {1LL, 77LL, 256LL, 300LL, 9'001LL}) {
    for (const int parts : {1, 2, 4}) {
      SCOPED_TRACE(std::to_string(groups) + " groups, parts " + std::to_string(parts));
      std::vector<double> values(static_cast<std::size_t>(groups * parts * numbers));
      for (double& value : values) value = uniform(generator);
      std::vector<Index> group_at(static_cast<std::size_t>(groups));
      std::iota(group_at.rbegin(), group_at.rend(), 0);
      const Array<double> partials(std::span<const double>(values), device);
      long long width = 1;
      while (width < groups) width *= 2;
      cuda::GroupSums alone({detail::GroupNode{0, width}}, group_at, device);
      Array<double> joined(numbers, device);
      alone.queue(partials.data(), parts, numbers, RowShare::Join::sum, joined.data(), stream);
      const std::vector<double> expected = joined.to_host();
      const Partition partition = Partition::even(groups * rows_of_group, 1);
      run_on_ranks(1, [&](Communicator& ranks) {
        const detail::GroupTree tree(partition, heddle::device::groups_of_node);
        ASSERT_TRUE(cuda::PeerSums::takes(tree));
        cuda::PeerSums sums(ranks, tree, group_at, given_up.data(), device);
        // Fewer blocks than nodes, and more; round after round.
        for (const unsigned blocks : {1u, 3u, 1500u}) {
          Array<double> of_blocks(std::size_t{blocks} * numbers, device);
          sums_of_blocks<<<blocks, threads, 0, stream.queue>>>(
              sums.of_next_kernel(stream),
              {partials.data(), static_cast<unsigned>(groups * parts), parts}, of_blocks.data());
          cuda::check(cudaGetLastError(), "launch of a test's kernel");
          const std::vector<double> found = of_blocks.to_host();
          for (std::size_t k = 0; k < found.size(); ++k) {
            ASSERT_EQ(found[k], expected[k % numbers]) << blocks << " blocks, number " << k;
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace peer_sums_gpu
