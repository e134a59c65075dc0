// Assembled matrices: compressed sparse rows over compound entries, owned or viewed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/detail/assert.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Row offsets of 32 or 64 bits, read the same way: by the host in its memory, by kernels in a
/// GPU's.
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

/// Throws `Error`: size_mismatch for negative sizes, usage for rows without offsets. Reads no
/// array.
void check_sizes(const PatternView& pattern);

/// Throws `Error` unless offsets grow from 0, columns are in range and no row names a column twice.
/// Columns need not be sorted.
HEDDLE_EXPORT void check_pattern(const PatternView& pattern, const Stream& stream);
/// The same for arrays that may lie in the memory of a GPU, which then does the work.
HEDDLE_EXPORT void check_pattern(const PatternView& pattern, const Device& device);

/// The order of a block's components in the caller's array; other entries have only one order.
enum class ComponentOrder { row_major, column_major };
inline constexpr ComponentOrder row_major = ComponentOrder::row_major;
inline constexpr ComponentOrder column_major = ComponentOrder::column_major;

/// A user's arrays, not owned: E::components scalars per value, in the order of the columns.
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

/// A number of rows or columns; 0 after being moved from.
class HEDDLE_EXPORT OwnSize {
 public:
  OwnSize(Index size = 0) : size_(size) {}
  OwnSize(const OwnSize&) = default;
  OwnSize(OwnSize&& other) noexcept : size_(std::exchange(other.size_, 0)) {}
  OwnSize& operator=(const OwnSize&) = default;
  OwnSize& operator=(OwnSize&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~OwnSize() = default;
  operator Index() const { return size_; }

 private:
  Index size_;
};

/// Throws `Error` (size_mismatch) unless the arrays of a matrix have the lengths that its rows and
/// its last offset imply; otherwise throws like `check_pattern`.
HEDDLE_EXPORT void check_arrays(const PatternView& pattern, std::size_t offsets, std::size_t column,
                                std::size_t values, int components);

/// True if the columns of every row grow; checked by `team` threads.
bool has_sorted_columns(const PatternView& pattern, int team);

/// The arrays of compressed sparse rows, with values of type S; empty after being moved from.
template <class S>
struct HEDDLE_EXPORT CsrArrays {
  OwnSize rows, columns;
  Array<Offset> offsets;
  Array<Index> column;
  Array<S> values;

  PatternView pattern() const { return {rows, columns, offsets.data(), column.data()}; }
  void check(int components) const {
    check_arrays(pattern(), offsets.size(), column.size(), values.size(), components);
  }
};

}  // namespace detail

/// An assembled matrix that owns its arrays; a moved-from one has none.
template <class E>
class HEDDLE_EXPORT CsrMatrix {
  static_assert(check_entry<E>());

 public:
  using scalar = stored_scalar_t<E>;

  CsrMatrix() : arrays_{0, 0, Array<Offset>(1), {}, {}} {}
  /// Takes the arrays: rows + 1 offsets, and a column and E::components scalars per entry. Checks
  /// them as `check_pattern` does.
  CsrMatrix(Index rows, Index columns, Array<Offset> offsets, Array<Index> column,
            Array<scalar> values)
      : CsrMatrix(detail::CsrArrays<scalar>{rows, columns, std::move(offsets), std::move(column),
                                            std::move(values)}) {}
  explicit CsrMatrix(detail::CsrArrays<scalar> arrays) : arrays_(std::move(arrays)) {
    arrays_.check(E::components);
  }

  Index rows() const { return arrays_.rows; }
  Index columns() const { return arrays_.columns; }
  Offset entries() const { return arrays_.pattern().entries(); }

  const Array<Offset>& offsets() const { return arrays_.offsets; }
  const Array<Index>& column() const { return arrays_.column; }
  const Array<scalar>& values() const { return arrays_.values; }
  Array<scalar>& values() { return arrays_.values; }

  E entry(Offset i) const {
    HEDDLE_ASSERT(i >= 0 && i < entries());
    return PackedValues<E>{values().data()}(i, 0);
  }

  CsrView<E> view() const {
    return {rows(), columns(), offsets().data(), column().data(), values().data()};
  }
  operator CsrView<E>() const { return view(); }

 private:
  detail::CsrArrays<scalar> arrays_;
};

}  // namespace heddle
