// Functions of a potential in a table: a row for each 1/64 mV of 256 mV, linear within a row.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::heart {

inline constexpr int table_rows_of_mV = 64;
inline constexpr int table_rows = 256 * table_rows_of_mV;

/// A table's first potential in mV, and its number of functions, a multiple of 4.
struct TableShape {
  int first;
  int columns;

  constexpr Offset floats() const { return Offset{2} * columns * table_rows; }
  /// True if columns from `begin` to below `end` exist and form groups of four.
  HEDDLE_INLINE constexpr bool has(int begin, int end) const {
    return 0 <= begin && end <= columns && columns % 4 == 0 && begin % 4 == 0 && end % 4 == 0;
  }
};

/// Most tables that a model has.
inline constexpr int max_tables = 2;

/// The tables of a model for steps of dt, in the device's memory. For each four columns, a row has
/// their values where it begins, and the differences from those to the values where it ends. Thus a
/// function may jump from one row to the next.
struct CellTables {
  const float* table[max_tables] = {};  // null: formulas
  double dt = 0;                        // ms
};

/// The functions at x; for x beyond the table or NaN, those at an end of the table. The error of a
/// function f is at most f'' / (8 64^2), plus roundings of floats. Takes columns from `first` to
/// below `end`, in groups of four. `LaneGroup` has its own.
template <TableShape shape, int first, int end>
HEDDLE_INLINE void look_up(const float* table, double x, double (&value)[shape.columns]) {
  static_assert(shape.has(first, end));
  struct alignas(16) Four {
    float of[4];
  };
  double place = (x - shape.first) * table_rows_of_mV;
  place = place > 0 ? place : 0;
  place = place < table_rows ? place : table_rows;
  const int row = place < table_rows ? static_cast<int>(place) : table_rows - 1;
  const double part = place - row;
  const Four* const at = reinterpret_cast<const Four*>(table) + row * (shape.columns / 2);
  for (int c = first; c < end; c += 4) {
    const Four begin = at[c / 2], difference = at[c / 2 + 1];
    for (int k = 0; k < 4; ++k) {
      value[c + k] =
          static_cast<double>(begin.of[k]) + part * static_cast<double>(difference.of[k]);
    }
  }
}

/// Fills a table: `functions(x, middle, value)` yields their values at x, an end of a row.
/// `middle`, the middle of that row, is on the side of x on which the values are needed.
template <TableShape shape, class Functions>
void fill_table(float* table, const Functions& functions) {
  static_assert(shape.has(0, shape.columns));
  for (int row = 0; row < table_rows; ++row) {
    const auto x = [&](double rows) { return shape.first + rows / table_rows_of_mV; };
    double begin[shape.columns] = {}, end[shape.columns] = {};
    functions(x(row), x(row + 0.5), begin);
    functions(x(row + 1), x(row + 0.5), end);
    float* const at = table + Offset{2} * shape.columns * row;
    for (int c = 0; c < shape.columns; ++c) {
      const int place = c / 4 * 8 + c % 4;
      at[place] = static_cast<float>(begin[c]);
      // Relative to the number where the next row begins, as it is stored there, so that rows join.
      at[place + 4] = static_cast<float>(end[c]) - at[place];
    }
  }
}

}  // namespace heddle::heart
