#include "heddle/hierarchical_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

Tree empty_tree(Index rows, Index columns, const NodeShape& leaf) {
  if (rows < 0 || columns < 0) {
    throw Error(ErrorKind::out_of_range, "a matrix cannot have " + std::to_string(rows) + " x " +
                                             std::to_string(columns) + " entries");
  }
  Tree tree;
  tree.rows = rows;
  tree.columns = columns;
  tree.leaf = leaf;
  return tree;
}

std::vector<std::size_t> order_by_places(Index rows, Index columns, std::size_t count,
                                         StridedIndices row, StridedIndices column) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (row[i] < 0 || row[i] >= rows || column[i] < 0 || column[i] >= columns) {
      throw Error(ErrorKind::out_of_range,
                  "triplet " + std::to_string(i) + " names row " + std::to_string(row[i]) +
                      ", column " + std::to_string(column[i]) + " of a matrix of " +
                      std::to_string(rows) + " x " + std::to_string(columns) +
                      " entries, counted from 0");
    }
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(row[a], column[a], a) < std::tuple(row[b], column[b], b);
  });
  return order;
}

void check_tree_field(Index size, int components, const Basis* basis, Index rows,
                      int row_components, const char* name) {
  if (size != rows || components != row_components) {
    throw Error(ErrorKind::size_mismatch,
                std::string(name) + " has " + std::to_string(size) + " rows of " +
                    std::to_string(components) + " components, the matrix asks for " +
                    std::to_string(rows) + " of " + std::to_string(row_components));
  }
  if (basis != nullptr && !basis->is_natural()) {
    throw Error(ErrorKind::size_mismatch, std::string(name) +
                                              " is not in the user's order, which hierarchical "
                                              "storage keeps; `permute` takes it there");
  }
}

template class TreeOperatorBase<float>;
template class TreeOperatorBase<double>;

void refuse_form(TreeForm form) {
  throw Error(ErrorKind::unsupported,
              form == TreeForm::adjoint
                  ? "no adjoint: the entry has none of its kind"
                  : "no plain transpose: only real and complex numbers and blocks of real ones "
                    "have one; use the adjoint");
}

TreeForm composed(TreeForm form, TreeForm by) {
  if (by == TreeForm::direct) return form;
  if (form == TreeForm::direct) return by;
  if (form == by) return TreeForm::direct;
  throw Error(
      ErrorKind::unsupported,
      form == TreeForm::transpose
          ? "the transpose of complex numbers has no adjoint here; use A.adjoint() of the matrix"
          : "the adjoint of complex numbers has no transpose here; use A.transpose() of the "
            "matrix");
}

void read_rows(const ScheduledTree& matrix, bool transposes, std::span<Offset> offsets,
               std::span<Index> column, std::byte* values, const Device& device) {
  const Tree& tree = matrix.tree();
  const LeafSchedule& schedule = matrix.schedule(transposes);
  const LeafPlaces& places = *schedule.places;
  const int log2_size = tree.leaf.log2_size;
  const Offset bytes = tree.leaf.payload_bytes;
  // Calls `body(row, column, payload)` for the entries of a block row, leaf by leaf.
  const auto for_each_entry = [&](Index block, const auto& body) {
    const Offset end = places.first[static_cast<std::size_t>(block) + 1];
    for (Offset i = places.first[static_cast<std::size_t>(block)]; i < end; ++i) {
      const NodeView leaf = tree.node((*schedule.references)[static_cast<std::size_t>(i)], 0);
      const Index first_column = places.block[static_cast<std::size_t>(i)] << log2_size;
      const auto* const payloads = reinterpret_cast<const std::byte*>(leaf.payloads());
      leaf.for_each([&](LocalPlace place, int payload) {
        if (transposes) std::swap(place.row, place.column);
        body(static_cast<std::size_t>(block << log2_size | place.row), first_column + place.column,
             payloads + payload * bytes);
      });
    }
  };
  const int team =
      team_size(device.stream(), tree.entries + static_cast<Offset>(offsets.size()) - 1);
  parallel_for(team, schedule.blocks(), [&](Index block) {
    for_each_entry(block, [&](std::size_t row, Index, const std::byte*) { ++offsets[row + 1]; });
  });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
  Array<Offset> next(offsets, device);
  parallel_for(team, schedule.blocks(), [&](Index block) {
    for_each_entry(block, [&](std::size_t row, Index of_column, const std::byte* payload) {
      const Offset to = next[row]++;
      column[static_cast<std::size_t>(to)] = of_column;
      std::memcpy(values + to * bytes, payload, static_cast<std::size_t>(bytes));
    });
  });
}

}  // namespace heddle::detail
