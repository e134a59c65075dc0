#include "inner_levels_cuda.hpp"

#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "hierarchical/pools/node_padding.cuh"
#include "hierarchical/pools/place_bits.cuh"
#include "placed_levels_cuda.cuh"

namespace heddle::cuda {

namespace {

/// Bits of blocks of all levels, which two steps of the kernel read.
constexpr Offset max_bits = Offset(1) << 20;

static_assert(sizeof(CountedInner) % sizeof(unsigned long long) == 0);

/// Known leaves, and the levels above them.
struct LevelsToCount {
  LevelsAbove above;
  Children leaves;
  Offset begin;  // where the first node lies in the pool
};
__global__ void __launch_bounds__(block_size, blocks_of_multiprocessor)
    count_inner(const __grid_constant__ LevelsToCount of) {
  __shared__ Offset nodes[max_levels];
  mark_levels(of.above, of.leaves);
  wait_for_all();
  sum_blocks(of.above);
  wait_for_all();
  number_blocks(of.above, nodes);
  wait_for_all();
  place_levels(of.above, of.leaves, nodes, of.begin);
}

/// The arguments for writing nodes above leaves.
struct NodesToName {
  NodesAbove level[max_levels];
  Offset nodes[max_levels];
  NodeShape shape, leaf;
  const int* held_by_leaf;
  const Offset* byte_of_leaf;
  Offset begin_of_leaves;
  unsigned char* pool;
};

/// A block of threads writes a node: the references of its children, by the ranks of their places.
__global__ void __launch_bounds__(block_size) write_inner(const __grid_constant__ NodesToName of) {
  __shared__ PlaceWorkspace workspace;
  Offset node = blockIdx.x;
  int k = 0;
  for (; node >= of.nodes[k]; ++k) node -= of.nodes[k];
  const NodesAbove& level = of.level[k];
  const auto thread = static_cast<int>(threadIdx.x);
  const int held = level.held[node];
  const NodeKind kind = of.shape.kind_of(held);
  unsigned char* const to = of.pool + level.byte[node];
  const Offset first = level.first[node];
  const int words = PlaceBits::words_of(of.shape.positions());
  for (int word = thread; word < words; word += block_size) workspace.bits[word] = 0;
  __syncthreads();
  for (int i = thread; i < held; i += block_size) {
    const int position = level.position[first + i];
    atomicOr(&workspace.bits[position / PlaceBits::bits_of_word], PlaceBits::bit_of(position));
  }
  __syncthreads();
  number_places(workspace, words, threadIdx.x);
  const PlaceBits places{workspace.bits, workspace.before};
  unsigned char* const coordinates = to + NodeShape::places_byte(kind);
  auto* const payloads = reinterpret_cast<NodeReference*>(to + of.shape.payload_byte(kind, held));
  put_count_and_padding(to, of.shape, kind, held, thread, block_size);
  if (kind == NodeKind::dense) {
    clear_places(to, of.shape, held, thread, block_size);
    __syncthreads();
    for (int word = thread; word < words; word += block_size) {
      reinterpret_cast<unsigned*>(coordinates)[word] = workspace.bits[word];
    }
  }
  for (int i = thread; i < held; i += block_size) {
    const int position = level.position[first + i];
    const unsigned child = level.child[first + i];
    const NodeReference reference =
        k == 0 ? NodeReference::make(of.leaf.kind_of(of.held_by_leaf[child]), 0,
                                     of.begin_of_leaves + of.byte_of_leaf[child])
               : NodeReference::make(of.shape.kind_of(of.level[k - 1].held[child]), 0,
                                     of.level[k - 1].byte[child]);
    int slot = position;
    if (kind != NodeKind::dense) {
      slot = places.number_of(position);
      reinterpret_cast<LocalPlace*>(coordinates)[slot] = of.shape.place_at(position);
    }
    payloads[slot] = reference;
  }
}

struct BlocksOfLevel {
  Index rows, columns;
  Offset words() const { return Offset(rows) * BlockBits::words_of(columns); }
};
BlocksOfLevel above(const BlocksOfLevel& below, const NodeShape& shape) {
  return {static_cast<Index>(shape.blocks_of(below.rows)),
          static_cast<Index>(shape.blocks_of(below.columns))};
}

}  // namespace

bool InnerLevels::suit(Index rows, Index columns, int log2_size) {
  const NodeShape shape{log2_size, int{sizeof(NodeReference)}};
  // The largest level is the one above the leaves.
  const BlocksOfLevel blocks = above(above({rows, columns}, shape), shape);
  return blocks.words() * BlockBits::bits_of_word <= max_bits;
}

InnerLevels::InnerLevels(Index block_rows, Index block_columns, int log2_size, Offset max_leaves,
                         int levels, const Device& device)
    : shape_{log2_size, int{sizeof(NodeReference)}} {
  constexpr std::size_t counted_words = sizeof(CountedInner) / sizeof(unsigned long long);
  std::vector<BlocksOfLevel> blocks;
  std::vector<std::size_t> max_nodes;
  std::size_t zeros = counted_words;
  Offset nodes = max_leaves;
  for (int k = 1; k < levels; ++k) {
    blocks.push_back(
        above(k == 1 ? BlocksOfLevel{block_rows, block_columns} : blocks.back(), shape_));
    nodes = std::min(nodes, Offset(blocks.back().rows) * blocks.back().columns);
    max_nodes.push_back(static_cast<std::size_t>(nodes));
    // The two ints of a node take one word.
    zeros += static_cast<std::size_t>(blocks.back().words() + nodes);
  }
  zeros_ = Array<unsigned long long>(zeros, device);
  unsigned long long* free = zeros_.data() + counted_words;
  auto children = static_cast<std::size_t>(max_leaves);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto words = static_cast<std::size_t>(blocks[k].words());
    LevelStorage& storage = storage_.emplace_back();
    storage.row = UnsetArray<Index>(max_nodes[k], device);
    storage.column = UnsetArray<Index>(max_nodes[k], device);
    storage.before = UnsetArray<Offset>(words, device);
    storage.first = UnsetArray<Offset>(max_nodes[k], device);
    storage.byte = UnsetArray<Offset>(max_nodes[k], device);
    storage.position = UnsetArray<unsigned short>(children, device);
    storage.child = UnsetArray<unsigned>(children, device);
    auto* const held = reinterpret_cast<int*>(free + words);
    levels_.push_back(
        {{free, storage.before.data(), 0, blocks[k].rows, BlockBits::words_of(blocks[k].columns)},
         storage.before.data(),
         storage.row.data(),
         storage.column.data(),
         held,
         held + max_nodes[k],
         storage.first.data(),
         storage.byte.data(),
         storage.position.data(),
         storage.child.data()});
    free += words + max_nodes[k];
    children = max_nodes[k];
  }
}

InnerLevels::InnerLevels(const LevelOnGpu& leaves, int levels, const Device& device)
    : InnerLevels(leaves.rows, leaves.columns, leaves.shape.log2_size, leaves.nodes(), levels,
                  device) {
  const Stream& stream = device.stream();
  const unsigned blocks = blocks_side_by_side(leaves.nodes(), stream);
  UnsetArray<Offset> of_block(sums_of_a_block * std::size_t(blocks), device);
  LevelsToCount of{to_count(of_block.data()),
                   {leaves.row.data(), leaves.column.data(), leaves.nodes()},
                   leaves.begin + leaves.counts.bytes};
  launch_side_by_side(count_inner, blocks, stream, of);
  take(read_value(of.above.counted, device), of.begin);
}

LevelsAbove InnerLevels::to_count(Offset* of_block) {
  LevelsAbove of{};
  std::ranges::copy(levels_, of.level);
  of.levels = static_cast<int>(levels_.size());
  of.shape = shape_;
  of.of_block = of_block;
  of.counted = reinterpret_cast<CountedInner*>(zeros_.data());
  return of;
}

void InnerLevels::take(const CountedInner& counted, Offset begin) {
  counted_ = counted;
  begin_ = begin;
  for (int kind = 0; kind < node_kinds; ++kind) {
    counts_.of_kind[static_cast<std::size_t>(kind)] = counted_.of_kind[kind];
  }
  counts_.items = counted_.items;
  counts_.bytes = counted_.bytes;
}

NodeReference InnerLevels::root() const {
  const Offset bytes = shape_.bytes(counted_.held_by_root);
  return NodeReference::make(shape_.kind_of(counted_.held_by_root), 0,
                             begin_ + counts_.bytes - bytes);
}

void InnerLevels::write(const LevelOnGpu& leaves, unsigned char* pool, const Device& device) const {
  NodesToName of{};
  std::ranges::copy(levels_, of.level);
  std::ranges::copy(counted_.nodes, of.nodes);
  of.shape = shape_;
  of.leaf = leaves.shape;
  of.held_by_leaf = leaves.held.data();
  of.byte_of_leaf = leaves.byte.data();
  of.begin_of_leaves = leaves.begin;
  of.pool = pool;
  const OnGpu here(device.stream());
  launch_kernel(write_inner, static_cast<unsigned>(counts_.nodes()), block_size, false,
                device.stream(), of);
}

}  // namespace heddle::cuda
