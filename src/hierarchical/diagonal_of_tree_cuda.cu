#include <span>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "touched_levels_cuda.cuh"

namespace heddle::cuda {

bool diagonal_of_tree(const TreeOnGpu& matrix, Offset* offsets, Index* column, void* values) {
  const Device& device = matrix.device();
  const heddle::detail::Tree& tree = matrix.matrix().tree();
  const Array<unsigned long long> pools(matrix.addresses(), device);
  const int levels = heddle::detail::levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  const TreeView view{pools.data(), tree.root, tree.leaf, levels, tree.entries == 0};
  Array<int> missing(1, device);
  for_each_index(device.stream(), Offset(tree.rows) + 1,
                 [view, offsets, column, rows = tree.rows, to = static_cast<unsigned*>(values),
                  words = tree.leaf.payload_bytes / int{sizeof(unsigned)},
                  missing = missing.data()] __device__(Offset i) {
                   offsets[i] = i;
                   if (i == rows) return;
                   const auto row = static_cast<Index>(i);
                   column[i] = row;
                   const int log2_size = view.leaf.log2_size;
                   const auto place = heddle::detail::place_in_walk(row, row, log2_size);
                   const NodeReference at =
                       view.find(heddle::detail::node_in_walk(place, log2_size), 0);
                   int payload = -1;
                   NodeView leaf{};
                   if (at.bits != no_node.bits) {
                     leaf = view.view(at, 0);
                     payload = leaf.find(leaf.shape.place_of(row, row));
                   }
                   if (payload < 0) {
                     *missing = 1;
                     return;
                   }
                   const auto* const from =
                       reinterpret_cast<const unsigned*>(leaf.payloads()) + Offset(payload) * words;
                   for (int k = 0; k < words; ++k) to[i * words + k] = from[k];
                 });
  return read_value(missing.data(), device) == 0;
}

}  // namespace heddle::cuda
