#include <type_traits>

#include "entry_terms.hpp"
#include "hierarchical/pools/place_bits.cuh"
#include "hierarchical/pools/walk_order.hpp"
#include "merged_nodes_cuda.hpp"

namespace heddle::cuda {

namespace {

using detail::EditAction;

template <class Word>
struct NodesToMerge {
  TouchedNodes touched;
  const unsigned long long* pools;
  const Word* payloads;
  int words;
  unsigned char* pool;

  __device__ const NodeShape& shape() const { return touched.shape; }
  __device__ bool has_old(Offset node) const { return touched.before[node].bits != no_node.bits; }
  __device__ NodeView old(Offset node) const {
    const NodeReference at = touched.before[node];
    const unsigned long long address =
        pools[at.pool()] + static_cast<unsigned long long>(at.byte());
    return {reinterpret_cast<const unsigned char*>(address), at.kind(), shape()};
  }
  __device__ int position(Offset change) const {
    return detail::position_in_node(touched.key[change], touched.level, shape().log2_size);
  }
};

/// A node while it is written.
template <class Word>
struct NodeToWrite {
  const NodesToMerge<Word>& of;
  NodeKind kind;
  unsigned char* to;
  Word* payloads;
  PlaceBits places;

  __device__ NodeToWrite(const NodesToMerge<Word>& nodes, Offset node,
                         const PlaceWorkspace& workspace)
      : of(nodes),
        kind(of.shape().kind_of(of.touched.held[node])),
        to(of.pool + of.touched.byte[node]),
        payloads(
            reinterpret_cast<Word*>(to + of.shape().payload_byte(kind, of.touched.held[node]))),
        places{workspace.bits, workspace.before} {}
  __device__ Word* payload(int position) const {
    const int at = kind == NodeKind::dense ? position : places.number_of(position);
    return payloads + Offset(at) * of.words;
  }
  __device__ void put_place(int position) const {
    if (kind == NodeKind::dense) return;
    reinterpret_cast<LocalPlace*>(to + NodeShape::places_byte(kind))[places.number_of(position)] =
        of.shape().place_at(position);
  }
  /// Writes all bits, by a block of threads.
  __device__ void put_bits(int words, int thread) const {
    if (kind != NodeKind::dense) return;
    auto* const bits = reinterpret_cast<unsigned*>(to + NodeShape::places_byte(kind));
    for (int word = thread; word < words; word += block_size) bits[word] = places.bits[word];
  }
};

/// Sets the bits of the places that a node has had, and of those that it has afterwards.
template <class Word>
__device__ void mark_places(const NodesToMerge<Word>& of, Offset node, int words, int thread,
                            unsigned* bits, unsigned* changed) {
  const bool has_old = of.has_old(node);
  const NodeView old = has_old ? of.old(node) : NodeView{};
  const bool was_dense = has_old && old.kind == NodeKind::dense;
  for (int word = thread; word < words; word += block_size) {
    bits[word] = was_dense ? reinterpret_cast<const unsigned*>(old.places())[word] : 0;
    changed[word] = 0;
  }
  __syncthreads();
  if (has_old && !was_dense) {
    for (int k = thread; k < old.count(); k += block_size) {
      const int position = of.shape().position_of(old.places()[k]);
      atomicOr(bits + position / PlaceBits::bits_of_word, PlaceBits::bit_of(position));
    }
  }
  __syncthreads();
  for (Offset change = of.touched.first[node] + thread; change < of.touched.first[node + 1];
       change += block_size) {
    const int position = of.position(change), word = position / PlaceBits::bits_of_word;
    const unsigned bit = PlaceBits::bit_of(position);
    atomicOr(changed + word, bit);
    if (of.touched.action[change] == EditAction::remove) {
      atomicAnd(bits + word, ~bit);
    } else {
      atomicOr(bits + word, bit);
    }
  }
  __syncthreads();
}

/// The memory in which a block of threads merges a node.
struct MergeWorkspace {
  PlaceWorkspace places;
  unsigned changed[PlaceBits::max_words];
};

/// A block of threads writes a node: what stays of the old one, and the changes.
template <class Word>
__device__ void write_node(const NodesToMerge<Word>& of, Offset node, MergeWorkspace& space) {
  PlaceWorkspace& workspace = space.places;
  unsigned* const changed = space.changed;
  const auto thread = static_cast<int>(threadIdx.x);
  const int held = of.touched.held[node];
  if (held == 0) return;
  const int words = PlaceBits::words_of(of.shape().positions());
  mark_places(of, node, words, thread, workspace.bits, changed);
  number_places(workspace, words, threadIdx.x);
  const NodeToWrite<Word> to(of, node, workspace);
  if (thread == 0) *reinterpret_cast<unsigned*>(to.to) = static_cast<unsigned>(held);
  to.put_bits(words, thread);
  const bool has_old = of.has_old(node);
  const NodeView old = has_old ? of.old(node) : NodeView{};
  const bool was_dense = has_old && old.kind == NodeKind::dense;
  const auto slots = !has_old    ? Offset(0)
                     : was_dense ? of.shape().positions()
                                 : static_cast<Offset>(old.count());
  const Word* const old_payloads =
      has_old ? reinterpret_cast<const Word*>(old.payloads()) : nullptr;
  const PlaceBits replaced{changed, nullptr};
  for (Offset at = thread; at < slots * of.words; at += block_size) {
    const auto slot = static_cast<int>(at / of.words);
    const auto k = static_cast<int>(at % of.words);
    if (was_dense && !old.has(slot)) continue;
    const int position = was_dense ? slot : of.shape().position_of(old.places()[slot]);
    if (replaced.has(position)) continue;
    to.payload(position)[k] = old_payloads[at];
    if (k == 0) to.put_place(position);
  }
  const Offset first = of.touched.first[node], changes = of.touched.first[node + 1] - first;
  for (Offset at = thread; at < changes * of.words; at += block_size) {
    const Offset change = first + at / of.words;
    const auto k = static_cast<int>(at % of.words);
    if (of.touched.action[change] == EditAction::remove) continue;
    const int position = of.position(change);
    Word word = of.payloads[Offset(of.touched.source[change]) * of.words + k];
    if constexpr (std::is_floating_point_v<Word>) {
      if (of.touched.action[change] == EditAction::add && has_old) {
        const int payload = old.find(of.shape().place_at(position));
        if (payload >= 0) word = rounded_sum(old_payloads[Offset(payload) * of.words + k], word);
      }
    }
    to.payload(position)[k] = word;
    if (k == 0) to.put_place(position);
  }
}

template <class Word>
__global__ void __launch_bounds__(block_size)
    write_leaves(const __grid_constant__ NodesToMerge<Word> of) {
  __shared__ MergeWorkspace space;
  write_node(of, blockIdx.x, space);
}

/// The levels above the leaves, whose nodes are numbered one level after another.
struct InnerNodes {
  NodesToMerge<unsigned long long> level[max_levels];
  Offset count[max_levels];
};
__global__ void __launch_bounds__(block_size) write_inner(const __grid_constant__ InnerNodes of) {
  __shared__ MergeWorkspace space;
  Offset node = blockIdx.x;
  int level = 1;
  for (; node >= of.count[level]; ++level) node -= of.count[level];
  write_node(of.level[level], node, space);
}

template <class Word>
NodesToMerge<Word> nodes_to_merge(const TouchedNodes& touched, const unsigned long long* pools,
                                  const void* payloads, std::byte* pool) {
  return {touched, pools, static_cast<const Word*>(payloads),
          touched.shape.payload_bytes / int{sizeof(Word)}, reinterpret_cast<unsigned char*>(pool)};
}

}  // namespace

void write_merged(std::span<const TouchedNodes> levels, std::span<const Offset> count,
                  const unsigned long long* pools, const void* values, PayloadWord word,
                  std::byte* pool, const Device& device) {
  const Stream& stream = device.stream();
  const OnGpu here(stream);
  const auto leaves = static_cast<unsigned>(count[0]);
  if (word == PayloadWord::single) {
    launch_kernel(write_leaves<float>, leaves, block_size, false, stream,
                  nodes_to_merge<float>(levels[0], pools, values, pool));
  } else {
    launch_kernel(write_leaves<double>, leaves, block_size, false, stream,
                  nodes_to_merge<double>(levels[0], pools, values, pool));
  }
  InnerNodes inner{};
  Offset nodes = 0;
  for (std::size_t k = 1; k < levels.size(); ++k) {
    inner.level[k] =
        nodes_to_merge<unsigned long long>(levels[k], pools, levels[k - 1].after, pool);
    inner.count[k] = count[k];
    nodes += count[k];
  }
  if (nodes == 0) return;
  launch_kernel(write_inner, static_cast<unsigned>(nodes), block_size, false, stream, inner);
}

}  // namespace heddle::cuda
