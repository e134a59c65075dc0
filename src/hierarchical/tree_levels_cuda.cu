#include <algorithm>
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "hierarchical/pools/place_bits.cuh"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Bits of blocks take at most this much memory, except for long rows or more entries.
constexpr Offset words_of_batch = Offset(1) << 23;

/// Nodes by kind, and those that a warp does not write.
struct Counted {
  int of_kind[node_kinds];
  int larges;
  Offset bytes;
  unsigned long long items;
};

__global__ void __launch_bounds__(block_size)
    count_kinds(NodeShape shape, const int* held, const Offset* byte, Offset nodes,
                Counted* counted, Index* large) {
  __shared__ Counted own;
  if (threadIdx.x == 0) own = {};
  __syncthreads();
  const Offset node = Offset(blockIdx.x) * block_size + threadIdx.x;
  if (node == 0) counted->bytes = byte[nodes];
  if (node < nodes) {
    atomicAdd(&own.of_kind[static_cast<int>(shape.kind_of(held[node]))], 1);
    atomicAdd(&own.items, static_cast<unsigned long long>(held[node]));
    if (held[node] > entries_of_warp) {
      large[take_number(&counted->larges, 0)] = static_cast<Index>(node);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&counted->items, own.items);
  if (threadIdx.x < node_kinds && own.of_kind[threadIdx.x] > 0) {
    atomicAdd(&counted->of_kind[threadIdx.x], own.of_kind[threadIdx.x]);
  }
}

/// Blocks with places, and whether there is a place outside.
struct Found {
  Offset count;
  Offset outside;
};

/// Sets the bits of blocks that hold places, and `outside` if one is beyond the matrix.
void mark_blocks(const PlacesOnGpu& places, int shift, const BlockBits& blocks, Offset* outside,
                 const Stream& stream) {
  for_each_index(stream, places.count, [=] __device__(Offset i) {
    const Index row = places.row[i], column = places.column[i];
    if (row < 0 || row >= places.rows || column < 0 || column >= places.columns) {
      *outside = 1;
      return;
    }
    if (!blocks.covers(row >> shift)) return;
    // The preceding place marks their block.
    if (i > 0 && places.row[i - 1] >> shift == row >> shift &&
        places.column[i - 1] >> shift == column >> shift) {
      return;
    }
    unsigned long long* const word = blocks.bits + blocks.word_of(row >> shift, column >> shift);
    const unsigned long long bit = BlockBits::bit_of(column >> shift);
    if ((*word & bit) == 0) atomicOr(word, bit);  // most find it set
  });
}

void count_bits(const unsigned long long* bits, Offset* before, Offset words,
                const Device& device) {
  for_each_index(device.stream(), words + 1, [=] __device__(Offset word) {
    before[word] = word < words ? bit_count(bits[word]) : 0;
  });
  exclusive_sum(before, words + 1, device);
}

/// Calls `body(block, i)` for each place, with the number of the block in which it lies.
template <class Body>
void for_each_place(NumberedBlocks& blocks, const PlacesOnGpu& places, int shift,
                    const Stream& stream, const Body& body) {
  for (int k = 0; k < blocks.batches(); ++k) {
    for_each_index(stream, places.count,
                   [batch = blocks.batch(k), places, shift, body] __device__(Offset i) {
                     const Index row = places.row[i] >> shift;
                     if (!batch.blocks.covers(row)) return;
                     body(batch.first + batch.blocks.number_of(row, places.column[i] >> shift), i);
                   });
  }
}

}  // namespace

NumberedBlocks::NumberedBlocks(const PlacesOnGpu& places, int shift, const Device& device)
    : places_(places),
      shift_(shift),
      device_(device),
      rows_(static_cast<Index>(NodeShape{shift, 0}.blocks_of(places.rows))),
      columns_(static_cast<Index>(NodeShape{shift, 0}.blocks_of(places.columns))) {
  const Offset words_of_row = std::max<Offset>(1, BlockBits::words_of(columns_));
  const Offset most = std::max(words_of_batch, places.count) / words_of_row;
  rows_of_batch_ = static_cast<Index>(std::clamp<Offset>(most, 1, std::max(rows_, 1)));
  const auto words = static_cast<std::size_t>(rows_of_batch_ * words_of_row);
  bits_ = UnsetArray<unsigned long long>(words, device);
  before_ = UnsetArray<Offset>(words + 2, device);
  for (int k = 0; inside_ && Offset(k) * rows_of_batch_ < rows_; ++k) {
    first_.push_back(count_);
    mark(k);
    const auto [count, outside] =
        read_value(reinterpret_cast<const Found*>(before_.data() + words), device);
    count_ += count;
    inside_ = outside == 0;
  }
}

NumberedBlocks::Batch NumberedBlocks::batch(int k) {
  if (k != marked_) mark(k);
  const Index first = k * rows_of_batch_;
  return {{bits_.data(), before_.data(), first,
           static_cast<Index>(std::min<Offset>(rows_, Offset(first) + rows_of_batch_)),
           std::max<Offset>(1, BlockBits::words_of(columns_))},
          first_[static_cast<std::size_t>(k)]};
}

void NumberedBlocks::mark(int k) {
  marked_ = k;
  const Stream& stream = device_.stream();
  Offset* const outside = before_.data() + bits_.size() + 1;
  heddle::detail::fill_bytes(bits_.data(), 0, bits_.size() * sizeof(unsigned long long), stream);
  heddle::detail::fill_bytes(outside, 0, sizeof *outside, stream);
  mark_blocks(places_, shift_, batch(k).blocks, outside, stream);
  count_bits(bits_.data(), before_.data(), static_cast<Offset>(bits_.size()), device_);
}

void write_places(NumberedBlocks& blocks, LevelOnGpu& level, const Device& device) {
  level.rows = blocks.rows();
  level.columns = blocks.columns();
  level.count = blocks.count();
  level.row = UnsetArray<Index>(static_cast<std::size_t>(blocks.count()), device);
  level.column = UnsetArray<Index>(static_cast<std::size_t>(blocks.count()), device);
  for (int k = 0; k < blocks.batches(); ++k) {
    const auto batch = blocks.batch(k);
    for_each_index(
        device.stream(), batch.blocks.words(),
        [batch, rows = level.row.data(), columns = level.column.data()] __device__(Offset word) {
          batch.blocks.for_each_of(word, [&](Offset number, Index row, Index column) {
            rows[batch.first + number] = row;
            columns[batch.first + number] = column;
          });
        });
  }
}

void count_level(LevelOnGpu& level, const Device& device) {
  const Stream& stream = device.stream();
  const Offset nodes = level.nodes();
  level.byte = UnsetArray<Offset>(static_cast<std::size_t>(nodes) + 1, device);
  level.large = UnsetArray<Index>(static_cast<std::size_t>(nodes), device);
  for_each_index(
      stream, nodes,
      [shape = level.shape, held = level.held.data(),
       byte = level.byte.data()] __device__(Offset node) { byte[node] = shape.bytes(held[node]); });
  exclusive_sum(level.byte.data(), nodes + 1, device);
  Array<Counted> counted(1, device);
  const OnGpu here(stream);
  if (nodes > 0) {
    launch_kernel(
        count_kinds, static_cast<unsigned>((nodes + block_size - 1) / block_size), block_size,
        false, stream, level.shape, static_cast<const int*>(level.held.data()),
        static_cast<const Offset*>(level.byte.data()), nodes, counted.data(), level.large.data());
  }
  const Counted found = read_value(counted.data(), device);
  for (int kind = 0; kind < node_kinds; ++kind) {
    level.counts.of_kind[static_cast<std::size_t>(kind)] = found.of_kind[kind];
  }
  level.larges = found.larges;
  level.counts.bytes = found.bytes;
  level.counts.items = static_cast<long long>(found.items);
}

LevelOnGpu level_of(const PlacesOnGpu& places, const NodeShape& shape, bool& inside,
                    const Device& device) {
  const Stream& stream = device.stream();
  LevelOnGpu level;
  level.shape = shape;
  NumberedBlocks blocks(places, shape.log2_size, device);
  inside = blocks.are_all_inside();
  if (!inside) return level;
  write_places(blocks, level, device);
  const auto nodes = static_cast<std::size_t>(level.nodes());
  const auto count = static_cast<std::size_t>(places.count);
  level.held = UnsetArray<int>(nodes, device);
  heddle::detail::fill_bytes(level.held.data(), 0, nodes * sizeof(int), stream);
  const int shift = shape.log2_size;
  for_each_place(blocks, places, shift, stream,
                 [held = level.held.data()] __device__(Offset node, Offset) {
                   take_number(held + node, static_cast<unsigned>(node));
                 });
  level.first = UnsetArray<Offset>(nodes + 1, device);
  for_each_index(stream, level.nodes(),
                 [held = level.held.data(), first = level.first.data()] __device__(Offset node) {
                   first[node] = held[node];
                 });
  exclusive_sum(level.first.data(), level.nodes() + 1, device);
  level.position = UnsetArray<unsigned short>(count, device);
  level.source = UnsetArray<unsigned>(count, device);
  Array<int> taken(nodes, device);
  for_each_place(blocks, places, shift, stream,
                 [places, shape, taken = taken.data(), first = level.first.data(),
                  position = level.position.data(),
                  source = level.source.data()] __device__(Offset node, Offset i) {
                   const Offset to =
                       first[node] + take_number(taken + node, static_cast<unsigned>(node));
                   position[to] = static_cast<unsigned short>(
                       shape.position_of(shape.place_of(places.row[i], places.column[i])));
                   source[to] = static_cast<unsigned>(i);
                 });
  count_level(level, device);
  wait_before_memory_goes_back(device);
  return level;
}

}  // namespace heddle::cuda
