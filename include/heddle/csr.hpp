// Assembled matrices: compressed sparse rows over compound entries, owned or viewed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/detail/assert.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Row offsets of 32 or 64 bits, read alike: by the host in its memory, by kernels in a GPU's.
class HEDDLE_EXPORT OffsetsView {
 public:
  OffsetsView() = default;
  OffsetsView(const std::int32_t* narrow) : narrow_(narrow) {}
  OffsetsView(const std::int64_t* wide) : wide_(reinterpret_cast<const Offset*>(wide)) {}
  OffsetsView(const Offset* wide) : wide_(wide) {}

  HEDDLE_HD Offset operator[](Offset row) const {
    return wide_ != nullptr ? wide_[row] : narrow_[row];
  }
  explicit operator bool() const { return wide_ != nullptr || narrow_ != nullptr; }

  /// The one of the two that is set.
  const std::int32_t* narrow() const { return narrow_; }
  const Offset* wide() const { return wide_; }

 private:
  static_assert(sizeof(Offset) == sizeof(std::int64_t));
  const std::int32_t* narrow_ = nullptr;
  const Offset* wide_ = nullptr;
};

/// The places of the entries without their values: `rows + 1` offsets from 0, and one column each.
/// The members below read the offsets wherever they lie.
struct HEDDLE_EXPORT PatternView {
  Index rows = 0;
  Index columns = 0;
  OffsetsView offsets;
  const Index* column = nullptr;

  Offset entries() const { return rows == 0 ? 0 : offsets[rows]; }
  HEDDLE_HD Index length(Index row) const {
    HEDDLE_ASSERT(row >= 0 && row < rows);
    return static_cast<Index>(offsets[Offset(row) + 1] - offsets[row]);
  }
};

/// Throws `Error`: size_mismatch for negative sizes, usage for rows without offsets. Reads nothing.
void check_sizes(const PatternView& pattern);

/// Throws `Error` unless offsets grow from 0, columns are in range and no row names one twice.
/// Columns need not be sorted.
HEDDLE_EXPORT void check_pattern(const PatternView& pattern, const Stream& stream);
/// The same for arrays that may lie in the memory of a GPU, which then does the work.
HEDDLE_EXPORT void check_pattern(const PatternView& pattern, const Device& device);

/// The order of a block's components in the caller's array; other entries have only one order.
enum class ComponentOrder { row_major, column_major };
inline constexpr ComponentOrder row_major = ComponentOrder::row_major;
inline constexpr ComponentOrder column_major = ComponentOrder::column_major;

/// A user's arrays, not owned: E::components scalars a value, in the order of the columns.
template <class E>
struct HEDDLE_EXPORT CsrView {
  static_assert(check_entry<E>());

  Index rows = 0;
  Index columns = 0;
  OffsetsView offsets;
  const Index* column = nullptr;
  const stored_scalar_t<E>* values = nullptr;
  ComponentOrder order = ComponentOrder::row_major;
  Device device = Device::cpu();

  PatternView pattern() const { return {rows, columns, offsets, column}; }
  Offset entries() const { return pattern().entries(); }
};

namespace detail {
/// Throws `Error` (size_mismatch) unless the arrays of a matrix are as long as its rows and its
/// last offset say.
void check_lengths(Index rows, Index columns, std::span<const Offset> offsets, std::size_t column,
                   std::size_t values, int components);
}  // namespace detail

/// An assembled matrix that owns its arrays; a moved-from one has none.
template <class E>
class HEDDLE_EXPORT CsrMatrix {
  static_assert(check_entry<E>());

 public:
  using scalar = stored_scalar_t<E>;

  CsrMatrix() : offsets_(1) {}
  CsrMatrix(const CsrMatrix&) = default;
  CsrMatrix& operator=(const CsrMatrix&) = default;
  CsrMatrix(CsrMatrix&& other) noexcept
      : rows_(std::exchange(other.rows_, 0)),
        columns_(std::exchange(other.columns_, 0)),
        offsets_(std::move(other.offsets_)),
        column_(std::move(other.column_)),
        values_(std::move(other.values_)) {}
  CsrMatrix& operator=(CsrMatrix&& other) noexcept {
    CsrMatrix taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~CsrMatrix() = default;

  /// Takes the arrays: rows + 1 offsets, a column and E::components scalars an entry. Checks them
  /// as `check_pattern` does.
  CsrMatrix(Index rows, Index columns, Array<Offset> offsets, Array<Index> column,
            Array<scalar> values)
      : rows_(rows),
        columns_(columns),
        offsets_(std::move(offsets)),
        column_(std::move(column)),
        values_(std::move(values)) {
    detail::check_lengths(rows, columns, offsets_.span(), column_.size(), values_.size(),
                          E::components);
    check_pattern(view().pattern(), Device::cpu().stream());
  }

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Offset entries() const { return rows_ == 0 ? 0 : offsets_[static_cast<std::size_t>(rows_)]; }

  const Array<Offset>& offsets() const { return offsets_; }
  const Array<Index>& column() const { return column_; }
  const Array<scalar>& values() const { return values_; }
  Array<scalar>& values() { return values_; }

  E entry(Offset i) const {
    HEDDLE_ASSERT(i >= 0 && i < entries());
    E e;
    for (int k = 0; k < E::components; ++k) {
      e.component[k] = values_[static_cast<std::size_t>(i) * E::components + k];
    }
    return e;
  }

  CsrView<E> view() const {
    return {rows_, columns_, OffsetsView(offsets_.data()), column_.data(), values_.data()};
  }
  operator CsrView<E>() const { return view(); }

 private:
  void swap(CsrMatrix& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(columns_, other.columns_);
    std::swap(offsets_, other.offsets_);
    std::swap(column_, other.column_);
    std::swap(values_, other.values_);
  }

  Index rows_ = 0;
  Index columns_ = 0;
  Array<Offset> offsets_;
  Array<Index> column_;
  Array<scalar> values_;
};

}  // namespace heddle
