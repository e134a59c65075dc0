// Sums of trees on a GPU: the blocks of both are numbered, which makes the leaves, and each pair of
// leaves is merged.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/detail/tree_building_cuda.hpp"
#include "heddle/detail/tree_sum_again.hpp"
#include "heddle/error.hpp"
#include "pairs_of_leaves_cuda.cuh"
#include "tree_builder_cuda.hpp"
#include "tree_levels_cuda.hpp"
#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Block rows and columns of the leaves of a schedule, from `to` on.
void list_leaves(const TreeSchedule& schedule, Offset to, UnsetArray<Index>& row,
                 UnsetArray<Index>& column, const Stream& stream) {
  const auto blocks = static_cast<Index>(schedule.first.size()) - 1;
  for_each_index(stream, static_cast<Offset>(schedule.cut.leaves.size()),
                 [to, blocks, first = schedule.first.data(), leaves = schedule.cut.leaves.data(),
                  row = row.data(), column = column.data()] __device__(Offset i) {
                   row[to + i] = last_not_above(first, blocks, i);
                   column[to + i] = leaves[i].block;
                 });
}

/// Which leaf of either tree is at each leaf of the sum.
struct SourcesOfLeaves {
  Array<Index> a, b;
};

/// The leaves of a sum without their entries.
LevelOnGpu leaves_of_sum(const TreeSchedule& A, const TreeSchedule& B, const NodeShape& shape,
                         Index block_columns, SourcesOfLeaves& sources, const Device& device) {
  const Stream& stream = device.stream();
  const auto in_a = static_cast<Offset>(A.cut.leaves.size());
  const Offset all = in_a + static_cast<Offset>(B.cut.leaves.size());
  if (all > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported, "a GPU adds trees of fewer than 2^31 leaves");
  }
  UnsetArray<Index> row(static_cast<std::size_t>(all), device), column(row.size(), device);
  list_leaves(A, 0, row, column, stream);
  list_leaves(B, in_a, row, column, stream);
  const auto block_rows = static_cast<Index>(A.first.size()) - 1;
  NumberedBlocks blocks({row.data(), column.data(), all, block_rows, block_columns}, 0, device);
  LevelOnGpu leaves;
  leaves.shape = shape;
  write_places(blocks, leaves, device);
  const UnsetArray<Index> number = blocks.numbers();
  constexpr int none = 0xff;  // each byte of -1
  sources = {Array<Index>(leaves.row.size(), device, none),
             Array<Index>(leaves.row.size(), device, none)};
  for_each_index(stream, all,
                 [in_a, number = number.data(), a = sources.a.data(),
                  b = sources.b.data()] __device__(Offset i) {
                   (i < in_a ? a : b)[number[i]] = static_cast<Index>(i < in_a ? i : i - in_a);
                 });
  leaves.held = Array<int>(leaves.row.size(), device);
  wait_before_memory_goes_back(device);
  return leaves;
}

/// The pairs behind the leaves of a sum.
PairsOfLeaves pairs_of(const TreeOnGpu& A, const TreeOnGpu& B, bool turns_b,
                       const SourcesOfLeaves& sources) {
  return {A.schedule(false).cut.leaves.data(),
          B.schedule(turns_b).cut.leaves.data(),
          sources.a.data(),
          sources.b.data(),
          A.matrix().tree().leaf,
          turns_b};
}

LevelOnGpu leaves_of_sum(const TreeOnGpu& A, const TreeOnGpu& B, bool turns_b,
                         SourcesOfLeaves& sources, const Device& device) {
  const heddle::detail::Tree& tree = A.matrix().tree();
  return leaves_of_sum(A.schedule(false), B.schedule(turns_b), tree.leaf,
                       static_cast<Index>(tree.leaf.blocks_of(tree.columns)), sources, device);
}

bool has_dense(const NodeCounts& counts) {
  return counts.of_kind[static_cast<std::size_t>(NodeKind::dense)] > 0;
}

/// Whether the leaves of a sum are those of a schedule by rows, and hold as many entries.
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

heddle::detail::Tree sum_of_trees(const TreeOnGpu& A, const TreeOnGpu& B, bool turns_b,
                                  const EntrySum& sum) {
  const Device& device = A.device();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const heddle::detail::Tree& tree = A.matrix().tree();
  SourcesOfLeaves sources;
  LevelOnGpu leaves = leaves_of_sum(A, B, turns_b, sources, work);
  const PairsOfLeaves pairs = pairs_of(A, B, turns_b, sources);
  const ListedPairs listed = count_pairs(pairs, leaves.nodes(), leaves.held.data(), work);
  count_level(leaves, work);
  TreeBuilderOnGpu builder(tree.rows, tree.columns, std::move(leaves), device, work);
  const LevelOnGpu& made = builder.leaves();
  write_pairs(pairs, listed, sum,
              {made.held.data(), made.byte.data(), builder.pool(), has_dense(made.counts)}, work);
  return builder.finish();
}

struct KeptSum::Leaves {
  SourcesOfLeaves sources;
  ListedPairs listed;
  Array<int> held;
};

KeptSum::KeptSum(const TreeOnGpu& C, std::shared_ptr<const TreeOnGpu> A,
                 std::shared_ptr<const TreeOnGpu> B)
    : A_(std::move(A)), B_(std::move(B)) {
  const Device& device = A_->device();
  auto kept = std::make_shared<Leaves>();
  LevelOnGpu leaves = leaves_of_sum(*A_, *B_, false, kept->sources, device);
  if (leaves.nodes() != static_cast<Offset>(C.schedule(false).cut.leaves.size())) return;
  kept->listed = count_pairs(pairs_of(*A_, *B_, false, kept->sources), leaves.nodes(),
                             leaves.held.data(), device);
  if (!are_leaves_of(C.schedule(false), leaves, device)) return;
  kept->held = std::move(leaves.held);
  leaves_ = std::move(kept);
}

void KeptSum::write(const TreeOnGpu& C, const EntrySum& sum) const {
  const Device& device = A_->device();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const Array<heddle::device::TreeLeaf>& there = C.schedule(false).cut.leaves;
  UnsetArray<Offset> byte(there.size(), work);
  for_each_index(device.stream(), static_cast<Offset>(there.size()),
                 [there = there.data(), byte = byte.data()] __device__(Offset i) {
                   byte[i] = static_cast<Offset>(there[i].address());
                 });
  write_pairs(
      pairs_of(*A_, *B_, false, leaves_->sources), leaves_->listed, sum,
      {leaves_->held.data(), byte.data(), nullptr, has_dense(C.matrix().tree().memory.leaves)},
      work);
  device.synchronize();  // so that other streams find it there too
}

}  // namespace heddle::cuda
