// The diagonal of a tree, and the parts of it that another tree does not have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/memory_error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// The leaf on the diagonal whose first row is that of this block; empty if there is none.
struct HEDDLE_EXPORT DiagonalLeaf {
  Index block;
  std::optional<NodeReference> leaf;
};

/// Leaves on the diagonal, block after block. With `before`, a tree of the same sizes, only those
/// that the trees do not share, including leaves that are gone: shared nodes are not walked.
HEDDLE_EXPORT std::vector<DiagonalLeaf> diagonal_leaves(const Tree& tree, const Tree* before);

/// Calls `body(row, entry)` for the diagonal places in a leaf's rows; `entry` is null if there is
/// none.
template <class Body>
void for_each_on_diagonal(const Tree& tree, const DiagonalLeaf& at, const Body& body) {
  const Index size = tree.leaf.size();
  const Index first = at.block * size;
  const Index count = std::min(size, std::min(tree.rows, tree.columns) - first);
  const NodeView leaf = at.leaf ? tree.node(*at.leaf, 0) : NodeView{};
  for (Index k = 0; k < count; ++k) {
    const int payload = at.leaf ? leaf.find(tree.leaf.place_of(k, k)) : -1;
    body(first + k, payload < 0 ? nullptr
                                : reinterpret_cast<const std::byte*>(leaf.payloads()) +
                                      Offset(payload) * tree.leaf.payload_bytes);
  }
}

/// The entries on the diagonal by rows, read by all threads of `device`, as a matrix of the tree's
/// sizes in either order. An entry has `components` scalars T.
template <class T>
CsrArrays<T> read_diagonal(const Tree& tree, Index rows, Index columns, int components,
                           const Device& device) {
  const auto length = static_cast<std::size_t>(std::min(tree.rows, tree.columns));
  const auto leaves =
      or_refuse_memory("leaves of the diagonal", length / std::size_t{4} + 1, sizeof(DiagonalLeaf),
                       [&] { return diagonal_leaves(tree, nullptr); });
  const int team = team_size(device.stream(), static_cast<Offset>(length));
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, device);
  parallel_for(team, leaves.size(), [&](std::size_t i) {
    for_each_on_diagonal(tree, leaves[i], [&](Index row, const std::byte* entry) {
      offsets[static_cast<std::size_t>(row) + 1] = entry != nullptr ? 1 : 0;
    });
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  const auto count = static_cast<std::size_t>(offsets[offsets.size() - 1]);
  const auto K = static_cast<std::size_t>(components);
  Array<Index> column(count, device);
  Array<T> values(count * K, device);
  parallel_for(team, leaves.size(), [&](std::size_t i) {
    for_each_on_diagonal(tree, leaves[i], [&](Index row, const std::byte* entry) {
      if (entry == nullptr) return;
      const auto to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
      column[to] = row;
      std::memcpy(values.data() + to * K, entry, K * sizeof(T));
    });
  });
  return {rows, columns, std::move(offsets), std::move(column), std::move(values)};
}

}  // namespace heddle::detail
