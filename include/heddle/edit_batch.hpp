// Edits of a matrix in hierarchical storage that are carried out together.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/coo.hpp"
#include "heddle/detail/trees/tree_edit.hpp"
#include "heddle/entries/entry.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/memory_error.hpp"
#include "heddle/triplets.hpp"

namespace heddle {

namespace detail {

/// The order of triplets by place; those of one place stay in their given order. Throws `Error`
/// (out_of_range) that names the first of them beyond the matrix.
HEDDLE_EXPORT std::vector<std::size_t> order_by_places(Index rows, Index columns, std::size_t count,
                                                       StridedIndices row, StridedIndices column);

}  // namespace detail

/// A batch for `HierarchicalMatrix<E>::edited`, in any order; a place may be named once. `edited`
/// checks the places. Throws `Error` (memory), and then keeps the edits that it has.
template <class E>
class HEDDLE_EXPORT EditBatch {
 public:
  /// Makes `value` the entry at (row, column), counted from 0, whether or not there was one.
  void set(Index row, Index column, const E& value) {
    append(row, column, value, detail::EditAction::set);
  }
  /// Adds `value` to the entry, or sets it if there was none.
  void add(Index row, Index column, const E& value)
    requires std::is_same_v<E, arithmetic_t<E>>  // encoded entries have no sum
  {
    append(row, column, value, detail::EditAction::add);
  }
  /// Removes the entry, which must exist.
  void remove(Index row, Index column) { append(row, column, E{}, detail::EditAction::remove); }

  // The same for arrays. Throws `Error` (size_mismatch) for arrays of different lengths.
  void set(std::span<const Index> rows, std::span<const Index> columns, std::span<const E> values) {
    check(rows, columns, values.size());
    for (std::size_t i = 0; i < rows.size(); ++i) set(rows[i], columns[i], values[i]);
  }
  void add(std::span<const Index> rows, std::span<const Index> columns, std::span<const E> values)
    requires std::is_same_v<E, arithmetic_t<E>>
  {
    check(rows, columns, values.size());
    for (std::size_t i = 0; i < rows.size(); ++i) add(rows[i], columns[i], values[i]);
  }
  void remove(std::span<const Index> rows, std::span<const Index> columns) {
    check(rows, columns, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) remove(rows[i], columns[i]);
  }

  std::size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  void reserve(std::size_t edits) {
    detail::or_refuse_memory("edits", edits, bytes_of_edit, [&] {
      places_.reserve(edits);
      values_.reserve(edits);
    });
  }
  void clear() {
    places_.clear();
    values_.clear();
  }

  std::span<const detail::PlacedEdit> places() const { return places_; }
  std::span<const E> values() const { return values_; }

 private:
  static constexpr std::size_t bytes_of_edit = sizeof(E) + sizeof(detail::PlacedEdit);

  void append(Index row, Index column, const E& value, detail::EditAction action) {
    detail::or_refuse_memory("edits", size() + 1, bytes_of_edit, [&] {
      values_.push_back(value);
      try {
        places_.push_back({row, column, action});
      } catch (...) {
        values_.pop_back();
        throw;
      }
    });
  }
  /// Also makes room, so that all edits are taken or none.
  void check(std::span<const Index> rows, std::span<const Index> columns, std::size_t values) {
    if (rows.size() == columns.size() && rows.size() == values) {
      const std::size_t all = size() + values;
      if (all > places_.capacity() || all > values_.capacity()) reserve(std::max(all, 2 * size()));
      return;
    }
    throw Error(ErrorKind::size_mismatch, "edits have " + std::to_string(rows.size()) + " rows, " +
                                              std::to_string(columns.size()) + " columns and " +
                                              std::to_string(values) + " values");
  }

  std::vector<detail::PlacedEdit> places_;
  std::vector<E> values_;
};

/// Edits in a user's arrays, in the host's memory or a GPU's: entries to set, to add, and to
/// remove; the values of the last are not read. They are counted in this order; a place may be
/// named once among all. `rows` and `columns` of a view with entries are those of the matrix.
template <class E>
struct HEDDLE_EXPORT EditViews {
  CooView<E> set = {};
  CooView<E> add = {};
  CooView<E> remove = {};
};

namespace detail {

/// Triplets as edits of a matrix without entries. Throws `Error` like the constructor of
/// `HierarchicalMatrix` from triplets.
template <class E>
EditBatch<E> batch_of(Index rows, Index columns, std::span<const Triplet<E>> triplets) {
  return or_refuse_memory("triplets", triplets.size(), sizeof(Triplet<E>), [&] {
    EditBatch<E> batch;
    if (triplets.empty()) return batch;
    const auto order =
        order_by_places(rows, columns, triplets.size(), {&triplets[0].row, sizeof(Triplet<E>)},
                        {&triplets[0].column, sizeof(Triplet<E>)});
    batch.reserve(triplets.size());
    for (std::size_t i = 0; i < order.size();) {
      const Triplet<E>& first = triplets[order[i]];
      E sum = first.value;
      for (++i; i < order.size(); ++i) {
        const Triplet<E>& next = triplets[order[i]];
        if (next.row != first.row || next.column != first.column) break;
        if constexpr (std::is_same_v<E, arithmetic_t<E>>) {
          sum = add(sum, next.value);
        } else {
          throw Error(ErrorKind::usage, "two triplets name row " + std::to_string(first.row) +
                                            ", column " + std::to_string(first.column) +
                                            ": encoded entries have no sum");
        }
      }
      batch.set(first.row, first.column, sum);
    }
    return batch;
  });
}

}  // namespace detail

}  // namespace heddle
