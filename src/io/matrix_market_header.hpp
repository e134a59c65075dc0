// The lines of a Matrix Market file up to its sizes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/matrix_market.hpp"

namespace heddle::io {

enum class NumberField { real, integer, complex, pattern, unsigned_integer };

inline constexpr std::array<std::string_view, 4> symmetry_names = {"general", "symmetric",
                                                                   "skew-symmetric", "hermitian"};

struct Header {
  bool is_array = false;
  NumberField field = NumberField::real;
  Symmetry symmetry = Symmetry::general;
  Offset rows = 0;
  Offset columns = 0;
  Offset entries = 0;   // promised by the size line; for an array, the numbers stored
  long long lines = 0;  // up to the size line
  // Size of an entry, from a line '%heddle tiles R x C'.
  int tile_rows = 1, tile_columns = 1;

  bool holds_integers() const {
    return field == NumberField::integer || field == NumberField::unsigned_integer;
  }
  bool is_complex() const { return field == NumberField::complex; }
  /// Numbers on the line of an entry, after its place.
  int scalars() const { return field == NumberField::pattern ? 0 : is_complex() ? 2 : 1; }
};

/// Takes one line after the other; an `Error` omits the place, which is `header().lines`.
class HeaderReader {
 public:
  /// True when `line` (without its end) was the size line.
  bool take(std::string_view line);
  [[noreturn]] void end_of_text();
  const Header& header() const { return header_; }

 private:
  Header header_;
};

/// The places of an array's numbers, in the order of the file: column after column; for symmetric
/// arrays from the diagonal down, for skew-symmetric ones from below it.
class ArrayWalk {
 public:
  explicit ArrayWalk(const Header& header) : rows_(header.rows), symmetry_(header.symmetry) {
    row_ = first_row();
  }
  Offset row() const { return row_; }
  Offset column() const { return column_; }
  void next() {
    if (++row_ < rows_) return;
    ++column_;
    row_ = first_row();
  }

 private:
  Offset first_row() const {
    if (symmetry_ == Symmetry::general) return 0;
    return symmetry_ == Symmetry::skew_symmetric ? column_ + 1 : column_;
  }

  Offset rows_;
  Symmetry symmetry_;
  Offset row_ = 0, column_ = 0;
};

/// The words before the size of a tile in Matrix Market files of entries: the numbers of an entry.
inline constexpr std::string_view tiles_tag = "%heddle tiles ";

/// The words of a line.
std::vector<std::string_view> split(std::string_view line);

}  // namespace heddle::io
