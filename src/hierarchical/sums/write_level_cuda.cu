// Nodes are written from entries in any order: a warp or a block of threads finds the rank of each
// by its place.
#include "hierarchical/pools/place_bits.cuh"
#include "hierarchical/tree_levels_cuda.hpp"

namespace heddle::cuda {

namespace {

/// The arguments for writing the nodes of a level; words of entries are copied as they are.
template <class Word>
struct NodesToWrite {
  NodeShape shape;
  const int* held;
  const Offset* byte;
  const Offset* first;
  const unsigned short* position;
  const unsigned* source;
  const Word* values;
  const int* order;
  int words;
  unsigned char* pool;
  int* twice;

  __device__ Word word_of(unsigned entry, int k) const {
    return values[Offset(entry) * words + (order != nullptr ? order[k] : k)];
  }
  __device__ unsigned char* node(Offset n) const { return pool + byte[n]; }
  __device__ LocalPlace* places(unsigned char* to, NodeKind kind) const {
    return reinterpret_cast<LocalPlace*>(to + NodeShape::places_byte(kind));
  }
  __device__ unsigned* bits(unsigned char* to) const {
    return reinterpret_cast<unsigned*>(to + NodeShape::places_byte(NodeKind::dense));
  }
  __device__ Word* payloads(unsigned char* to, NodeKind kind, int count) const {
    return reinterpret_cast<Word*>(to + shape.payload_byte(kind, count));
  }
};

template <class Word>
__device__ void write_by_warp(const NodesToWrite<Word>& of, Offset node, int lane) {
  const int held = of.held[node];
  if (held > entries_of_warp) return;
  const NodeKind kind = of.shape.kind_of(held);
  unsigned char* const to = of.node(node);
  const Offset first = of.first[node];
  const int position = lane < held ? of.position[first + lane] : -1;
  const unsigned source = lane < held ? of.source[first + lane] : 0;
  int rank = 0;
  bool is_twice = false;
  for (int k = 0; k < held; ++k) {
    const int other = __shfl_sync(~0U, position, k);
    rank += other < position ? 1 : 0;
    is_twice = is_twice || (other == position && k != lane);
  }
  if (lane == 0) *reinterpret_cast<unsigned*>(to) = static_cast<unsigned>(held);
  if (lane < held) {
    if (is_twice && of.twice != nullptr) *of.twice = 1;
    if (kind == NodeKind::dense) {
      atomicOr(of.bits(to) + position / PlaceBits::bits_of_word, PlaceBits::bit_of(position));
    } else {
      of.places(to, kind)[rank] = of.shape.place_at(position);
    }
  }
  const int index = kind == NodeKind::dense ? position : rank;
  Word* const payloads = of.payloads(to, kind, held);
  const int all = held * of.words;
  for (int begin = 0; begin < all; begin += 32) {
    const int at = begin + lane, entry = of.words == 1 ? at : at / of.words;
    const unsigned from = __shfl_sync(~0U, source, entry % 32);
    const int slot = __shfl_sync(~0U, index, entry % 32);
    const int k = at - entry * of.words;
    if (at < all) payloads[Offset(slot) * of.words + k] = of.word_of(from, k);
  }
}

template <class Word>
__global__ void __launch_bounds__(block_size)
    write_large(NodesToWrite<Word> of, const Index* large) {
  __shared__ PlaceWorkspace workspace;
  __shared__ unsigned sources[block_size];
  __shared__ int slots[block_size];
  const unsigned thread = threadIdx.x;
  const Index node = large[blockIdx.x];
  const int held = of.held[node];
  const NodeKind kind = of.shape.kind_of(held);
  unsigned char* const to = of.node(node);
  const Offset first = of.first[node];
  const int words = PlaceBits::words_of(of.shape.positions());
  for (int word = static_cast<int>(thread); word < words; word += block_size)
    workspace.bits[word] = 0;
  __syncthreads();
  for (int e = static_cast<int>(thread); e < held; e += block_size) {
    const int position = of.position[first + e];
    const unsigned bit = PlaceBits::bit_of(position);
    const unsigned old = atomicOr(&workspace.bits[position / PlaceBits::bits_of_word], bit);
    if ((old & bit) != 0 && of.twice != nullptr) *of.twice = 1;
  }
  __syncthreads();
  number_places(workspace, words, thread);
  if (thread == 0) *reinterpret_cast<unsigned*>(to) = static_cast<unsigned>(held);
  if (kind == NodeKind::dense) {
    for (int word = static_cast<int>(thread); word < words; word += block_size) {
      of.bits(to)[word] = workspace.bits[word];
    }
  }
  const PlaceBits places{workspace.bits, workspace.before};
  Word* const payloads = of.payloads(to, kind, held);
  for (int begin = 0; begin < held; begin += block_size) {
    const int e = begin + static_cast<int>(thread);
    if (e < held) {
      const int position = of.position[first + e];
      const int rank = places.number_of(position);
      sources[thread] = of.source[first + e];
      slots[thread] = kind == NodeKind::dense ? position : rank;
      if (kind != NodeKind::dense) of.places(to, kind)[rank] = of.shape.place_at(position);
      if (of.words == 1) payloads[slots[thread]] = of.word_of(sources[thread], 0);
    }
    if (of.words == 1) continue;
    __syncthreads();
    const int left = held - begin < block_size ? held - begin : block_size;
    for (int at = static_cast<int>(thread); at < left * of.words; at += block_size) {
      const int entry = at / of.words, k = at - entry * of.words;
      payloads[Offset(slots[entry]) * of.words + k] = of.word_of(sources[entry], k);
    }
    __syncthreads();
  }
}

template <class Word>
void write_words(const LevelOnGpu& level, const PayloadsOnGpu& payloads, unsigned char* pool,
                 int* twice, const Device& device) {
  const NodesToWrite<Word> of{level.shape,
                              level.held.data(),
                              level.byte.data(),
                              level.first.data(),
                              level.position.data(),
                              level.source.data(),
                              static_cast<const Word*>(payloads.data),
                              payloads.order,
                              level.shape.payload_bytes / int{sizeof(Word)},
                              pool + level.begin,
                              twice};
  constexpr int nodes_of_block = block_size / 32;
  const Offset nodes = level.nodes();
  for_each_thread(device.stream(), (nodes + nodes_of_block - 1) / nodes_of_block,
                  [of, nodes] __device__(Offset block, unsigned thread) {
                    const Offset node = block * nodes_of_block + thread / 32;
                    if (node < nodes) write_by_warp(of, node, static_cast<int>(thread % 32));
                  });
  if (level.larges == 0) return;
  const OnGpu here(device.stream());
  launch_kernel(write_large<Word>, static_cast<unsigned>(level.larges), block_size, false,
                device.stream(), of, level.large.data());
}

}  // namespace

void write_level(const LevelOnGpu& level, const PayloadsOnGpu& payloads, unsigned char* pool,
                 int* twice, const Device& device) {
  switch (payloads.word_bytes) {
    case sizeof(unsigned long long):
      return write_words<unsigned long long>(level, payloads, pool, twice, device);
    case sizeof(unsigned):
      return write_words<unsigned>(level, payloads, pool, twice, device);
    default:
      return write_words<unsigned char>(level, payloads, pool, twice, device);
  }
}

}  // namespace heddle::cuda
