// Sums of trees on a GPU: finds which leaves of both meet, and merges each pair of leaves.
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/temporary_memory_cuda.hpp"
#include "counted_pairs_cuda.hpp"
#include "heddle/detail/trees/tree_sum_again.hpp"
#include "hierarchical/tree_builder_cuda.hpp"
#include "hierarchical/tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

/// True if the leaves of a sum are those of a schedule by rows, and hold as many entries.
bool are_leaves_of(const TreeSchedule& schedule, const LevelOnGpu& leaves, const Device& device) {
  if (leaves.nodes() != static_cast<Offset>(schedule.cut.leaves.size())) return false;
  Array<int> differs(1, device);
  for_each_index(device.stream(), leaves.nodes(),
                 [there = schedule.cut.leaves.data(), first = schedule.first.data(),
                  row = leaves.row.data(), column = leaves.column.data(), held = leaves.held.data(),
                  differs = differs.data()] __device__(Offset i) {
                   const auto count = *reinterpret_cast<const unsigned*>(there[i].address());
                   if (first[row[i]] > i || first[row[i] + 1] <= i || there[i].block != column[i] ||
                       static_cast<int>(count) != held[i]) {
                     *differs = 1;
                   }
                 });
  return read_value(differs.data(), device) == 0;
}

}  // namespace

heddle::detail::Tree sum_of_trees(const std::shared_ptr<const TreeOnGpu>& A,
                                  const std::shared_ptr<const TreeOnGpu>& B, bool transposes_b,
                                  const EntrySum& sum, SumSchedule schedule) {
  const Device& device = A->device();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const heddle::detail::Tree& tree = A->matrix().tree();
  const Array<int> adjoint(sum.adjoint, work);
  CountedPairs pairs =
      schedule == SumSchedule::tree
          ? CountedPairs(*A, walked_pairs(A, B, transposes_b, work), transposes_b, work)
          : CountedPairs(*A, *B, transposes_b, work);
  const long long available = pairs.available();
  TreeBuilderOnGpu builder(tree.rows, tree.columns, pairs.take_leaves(), device, work, available,
                           pairs.take_inner());
  const LevelOnGpu& made = builder.leaves();
  write_pairs(pairs, sum, adjoint.data(), {made.held.data(), made.byte.data(), builder.pool()},
              work);
  return builder.finish();
}

struct KeptSum::Leaves {
  CountedPairs pairs;
};

KeptSum::KeptSum(const TreeOnGpu& C, std::shared_ptr<const TreeOnGpu> A,
                 std::shared_ptr<const TreeOnGpu> B)
    : A_(std::move(A)), B_(std::move(B)) {
  const Device& device = A_->device();
  auto kept = std::make_shared<Leaves>(CountedPairs(*A_, *B_, false, device));
  const TreeSchedule& schedule = C.schedule(false);
  if (!are_leaves_of(schedule, kept->pairs.leaves(), device)) return;
  kept->pairs.forget_places();
  leaves_ = std::move(kept);
}

void KeptSum::write(const TreeOnGpu& C, const EntrySum& sum) const {
  const Device& device = A_->device();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const Array<heddle::device::TreeLeaf>& there = C.schedule(false).cut.leaves;
  const Array<int> adjoint(sum.adjoint, work);
  UnsetArray<Offset> byte(there.size(), work);
  for_each_index(device.stream(), static_cast<Offset>(there.size()),
                 [there = there.data(), byte = byte.data()] __device__(Offset i) {
                   byte[i] = static_cast<Offset>(there[i].address());
                 });
  const CountedPairs& pairs = leaves_->pairs;
  write_pairs(pairs, sum, adjoint.data(), {pairs.leaves().held.data(), byte.data(), nullptr}, work);
  device.synchronize();  // so that other streams find it there too
}

}  // namespace heddle::cuda
