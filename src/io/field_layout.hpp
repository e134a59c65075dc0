// The layout of one or several fields in a table of numbers.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "heddle/entries/entry.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/runtime/any_entry.hpp"

namespace heddle::io {

/// The part of a row of fields that entries act on: its real components and its ring.
struct FieldRow {
  int components;
  Ring ring;
};
FieldRow field_row_of(const AnyEntry& entry);
/// True if files hold fields of such entries as complex numbers.
bool has_complex_fields(const AnyEntry& entry);

/// The places of the numbers of fields in a table.
class FieldLayout {
 public:
  /// Looks for `count` fields of `rows` rows; without it for as many as the columns imply. With K
  /// numbers a row (in a complex table two components each), the table has
  /// - rows x K count: fields side by side;
  /// - K rows x count: each field a column, the numbers of a row one after the other;
  /// - count rows x K or count K rows x 1: fields one after the other, only with `count`;
  /// - over complex numbers any of these with real parts alone, unless it is one field already.
  /// Nothing if the table has none of these shapes. Throws `Error`, without the file's name:
  /// size_mismatch if it has several, unsupported for complex numbers in fields that have none.
  static std::optional<FieldLayout> find(const ScalarField& table, Index rows, const FieldRow& row,
                                         std::optional<int> count);

  int count() const { return count_; }
  bool are_real_parts() const { return are_real_parts_; }
  /// Component c of row `row` of field k.
  double get(const ScalarField& table, int k, Offset row, int c) const;

 private:
  enum class Order { side_by_side, columns, one_after_another, one_column };

  FieldLayout(Order order, Offset rows, int count, const FieldRow& row, bool is_complex,
              bool are_real_parts);
  /// Rows and columns of such a table.
  std::pair<Offset, Offset> shape() const;

  static std::vector<FieldLayout> possible(const ScalarField& table, Index rows,
                                           const FieldRow& row, std::optional<int> count);

  Order order_;
  Offset rows_;
  int count_;
  int parts_;    // real components that a number of the table has or stands for
  int numbers_;  // numbers in a row of a field
  bool are_real_parts_;
};

}  // namespace heddle::io
