// Compressed rows of a tree on a GPU: a warp takes some leaves of a block row one after another,
// and knows how far each row has come.
#include <cstddef>

#include "base/launch_cuda.cuh"
#include "base/sort_cuda.hpp"
#include "base/unset_array.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

using heddle::device::TreeLeaf;

/// Leaves of one block row that a warp takes, and where its rows begin in a table of counts.
struct Chunk {
  Index block;
  Offset first, end;
};
/// A chunk ends after this many entries, or places of dense leaves.
constexpr Offset entries_of_chunk = 2048;
constexpr int warps_of_block = 4;

/// Calls `body(first leaf, end)` for the chunks of a block row.
template <class Body>
__device__ void for_each_chunk(const TreeLeaf* leaves, const Offset* first, Index block, int run,
                               const NodeShape& shape, const Body& body) {
  Offset begin = first[block], taken = 0;
  unsigned before = 0;
  for (Offset i = begin; i < first[block + 1]; ++i) {
    taken += leaves[i].kind() == NodeKind::dense ? shape.positions()
                                                 : Offset(leaves[i].end - before) * run;
    before = leaves[i].end;
    if (taken < entries_of_chunk && i + 1 < first[block + 1]) continue;
    body(begin, i + 1);
    begin = i + 1;
    taken = 0;
  }
}

UnsetArray<Chunk> chunks_of(const TreeSchedule& schedule, const NodeShape& shape, int run,
                            Array<Offset>& first_chunk, const Device& device) {
  const Stream& stream = device.stream();
  const auto blocks = static_cast<Offset>(schedule.first.size()) - 1;
  first_chunk = Array<Offset>(schedule.first.size(), device);
  for_each_index(stream, blocks,
                 [=, leaves = schedule.cut.leaves.data(), first = schedule.first.data(),
                  chunks = first_chunk.data()] __device__(Offset block) {
                   Offset count = 0;
                   for_each_chunk(leaves, first, static_cast<Index>(block), run, shape,
                                  [&](Offset, Offset) { ++count; });
                   chunks[block] = count;
                 });
  exclusive_sum(first_chunk.data(), blocks + 1, device);
  Offset all = 0;
  heddle::detail::copy_bytes(&all, first_chunk.data() + blocks, sizeof all, stream);
  UnsetArray<Chunk> chunks(static_cast<std::size_t>(all), device);
  for_each_index(stream, blocks,
                 [=, leaves = schedule.cut.leaves.data(), first = schedule.first.data(),
                  chunk_of = first_chunk.data(), chunks = chunks.data()] __device__(Offset block) {
                   Offset to = chunk_of[block];
                   for_each_chunk(leaves, first, static_cast<Index>(block), run, shape,
                                  [&](Offset begin, Offset end) {
                                    chunks[to++] = {static_cast<Index>(block), begin, end};
                                  });
                 });
  return chunks;
}

/// The arrays that a warp reads and writes.
struct RowsToWrite {
  const Chunk* chunks;
  Offset count;
  const TreeLeaf* leaves;
  NodeShape shape;
  Offset* next;  // for each chunk, and each row of a block: entries, or where the next one goes
  Index* column;
  unsigned* values;
  int words;  // in an entry
};

/// Calls `body(place, payload, number)` for the entries of a leaf, 32 slots at a time, where `next`
/// numbers the entries of each row. All lanes take part.
template <class Body>
__device__ void for_each_numbered(const NodeView& leaf, int lane, Offset* next, const Body& body) {
  const bool is_dense = leaf.kind == NodeKind::dense;
  const int slots = is_dense ? static_cast<int>(leaf.shape.positions()) : leaf.count();
  for (int first = 0; first < slots; first += 32) {
    const int slot = first + lane;
    const bool has = slot < slots && (!is_dense || leaf.has(slot));
    LocalPlace place{};
    if (has) place = is_dense ? leaf.shape.place_at(slot) : leaf.places()[slot];
    const unsigned peers = __match_any_sync(~0U, has ? int{place.row} : -1);
    const int before = __popc(peers & ((1U << lane) - 1)), all = __popc(peers);
    const Offset begin = next[place.row];
    __syncwarp();
    if (has && before == 0) next[place.row] = begin + all;
    __syncwarp();
    if (has) body(place, slot, begin + before);
  }
}

/// Counts the entries of each row in a chunk, or writes them.
template <bool writes>
__global__ void __launch_bounds__(32 * warps_of_block) pass_over_chunks(const RowsToWrite of) {
  __shared__ Offset next_of_warp[warps_of_block][256];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const unsigned warp = threadIdx.x / 32;
  const Offset number = Offset(blockIdx.x) * warps_of_block + warp;
  if (number >= of.count) return;
  const int size = of.shape.size();
  Offset* const next = next_of_warp[warp];
  Offset* const kept = of.next + number * size;
  for (int row = lane; row < size; row += 32) next[row] = writes ? kept[row] : 0;
  __syncwarp();
  const Chunk chunk = of.chunks[number];
  for (Offset i = chunk.first; i < chunk.end; ++i) {
    const TreeLeaf leaf = of.leaves[i];
    const NodeView node{reinterpret_cast<const unsigned char*>(leaf.address()), leaf.kind(),
                        of.shape};
    const auto* const payloads = reinterpret_cast<const unsigned*>(node.payloads());
    for_each_numbered(node, lane, next, [&](LocalPlace place, int slot, Offset to) {
      if (!writes) return;
      of.column[to] = leaf.block << of.shape.log2_size | place.column;
      for (int word = 0; word < of.words; ++word) {
        of.values[to * of.words + word] = payloads[Offset(slot) * of.words + word];
      }
    });
  }
  __syncwarp();
  for (int row = lane; row < size; row += 32) kept[row] = next[row];
}

template <bool writes>
void pass(const RowsToWrite& of, const Stream& stream) {
  if (of.count == 0) return;
  const OnGpu here(stream);
  launch_kernel(pass_over_chunks<writes>,
                static_cast<unsigned>((of.count + warps_of_block - 1) / warps_of_block),
                32 * warps_of_block, false, stream, of);
}

}  // namespace

void rows_of_tree(const TreeOnGpu& matrix, Offset* offsets, Index* column, void* values) {
  const Device& device = matrix.device();
  const Stream& stream = device.stream();
  const heddle::detail::Tree& tree = matrix.matrix().tree();
  const TreeSchedule& schedule = matrix.schedule(false);
  const NodeShape shape = tree.leaf;
  Array<Offset> first_chunk;
  const UnsetArray<Chunk> chunks = chunks_of(schedule, shape, run_of(tree), first_chunk, device);
  UnsetArray<Offset> next(chunks.size() << shape.log2_size, device);
  const RowsToWrite of{chunks.data(),
                       static_cast<Offset>(chunks.size()),
                       schedule.cut.leaves.data(),
                       shape,
                       next.data(),
                       column,
                       static_cast<unsigned*>(values),
                       shape.payload_bytes / int{sizeof(unsigned)}};
  pass<false>(of, stream);
  for_each_index(stream, tree.rows,
                 [=, first = first_chunk.data(), next = next.data()] __device__(Offset row) {
                   const Index block = shape.block_of(static_cast<Index>(row));
                   const Offset local = row & (shape.size() - 1);
                   Offset length = 0;
                   for (Offset c = first[block]; c < first[block + 1]; ++c) {
                     const Offset of_chunk = next[c * shape.size() + local];
                     next[c * shape.size() + local] = length;
                     length += of_chunk;
                   }
                   offsets[row] = length;
                 });
  exclusive_sum(offsets, Offset(tree.rows) + 1, device);
  for_each_index(stream, tree.rows,
                 [=, first = first_chunk.data(), next = next.data()] __device__(Offset row) {
                   const Index block = shape.block_of(static_cast<Index>(row));
                   const Offset local = row & (shape.size() - 1);
                   for (Offset c = first[block]; c < first[block + 1]; ++c) {
                     next[c * shape.size() + local] += offsets[row];
                   }
                 });
  pass<true>(of, stream);
  device.synchronize();  // before memory is given back
}

}  // namespace heddle::cuda
