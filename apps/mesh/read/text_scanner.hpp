// The words of a text and their positions: the basis of the readers of mesh files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heddle/error.hpp"

namespace heddle::mesh {

/// Some programs begin a text with this mark.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// True if a word is a keyword, in any letter case.
bool is_keyword(std::string_view word, std::string_view keyword);

/// The first control byte of a text that is neither a blank nor a line end; npos if there is none.
std::size_t find_control_byte(std::string_view text);

/// Walks through a text, which must outlive it, from after its byte order mark. Words are separated
/// by blanks and line ends (LF, CR LF or CR); other control bytes are refused outside comments and
/// skipped lines. Anything thrown is an `Error` (malformed_file unless stated otherwise) with
/// "path:line: " in front, followed by the current record, as in "vertex 3 of 8: ".
class TextScanner {
 public:
  /// `comment` starts a comment that reaches to the end of its line; '\0' for none.
  TextScanner(std::string_view path, std::string_view text, char comment = '\0')
      : path_(path),
        text_(text),
        comment_(comment),
        at_(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0) {}

  /// Messages count the lines of `original`; the text is a copy of it with the same size.
  void count_lines_of(std::string_view original) { original_ = original; }

  /// From here on messages name the record `number` of `count`; before that and after `end_records`
  /// they name none.
  void begin_record(const char* what, long long number, long long count) {
    record_ = what;
    number_ = number;
    count_ = count;
  }
  void end_records() { record_ = nullptr; }

  /// The rest holds numbers as bytes: messages no longer name a line.
  void set_binary() { is_binary_ = true; }

  /// Skips blanks, line ends and comments first.
  bool at_end();
  /// Skips nothing.
  bool is_after_last_byte() const { return at_ == text_.size(); }
  /// Skips blanks: true in front of a line end, a comment or the end.
  bool at_line_end();
  /// Throws if nothing more is on the line.
  void need_field(const char* what = "a number");
  /// Skips to the end of this line.
  void skip_line();

  std::string_view word();
  long long integer();
  int small_integer();
  /// Accepts Fortran's exponents too. Throws not_finite for NaN, infinity and values beyond double.
  double real();
  /// Skips the same as `at_end`: true in front of a quotation mark.
  bool is_quoted_text() { return !at_end() && text_[at_] == '"'; }
  /// Text in quotation marks, which may not extend past a line end.
  std::string_view quoted_text();
  /// A number of `what`, each of which takes `min_bytes` or more. It is refused if the rest of
  /// the text cannot hold that many, so that no memory is wasted on false counts.
  long long count(const char* what, std::size_t min_bytes);
  void check_count(long long count, const char* what, std::size_t min_bytes) const;

  /// Skips to the byte after the end of this line, which must have nothing else.
  void skip_line_end();
  /// The next `size` bytes as they are.
  const char* bytes(std::size_t size);
  /// Skips past the next `mark` that is followed by a blank or the end; false if there is none.
  bool skip_past(std::string_view mark, bool begins_line);

  /// Start of the last word, counted from the start of the text; `seek` sets the offset where the
  /// search for the next word begins.
  std::size_t word_offset() const { return word_; }
  std::size_t offset() const { return at_; }
  void seek(std::size_t offset) { at_ = offset; }
  long long line_of(std::size_t offset) const;

  /// Refers to the last word, or to an offset, which is reported without its record.
  [[noreturn]] void fail(ErrorKind kind, const std::string& message) const;
  [[noreturn]] void fail_control_byte(std::size_t offset);
  [[noreturn]] void fail_at(std::size_t offset, ErrorKind kind, const std::string& message) const;

 private:
  std::string_view path_, text_;
  std::string_view original_ = text_;
  char comment_;
  std::size_t at_;
  std::size_t word_ = 0;
  bool is_binary_ = false;
  const char* record_ = nullptr;
  long long number_ = 0;
  long long count_ = 0;
};

}  // namespace heddle::mesh
