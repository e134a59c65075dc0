#include "inner_levels_cuda.hpp"

#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "place_bits.cuh"
#include "side_by_side_cuda.cuh"

namespace heddle::cuda {

namespace {

/// Bits of blocks of all levels, which every step of the kernel reads.
constexpr Offset most_bits = Offset(1) << 20;

static_assert(sizeof(CountedInner) % sizeof(unsigned long long) == 0);

struct LevelsAbove {
  NodesAbove level[most_levels];
  int levels;
  NodeShape shape;
  // The children of the first one.
  const Index* row;
  const Index* column;
  Offset children;
  Offset begin;      // of the first node in the pool
  Offset* of_block;  // three sums of each block of threads
  CountedInner* counted;
};

/// Where the children of a level are.
struct Children {
  const Index* row;
  const Index* column;
  Offset count;
};

/// Calls `body(i)` for all i < count, shared out among all threads.
template <class Body>
__device__ void for_all(Offset count, const Body& body) {
  const Offset threads = Offset(gridDim.x) * block_size;
  for (Offset i = Offset(blockIdx.x) * block_size + threadIdx.x; i < count; i += threads) body(i);
}

__device__ void mark_blocks(const NodesAbove& level, int shift, const Children& of) {
  for_all(of.count, [&](Offset i) {
    const Index row = of.row[i] >> shift, column = of.column[i] >> shift;
    // The child before it marks their block.
    if (i > 0 && of.row[i - 1] >> shift == row && of.column[i - 1] >> shift == column) return;
    unsigned long long* const word = level.blocks.bits + level.blocks.word_of(row, column);
    const unsigned long long bit = BlockBits::bit_of(column);
    if ((*word & bit) == 0) atomicOr(word, bit);
  });
  wait_for_all();
}

/// Numbers the blocks that are marked, and returns how many there are.
__device__ Offset number_blocks(const LevelsAbove& of, const NodesAbove& level) {
  const Share own = share_of_block(level.blocks.words());
  Offset ones = 0;
  for (Offset word = own.begin + threadIdx.x; word < own.end; word += block_size) {
    ones += ones_of(level.blocks.bits[word]);
  }
  ones = sums_of_block(ones).all;
  if (threadIdx.x == 0) of.of_block[blockIdx.x] = ones;
  wait_for_all();
  auto [before, all] = sums_of_all_blocks(of.of_block);
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset word = base + threadIdx.x;
    const Sums sums = sums_of_block(word < own.end ? ones_of(level.blocks.bits[word]) : 0);
    if (word < own.end) {
      level.before[word] = before + sums.before;
      level.blocks.for_each_of(word, [&](Offset node, Index row, Index column) {
        level.row[node] = row;
        level.column[node] = column;
      });
    }
    before += sums.all;
  }
  wait_for_all();
  return all;
}

__device__ Offset node_of(const NodesAbove& level, int shift, const Children& of, Offset i) {
  return level.blocks.number_of(of.row[i] >> shift, of.column[i] >> shift);
}

/// Gives the nodes their places from `begin` on, and returns where they end.
__device__ Offset place_nodes(const LevelsAbove& of, const NodesAbove& level, Offset nodes,
                              Offset begin) {
  const Share own = share_of_block(nodes);
  Offset held = 0, bytes = 0;
  for (Offset node = own.begin + threadIdx.x; node < own.end; node += block_size) {
    held += level.held[node];
    bytes += of.shape.bytes(level.held[node]);
    atomicAdd(&of.counted->of_kind[static_cast<int>(of.shape.kind_of(level.held[node]))], 1);
  }
  held = sums_of_block(held).all;
  bytes = sums_of_block(bytes).all;
  Offset* const held_of_block = of.of_block + gridDim.x;
  Offset* const bytes_of_block = held_of_block + gridDim.x;
  if (threadIdx.x == 0) {
    held_of_block[blockIdx.x] = held;
    bytes_of_block[blockIdx.x] = bytes;
  }
  wait_for_all();
  Offset first = sums_of_all_blocks(held_of_block).before;
  const Sums all_bytes = sums_of_all_blocks(bytes_of_block);
  Offset byte = begin + all_bytes.before;
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset node = base + threadIdx.x;
    const bool is_there = node < own.end;
    const Sums of_held = sums_of_block(is_there ? level.held[node] : 0);
    const Sums of_bytes = sums_of_block(is_there ? of.shape.bytes(level.held[node]) : 0);
    if (is_there) {
      level.first[node] = first + of_held.before;
      level.byte[node] = byte + of_bytes.before;
    }
    first += of_held.all;
    byte += of_bytes.all;
  }
  wait_for_all();
  return begin + all_bytes.all;
}

__global__ void __launch_bounds__(block_size, blocks_of_multiprocessor)
    count_inner(const __grid_constant__ LevelsAbove of) {
  const int shift = of.shape.log2_size;
  Children children{of.row, of.column, of.children};
  Offset end = of.begin;
  for (int k = 0; k < of.levels; ++k) {
    const NodesAbove& level = of.level[k];
    mark_blocks(level, shift, children);
    const Offset nodes = number_blocks(of, level);
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(level, shift, children, i);
      take_number(level.held + node, static_cast<unsigned>(node));
    });
    wait_for_all();
    end = place_nodes(of, level, nodes, end);
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(level, shift, children, i);
      const Offset to =
          level.first[node] + take_number(level.taken + node, static_cast<unsigned>(node));
      level.position[to] = static_cast<unsigned short>(
          of.shape.position_of(of.shape.place_of(children.row[i], children.column[i])));
      level.child[to] = static_cast<unsigned>(i);
    });
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      of.counted->nodes[k] = nodes;
      of.counted->items += children.count;
      of.counted->bytes = end - of.begin;
      of.counted->held_by_root = level.held[0];
    }
    children = {level.row, level.column, nodes};
  }
}

/// What writes nodes above leaves.
struct NodesToName {
  NodesAbove level[most_levels];
  Offset nodes[most_levels];
  NodeShape shape, leaf;
  const int* held_by_leaf;
  const Offset* byte_of_leaf;
  Offset begin_of_leaves;
  unsigned char* pool;
};

/// A block of threads writes a node: the references of its children, by the ranks of their places.
__global__ void __launch_bounds__(block_size) write_inner(const __grid_constant__ NodesToName of) {
  __shared__ PlaceRoom room;
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
  for (int word = thread; word < words; word += block_size) room.bits[word] = 0;
  __syncthreads();
  for (int i = thread; i < held; i += block_size) {
    const int position = level.position[first + i];
    atomicOr(&room.bits[position / PlaceBits::bits_of_word], PlaceBits::bit_of(position));
  }
  __syncthreads();
  number_places(room, words, threadIdx.x);
  const PlaceBits places{room.bits, room.before};
  unsigned char* const coordinates = to + NodeShape::places_byte(kind);
  auto* const payloads = reinterpret_cast<NodeReference*>(to + of.shape.payload_byte(kind, held));
  if (thread == 0) *reinterpret_cast<unsigned*>(to) = static_cast<unsigned>(held);
  if (kind == NodeKind::dense) {
    for (int word = thread; word < words; word += block_size) {
      reinterpret_cast<unsigned*>(coordinates)[word] = room.bits[word];
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
  return blocks.words() * BlockBits::bits_of_word <= most_bits;
}

InnerLevels::InnerLevels(const LevelOnGpu& leaves, int levels, const Device& device)
    : shape_{leaves.shape.log2_size, int{sizeof(NodeReference)}},
      begin_(leaves.begin + leaves.counts.bytes) {
  constexpr std::size_t counted_words = sizeof(CountedInner) / sizeof(unsigned long long);
  std::vector<BlocksOfLevel> blocks;
  std::vector<std::size_t> most_nodes;
  std::size_t zeros = counted_words;
  auto nodes = static_cast<Offset>(leaves.nodes());
  for (int k = 1; k < levels; ++k) {
    blocks.push_back(
        above(k == 1 ? BlocksOfLevel{leaves.rows, leaves.columns} : blocks.back(), shape_));
    nodes = std::min(nodes, Offset(blocks.back().rows) * blocks.back().columns);
    most_nodes.push_back(static_cast<std::size_t>(nodes));
    // Two ints of a node lie in a word.
    zeros += static_cast<std::size_t>(blocks.back().words() + nodes);
  }
  zeros_ = Array<unsigned long long>(zeros, device);
  unsigned long long* free = zeros_.data() + counted_words;
  auto children = static_cast<std::size_t>(leaves.nodes());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const auto words = static_cast<std::size_t>(blocks[k].words());
    Room& room = rooms_.emplace_back();
    room.row = UnsetArray<Index>(most_nodes[k], device);
    room.column = UnsetArray<Index>(most_nodes[k], device);
    room.before = UnsetArray<Offset>(words, device);
    room.first = UnsetArray<Offset>(most_nodes[k], device);
    room.byte = UnsetArray<Offset>(most_nodes[k], device);
    room.position = UnsetArray<unsigned short>(children, device);
    room.child = UnsetArray<unsigned>(children, device);
    auto* const held = reinterpret_cast<int*>(free + words);
    levels_.push_back(
        {{free, room.before.data(), 0, blocks[k].rows, BlockBits::words_of(blocks[k].columns)},
         room.before.data(),
         room.row.data(),
         room.column.data(),
         held,
         held + most_nodes[k],
         room.first.data(),
         room.byte.data(),
         room.position.data(),
         room.child.data()});
    free += words + most_nodes[k];
    children = most_nodes[k];
  }
  const Stream& stream = device.stream();
  const unsigned threads = blocks_side_by_side(leaves.nodes(), stream);
  UnsetArray<Offset> of_block(3 * std::size_t(threads), device);
  LevelsAbove of{};
  std::ranges::copy(levels_, of.level);
  of.levels = static_cast<int>(levels_.size());
  of.shape = shape_;
  of.row = leaves.row.data();
  of.column = leaves.column.data();
  of.children = leaves.nodes();
  of.begin = begin_;
  of.of_block = of_block.data();
  of.counted = reinterpret_cast<CountedInner*>(zeros_.data());
  launch_side_by_side(count_inner, threads, stream, of);
  counted_ = read_value(of.counted, device);
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
