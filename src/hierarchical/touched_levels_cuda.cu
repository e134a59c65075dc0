#include <algorithm>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "touched_levels_cuda.cuh"

namespace heddle::cuda {

namespace {

using heddle::detail::EditAction;
using heddle::detail::PlacedEdit;
using heddle::detail::Tree;

/// Which nodes the changes of a level touch. Returns for each change the number of its node, and
/// one more for the end.
UnsetArray<Offset> find_nodes(const TreeView& tree, TouchedLevel& level, const Device& device) {
  const Stream& stream = device.stream();
  const Offset changes = level.changes();
  const int log2_size = level.shape.log2_size;
  UnsetArray<Offset> number(level.key.size() + 1, device);
  for_each_index(
      stream, changes + 1,
      [changes, log2_size, key = level.key.data(), number = number.data()] __device__(Offset i) {
        const auto node_of = [&](Offset change) {
          return heddle::detail::node_in_walk(key[change], log2_size);
        };
        number[i] = i < changes && (i == 0 || node_of(i - 1) != node_of(i)) ? 1 : 0;
      });
  exclusive_sum(number.data(), changes + 1, device);
  const auto nodes = static_cast<std::size_t>(read_value(number.data() + changes, device));
  level.first = UnsetArray<Offset>(nodes + 1, device);
  level.before = UnsetArray<NodeReference>(nodes, device);
  level.held = UnsetArray<int>(nodes, device);
  level.byte = UnsetArray<Offset>(nodes + 1, device);
  for_each_index(stream, changes + 1,
                 [tree, changes, log2_size, at = level.level, key = level.key.data(),
                  number = number.data(), first = level.first.data(), before = level.before.data(),
                  held = level.held.data()] __device__(Offset i) {
                   if (i == changes) {
                     first[number[i]] = changes;
                     return;
                   }
                   const Offset node = number[i];
                   if (number[i + 1] == node) return;  // not the first one of its node
                   first[node] = i;
                   before[node] = tree.find(heddle::detail::node_in_walk(key[i], log2_size), at);
                   held[node] =
                       before[node].bits == no_node.bits ? 0 : tree.view(before[node], at).count();
                 });
  return number;
}

__global__ void __launch_bounds__(block_size)
    count_nodes(TreeView tree, int level, const NodeReference* before, const int* held,
                const Offset* byte, Offset nodes, const EditFaults* faults, CountedNodes* counted,
                unsigned long long* freed_of_pool) {
  __shared__ int more[node_kinds];
  __shared__ unsigned long long more_items, bytes_before;
  if (threadIdx.x < node_kinds) more[threadIdx.x] = 0;
  if (threadIdx.x == 0) more_items = bytes_before = 0;
  __syncthreads();
  const Offset node = Offset(blockIdx.x) * block_size + threadIdx.x;
  if (node == 0) {
    counted->bytes_after = byte[nodes];
    counted->faults = *faults;
  }
  if (node < nodes) {
    const NodeShape shape = tree.shape(level);
    // Modulo 2^64, where a negative number is one as well.
    auto items = static_cast<unsigned long long>(held[node]);
    if (held[node] > 0) atomicAdd(&more[static_cast<int>(shape.kind_of(held[node]))], 1);
    if (before[node].bits != no_node.bits) {
      const NodeView old = tree.view(before[node], level);
      const auto bytes = static_cast<unsigned long long>(old.bytes());
      atomicAdd(&more[static_cast<int>(old.kind)], -1);
      atomicAdd(&bytes_before, bytes);
      atomicAdd(freed_of_pool + before[node].pool(), bytes);
      items -= static_cast<unsigned long long>(old.count());
    }
    atomicAdd(&more_items, items);
  }
  __syncthreads();
  if (threadIdx.x < node_kinds && more[threadIdx.x] != 0) {
    atomicAdd(&counted->more[threadIdx.x], more[threadIdx.x]);
  }
  if (threadIdx.x == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&counted->more_items), more_items);
    atomicAdd(reinterpret_cast<unsigned long long*>(&counted->bytes_before), bytes_before);
  }
}

/// How many entries the nodes of a level hold afterwards, and where they go.
void count_entries(const TreeView& tree, TouchedLevel& level, const UnsetArray<Offset>& number,
                   EditFaults* faults, const Device& device) {
  const Stream& stream = device.stream();
  for_each_index(
      stream, level.changes(),
      [tree, at = level.level, shape = level.shape, number = number.data(), key = level.key.data(),
       action = level.action.data(), source = level.source.data(), before = level.before.data(),
       held = level.held.data(), faults] __device__(Offset i) {
        const Offset node = number[i + 1] - 1;
        const int position = heddle::detail::position_in_node(key[i], at, shape.log2_size);
        const bool is_there = before[node].bits != no_node.bits &&
                              tree.view(before[node], at).find(shape.place_at(position)) >= 0;
        const bool goes = action[i] == EditAction::remove;
        if (goes && !is_there) {
          atomicMin(&faults->missing, static_cast<unsigned long long>(source[i]));
        }
        const int more = (goes ? 0 : 1) - (is_there ? 1 : 0);
        if (more != 0) atomicAdd(held + node, more);
      });
  for_each_index(stream, level.nodes() + 1,
                 [nodes = level.nodes(), shape = level.shape, held = level.held.data(),
                  byte = level.byte.data()] __device__(Offset node) {
                   byte[node] = node < nodes && held[node] > 0 ? shape.bytes(held[node]) : 0;
                 });
  exclusive_sum(level.byte.data(), level.nodes() + 1, device);
}

}  // namespace

TouchedLevel sorted_edits(const Tree& tree, int levels, const Array<PlacedEdit>& edits,
                          EditFaults* faults, const Device& device) {
  const auto count = static_cast<Offset>(edits.size());
  const Stream& stream = device.stream();
  const int log2_size = tree.leaf.log2_size;
  SortBuffers buffers(edits.size(), device);
  for_each_index(
      stream, count,
      [rows = tree.rows, columns = tree.columns, log2_size, edits = edits.data(), faults,
       key = buffers.key[0].data(), value = buffers.value[0].data()] __device__(Offset i) {
        const PlacedEdit edit = edits[i];
        const bool is_inside =
            edit.row >= 0 && edit.row < rows && edit.column >= 0 && edit.column < columns;
        if (!is_inside) faults->malformed = 1;
        key[i] = is_inside ? heddle::detail::place_in_walk(edit.row, edit.column, log2_size) : 0;
        value[i] = static_cast<Index>(i);
      });
  sort_by_key(buffers, count, std::min(62, 2 * log2_size * levels), device);
  TouchedLevel level;
  level.shape = tree.leaf;
  level.key = UnsetArray<unsigned long long>(edits.size(), device);
  level.action = UnsetArray<EditAction>(edits.size(), device);
  level.source = UnsetArray<Index>(edits.size(), device);
  for_each_index(stream, count,
                 [edits = edits.data(), faults, from = buffers.key[buffers.current].data(),
                  order = buffers.value[buffers.current].data(), key = level.key.data(),
                  action = level.action.data(), source = level.source.data()] __device__(Offset i) {
                   if (i > 0 && from[i - 1] == from[i]) faults->malformed = 1;
                   key[i] = from[i];
                   source[i] = order[i];
                   action[i] = edits[order[i]].action;
                 });
  wait_before_memory_goes_back(device);
  return level;
}

CountedNodes count_level(const TreeView& tree, TouchedLevel& level, EditFaults* faults,
                         unsigned long long* freed_of_pool, const Device& device) {
  const UnsetArray<Offset> number = find_nodes(tree, level, device);
  count_entries(tree, level, number, faults, device);
  Array<CountedNodes> counted(1, device);
  const OnGpu here(device.stream());
  launch_kernel(count_nodes, static_cast<unsigned>((level.nodes() + block_size - 1) / block_size),
                block_size, false, device.stream(), tree, level.level, level.before.data(),
                level.held.data(), static_cast<const Offset*>(level.byte.data()), level.nodes(),
                static_cast<const EditFaults*>(faults), counted.data(), freed_of_pool);
  return read_value(counted.data(), device);
}

TouchedLevel changes_above(const TouchedLevel& touched, const NodeShape& shape_above, int pool,
                           UnsetArray<NodeReference>& child, const Device& device) {
  const auto nodes = static_cast<std::size_t>(touched.nodes());
  TouchedLevel above;
  above.level = touched.level + 1;
  above.shape = shape_above;
  above.key = UnsetArray<unsigned long long>(nodes, device);
  above.action = UnsetArray<EditAction>(nodes, device);
  above.source = UnsetArray<Index>(nodes, device);
  child = UnsetArray<NodeReference>(nodes, device);
  for_each_index(device.stream(), touched.nodes(),
                 [shape = touched.shape, pool, begin = touched.begin, from = touched.key.data(),
                  first = touched.first.data(), held = touched.held.data(),
                  byte = touched.byte.data(), key = above.key.data(), action = above.action.data(),
                  source = above.source.data(), child = child.data()] __device__(Offset node) {
                   key[node] = heddle::detail::node_in_walk(from[first[node]], shape.log2_size);
                   source[node] = static_cast<Index>(node);
                   action[node] = held[node] > 0 ? EditAction::set : EditAction::remove;
                   child[node] =
                       NodeReference::make(shape.kind_of(held[node]), pool, begin + byte[node]);
                 });
  return above;
}

}  // namespace heddle::cuda
