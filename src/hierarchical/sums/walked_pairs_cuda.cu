#include "walked_pairs_cuda.hpp"

#include <bit>
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "heddle/detail/trees/task_scheduler_cuda.hpp"
#include "heddle/kernels/trees/tree_sum_operation.hpp"
#include "walked_pairs.hpp"

namespace heddle::cuda {

WalkedPairs walked_pairs(const std::shared_ptr<const TreeOnGpu>& A,
                         const std::shared_ptr<const TreeOnGpu>& B, bool transposes_b,
                         const Device& device) {
  const heddle::detail::Tree& tree = A->matrix().tree();
  const std::size_t most = heddle::detail::max_walked_pairs(tree, B->matrix().tree());
  const auto bits_of = [&](Index size) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(tree.leaf.blocks_of(size))));
  };
  WalkedPairs walked{UnsetArray<heddle::device::TreeLeaf>(most, device),
                     UnsetArray<heddle::device::TreeLeaf>(most, device),
                     Array<int>(most, device),
                     {},
                     {},
                     0,
                     bits_of(tree.columns)};
  if (most == 0) return walked;
  SortBuffers places(most, device);
  Array<unsigned> count(1, device);
  const TaskScheduler scheduler(
      {"heddle::TreeSumOperation", {"heddle/kernels/trees/tree_sum_operation.hpp"}},
      sizeof(TreeSumOperation), {A, B}, device, true);
  TreeSumOperation walk{};
  walk.pools = scheduler.pools();
  walk.shape = tree.leaf;
  walk.pools_of_b = scheduler.pools() + A->addresses().size();
  walk.records = {walked.a.data(),    walked.b.data(), places.key[0].data(),
                  walked.held.data(), count.data(),    walked.column_bits};
  walk.transposes_b = transposes_b;
  scheduler.run(&walk);
  walked.count = read_value(count.data(), device);
  for_each_index(device.stream(), walked.count,
                 [order = places.value[0].data()] __device__(Offset record) {
                   order[record] = static_cast<Index>(record);
                 });
  sort_by_key(places, walked.count, bits_of(tree.rows) + walked.column_bits, device);
  walked.place = std::move(places.key[places.current]);
  walked.order = std::move(places.value[places.current]);
  wait_before_memory_goes_back(device);
  return walked;
}

}  // namespace heddle::cuda
