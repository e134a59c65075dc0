// Text in heddle's form, for programs that read their own files: whole files, numbers, words in
// messages.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "heddle/export.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle::io {

/// The content of a file, inflated if it is compressed with gzip. Throws `Error` (io) with the path
/// in front.
HEDDLE_EXPORT std::string read_file(const std::string& path, Progress* progress = nullptr);

/// Words of a file for messages: in quotation marks, short, without control bytes.
HEDDLE_EXPORT std::string in_quotes(std::string_view words);

/// Text that is safe for a terminal, on one line: "?" replaces control characters, including line
/// ends, marks that change the direction of writing, and bytes that are not UTF-8.
std::string printable(std::string_view text);

/// The shortest decimal that reads back as the same double, or the digits of an integer.
HEDDLE_EXPORT void append_number(std::string& text, double value);
HEDDLE_EXPORT void append_number(std::string& text, long long value);

// Numbers: doubles correctly rounded, and indices.

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Text here always ends in a line end, so no read of `*p` needs a comparison with the end.
inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// Numbers that the standard library does not accept: Fortran's exponents, and numbers beyond the
/// range of double, which become infinite or zero.
HEDDLE_EXPORT const char* read_unusual_double(const char* begin, const char* end, double& value);

/// A decimal number with optional sign, point and exponent (e, E, d or D). Returns the byte after
/// it, or nullptr if there is none. `value` is infinite if the number is too large.
inline const char* read_double(const char* p, const char* end, double& value) {
  const char* number = *p == '+' ? p + 1 : p;
  const char first = *number == '-' && number == p ? number[1] : *number;
  if (!is_digit(first) && first != '.') return nullptr;  // from_chars would take inf and nan
  const auto [after, error] = std::from_chars(number, end, value);
  if (error == std::errc() && (*after | 0x20) != 'd') return after;
  if (error == std::errc::invalid_argument) return nullptr;
  return read_unusual_double(number, end, value);
}

/// Up to ten digits. Returns the byte after them, or nullptr if there are none, or more.
inline const char* read_index(const char* p, long long& value) {
  const char* const begin = p;
  long long v = 0;
  for (; is_digit(*p); ++p) {
    if (p - begin == 10) return nullptr;
    v = v * 10 + (*p - '0');
  }
  value = v;
  return p == begin ? nullptr : p;
}

}  // namespace heddle::io
