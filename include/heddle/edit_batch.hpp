// Edits of a matrix in hierarchical storage that are carried out together.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/detail/tree_edit.hpp"
#include "heddle/entries/entry.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// For `HierarchicalMatrix<E>::edited`, in any order; a place may be named once. Places are checked
/// there.
template <class E>
class HEDDLE_EXPORT EditBatch {
 public:
  /// The entry at (row, column), counted from 0, is `value`, whether there was one or not.
  void set(Index row, Index column, const E& value) {
    append(row, column, value, detail::EditAction::set);
  }
  /// `value` more, or the first there.
  void add(Index row, Index column, const E& value)
    requires std::is_same_v<E, arithmetic_t<E>>  // encoded entries have no sum
  {
    append(row, column, value, detail::EditAction::add);
  }
  /// No entry any more; there must be one.
  void remove(Index row, Index column) { append(row, column, E{}, detail::EditAction::remove); }

  // The same of arrays. Throws `Error` (size_mismatch) for arrays of different lengths.
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
    places_.reserve(edits);
    values_.reserve(edits);
  }
  void clear() {
    places_.clear();
    values_.clear();
  }

  std::span<const detail::PlacedEdit> places() const { return places_; }
  std::span<const E> values() const { return values_; }

 private:
  void append(Index row, Index column, const E& value, detail::EditAction action) {
    values_.push_back(value);
    try {
      places_.push_back({row, column, action});
    } catch (...) {
      values_.pop_back();
      throw;
    }
  }
  /// Makes room too, so that all are taken or none.
  void check(std::span<const Index> rows, std::span<const Index> columns, std::size_t values) {
    if (rows.size() == columns.size() && rows.size() == values) {
      const std::size_t all = size() + values;
      if (all > places_.capacity() || all > values_.capacity()) reserve(std::max(all, 2 * size()));
      return;
    }
    throw Error(ErrorKind::size_mismatch, "edits of " + std::to_string(rows.size()) + " rows, " +
                                              std::to_string(columns.size()) + " columns and " +
                                              std::to_string(values) + " values");
  }

  std::vector<detail::PlacedEdit> places_;
  std::vector<E> values_;
};

}  // namespace heddle
