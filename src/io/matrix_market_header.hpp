// The lines of a Matrix Market file up to its sizes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/matrix_market.hpp"

namespace heddle::io {

enum class NumberField { real, integer, complex, pattern };

inline constexpr std::array<std::string_view, 4> symmetry_names = {"general", "symmetric",
                                                                   "skew-symmetric", "hermitian"};

struct Header {
  bool is_array = false;
  NumberField field = NumberField::real;
  Symmetry symmetry = Symmetry::general;
  Offset rows = 0;
  Offset columns = 0;
  Offset entries = 0;   // promised by the size line; of an array, rows * columns
  long long lines = 0;  // up to the size line

  bool is_complex() const { return field == NumberField::complex; }
  /// Numbers on the line of an entry, behind its place.
  int scalars() const { return field == NumberField::pattern ? 0 : is_complex() ? 2 : 1; }
};

/// Takes one line after the other; errors are `Error` without the place, which is `header().lines`.
class HeaderReader {
 public:
  /// True when `line` (without its end) was the size line.
  bool take(std::string_view line);
  [[noreturn]] void end_of_text();
  const Header& header() const { return header_; }

 private:
  Header header_;
};

/// The words of a line.
std::vector<std::string_view> split(std::string_view line);

}  // namespace heddle::io
