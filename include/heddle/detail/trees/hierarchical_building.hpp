// Builds hierarchical matrices from arrays, on a CPU and on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/hierarchical_matrix.hpp"

namespace heddle {

namespace detail {

/// The device on which a GPU makes a tree from a view: `device`, or the one where the arrays lie.
/// Work on another stream may still have to write the arrays.
inline Device device_of_building(const Device& of_view, const Device& device) {
  if (!device.on_gpu()) return of_view;
  if (of_view.stream().queue != device.stream().queue) of_view.synchronize();
  return device;
}

}  // namespace detail

template <class E>
std::shared_ptr<const detail::ScheduledTree> HierarchicalMatrix<E>::build(
    const CsrView<E>& matrix, const NodeLayout& nodes, const Device& device,
    const std::optional<long long>& memory_limit) {
  const NodeShape leaf = detail::leaf_shape(nodes, int{sizeof(E)});
  check_sizes(matrix.pattern());
  const Device team = detail::team_of(device);
  if constexpr (has_cuda) {
    if (matrix.device.on_gpu()) {
      return detail::scheduled(
          cuda::tree_of_rows(matrix.pattern(), leaf, entries_to_store(matrix.values, matrix.order),
                             detail::device_of_building(matrix.device, device), memory_limit),
          nodes.launch, team);
    }
  }
  check_pattern(matrix.pattern(), team);
  const auto* values = reinterpret_cast<const std::byte*>(matrix.values);
  std::vector<E> by_rows;
  if (matrix.order == column_major) {
    by_rows.reserve(static_cast<std::size_t>(matrix.entries()));
    for (Offset i = 0; i < matrix.entries(); ++i) by_rows.push_back(detail::entry_of(matrix, i));
    values = reinterpret_cast<const std::byte*>(by_rows.data());
  }
  return detail::scheduled(detail::tree_of(matrix.pattern(), leaf, values, team, memory_limit),
                           nodes.launch, team);
}

template <class E>
std::shared_ptr<const detail::ScheduledTree> HierarchicalMatrix<E>::build(
    const CooView<E>& matrix, const NodeLayout& nodes, const Device& device,
    const std::optional<long long>& memory_limit) {
  const NodeShape leaf = detail::leaf_shape(nodes, int{sizeof(E)});
  detail::Tree tree = detail::empty_tree(matrix.rows, matrix.columns, leaf);
  const Device team = detail::team_of(device);
  if constexpr (has_cuda) {
    if (matrix.device.on_gpu()) {
      return detail::scheduled(
          cuda::tree_of_places(matrix.rows, matrix.columns, matrix.entries, matrix.row,
                               matrix.column, leaf, entries_to_store(matrix.values, matrix.order),
                               detail::device_of_building(matrix.device, device), memory_limit),
          nodes.launch, team);
    }
  }
  CsrView<E> values;
  values.values = matrix.values;
  values.order = matrix.order;
  EditBatch<E> batch;
  batch.reserve(static_cast<std::size_t>(matrix.entries));
  for (Offset i = 0; i < matrix.entries; ++i) {
    batch.set(matrix.row[i], matrix.column[i], detail::entry_of(values, i));
  }
  const auto bytes = reinterpret_cast<const std::byte*>(batch.values().data());
  return detail::scheduled(detail::edited(tree, batch.places(), bytes, nullptr, false, team).tree,
                           nodes.launch, team);
}

}  // namespace heddle
