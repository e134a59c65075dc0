// The words of a text and where they stand: what the readers of mesh files are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heddle/error.hpp"

namespace heddle::mesh {

/// Some programs begin a text with it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// True if a word is a keyword, in any letter case.
bool is_keyword(std::string_view word, std::string_view keyword);

/// The first control byte of a text that is neither a blank nor a line end; npos where there is
/// none.
std::size_t find_control_byte(std::string_view text);

/// Walks through a text that must outlive it, behind its byte order mark. Words are parted by
/// blanks and line ends (LF, CR LF or CR); other control bytes are refused outside comments and
/// lines that are skipped. Whatever throws throws `Error` (malformed_file unless said) with
/// "path:line: " in front, followed by the record at hand, "vertex 3 of 8: ".
class TextScanner {
 public:
  /// `comment` begins what reaches to the end of its line; '\0' for none.
  TextScanner(std::string_view path, std::string_view text, char comment = '\0')
      : path_(path),
        text_(text),
        comment_(comment),
        at_(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0) {}

  /// Messages count the lines of `original`, of which the text is a copy of the same size.
  void count_lines_of(std::string_view original) { original_ = original; }

  /// From here on messages name the record `number` of `count`; until then and after
  /// `end_records` they name none.
  void begin_record(const char* what, long long number, long long count) {
    record_ = what;
    number_ = number;
    count_ = count;
  }
  void end_records() { record_ = nullptr; }

  /// What follows holds numbers as bytes: messages name no line any more.
  void set_binary() { is_binary_ = true; }

  /// Looks past blanks, line ends and comments.
  bool at_end();
  /// Looks past nothing.
  bool is_behind_last_byte() const { return at_ == text_.size(); }
  /// Looks past blanks: true in front of a line end, a comment or the end.
  bool at_line_end();
  /// Throws where nothing follows on the line.
  void need_field(const char* what = "a number");
  /// To the end of this line.
  void skip_line();

  std::string_view word();
  long long integer();
  int small_integer();
  /// Also Fortran's exponents. Throws not_finite for NaN, infinity and what is beyond double.
  double real();
  /// Looks past what `at_end` does: true in front of a quotation mark.
  bool is_quoted_text() { return !at_end() && text_[at_] == '"'; }
  /// Text in quotation marks, which may not reach over a line end.
  std::string_view quoted_text();
  /// A number of `what`, each of which takes `least_bytes` or more: refused where the rest of the
  /// text cannot hold as many, so that memory is spent on what a file holds.
  long long count(const char* what, std::size_t least_bytes);
  void check_count(long long count, const char* what, std::size_t least_bytes) const;

  /// To the byte behind the end of this line, on which nothing else may stand.
  void skip_line_end();
  /// The next `size` bytes as they are.
  const char* bytes(std::size_t size);
  /// Behind the next `mark` that a blank or the end follows; false where there is none.
  bool skip_behind(std::string_view mark, bool begins_line);

  /// Where the last word begins, from the start of the text; `seek` takes where a word is to be
  /// looked for.
  std::size_t word_offset() const { return word_; }
  std::size_t offset() const { return at_; }
  void seek(std::size_t offset) { at_ = offset; }
  long long line_of(std::size_t offset) const;

  /// Of the last word, or of what stands at an offset and is told without its record.
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
