// New values for the entries of a matrix whose pattern stays the same.
#pragma once

#include <concepts>
#include <span>

#include "heddle/csr.hpp"

namespace heddle {

/// The values of all entries, in the order in which the matrix had them, in the memory of host or
/// GPU; not owned. Whoever takes them checks their number and sizes, but not that the pattern is
/// the same.
template <class E>
class EntryValues {
 public:
  using scalar = stored_scalar_t<E>;

  /// E::components scalars per entry, blocks ordered as in the matrix that the operator was made
  /// from.
  EntryValues(const scalar* data, std::size_t count) : EntryValues(std::span(data, count)) {}
  template <class Scalars>
    requires std::convertible_to<const Scalars&, std::span<const scalar>>
  EntryValues(const Scalars& scalars) : scalars_(scalars) {
    check();
  }

  /// Entries one after another, blocks row by row.
  template <class Entries>
    requires std::convertible_to<const Entries&, std::span<const E>>
  EntryValues(const Entries& entries) : is_row_major_(true) {
    const std::span<const E> all = entries;
    scalars_ = {reinterpret_cast<const scalar*>(all.data()), all.size() * E::components};
    check();
  }

  /// The values of a matrix with the same pattern.
  EntryValues(const CsrMatrix<E>& matrix)
      : scalars_(matrix.values().data(),
                 static_cast<std::size_t>(matrix.entries()) * E::components),
        is_row_major_(true),
        is_matrix_(true),
        rows_(matrix.rows()),
        columns_(matrix.columns()) {}

  std::span<const scalar> scalars() const { return scalars_; }
  /// The order of components in blocks, where `given` is that of the operator's matrix.
  ComponentOrder order(ComponentOrder given) const {
    return is_row_major_ ? ComponentOrder::row_major : given;
  }

  /// Throws `Error` (size_mismatch) unless the values are those of a matrix of these sizes.
  void check_fit(Index rows, Index columns, Offset entries) const {
    const auto needed = static_cast<std::size_t>(entries) * E::components;
    if (is_matrix_ && (rows_ != rows || columns_ != columns)) {
      throw Error(ErrorKind::size_mismatch,
                  "the values of a matrix of " + std::to_string(rows_) + " x " +
                      std::to_string(columns_) + " entries do not fit one of " +
                      std::to_string(rows) + " x " + std::to_string(columns));
    }
    if (scalars_.size() != needed) {
      throw Error(ErrorKind::size_mismatch,
                  "a matrix of " + std::to_string(entries) + " entries of " +
                      std::to_string(E::components) + " scalars was given values of " +
                      std::to_string(scalars_.size()) + " scalars, not " + std::to_string(needed));
    }
  }

 private:
  void check() const {
    if (scalars_.data() == nullptr && !scalars_.empty()) {
      throw Error(ErrorKind::usage,
                  "a null pointer to " + std::to_string(scalars_.size()) + " scalars of entries");
    }
  }

  std::span<const scalar> scalars_;
  bool is_row_major_ = false;
  bool is_matrix_ = false;
  Index rows_ = 0;
  Index columns_ = 0;
};

}  // namespace heddle
