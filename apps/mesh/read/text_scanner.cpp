#include "text_scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include "heddle/tools/text.hpp"

namespace heddle::mesh {

namespace {

bool is_line_end(char c) { return c == '\n' || c == '\r'; }
/// True for blanks, line ends and control bytes.
bool ends_word(char c) { return static_cast<unsigned char>(c) <= ' '; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_control_byte(char c) { return c == '\x7f' || (ends_word(c) && !is_blank(c)); }

/// Start of the number in a word: from_chars does not accept a plus sign.
const char* after_plus(std::string_view word) {
  const bool has_plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
  return word.begin() + (has_plus ? 1 : 0);
}

}  // namespace

bool is_keyword(std::string_view word, std::string_view keyword) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(word, keyword, {}, lower, lower);
}

std::size_t find_control_byte(std::string_view text) {
  const auto found = std::ranges::find_if(text, is_control_byte);
  return found == text.end() ? text.npos : static_cast<std::size_t>(found - text.begin());
}

bool TextScanner::at_end() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (comment_ != '\0' && text_[at_] == comment_) {
      skip_line();
    } else if (is_control_byte(text_[at_])) {
      fail_control_byte(at_);
    } else {
      return false;
    }
  }
  return true;
}

bool TextScanner::at_line_end() {
  while (at_ < text_.size() && is_blank(text_[at_]) && !is_line_end(text_[at_])) ++at_;
  if (at_ < text_.size() && is_control_byte(text_[at_])) fail_control_byte(at_);
  return at_ == text_.size() || is_line_end(text_[at_]) ||
         (comment_ != '\0' && text_[at_] == comment_);
}

void TextScanner::need_field(const char* what) {
  if (!at_line_end()) return;
  word_ = at_;
  fail(ErrorKind::malformed_file, std::string("the line ends where ") + what + " is needed");
}

void TextScanner::skip_line() { at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()); }

std::string_view TextScanner::word() {
  if (at_end()) {
    word_ = text_.size();
    fail(ErrorKind::malformed_file, "the file ends too early");
  }
  word_ = at_;
  // The first character of a word is neither a blank nor the start of a comment.
  do ++at_;
  while (at_ < text_.size() && !ends_word(text_[at_]) &&
         (comment_ == '\0' || text_[at_] != comment_));
  if (at_ < text_.size() && is_control_byte(text_[at_])) fail_control_byte(at_);
  return text_.substr(word_, at_ - word_);
}

long long TextScanner::integer() {
  const std::string_view text = word();
  const char* const end = text.data() + text.size();
  const char* const digits = after_plus(text);
  long long value = 0;
  const auto [after, error] = std::from_chars(digits, end, value);
  if (error == std::errc::result_out_of_range && after == end) {
    fail(ErrorKind::malformed_file, io::in_quotes(text) + " is too large a number");
  }
  if (error != std::errc() || after != end) {
    fail(ErrorKind::malformed_file, io::in_quotes(text) + " is not a whole number");
  }
  return value;
}

int TextScanner::small_integer() {
  const long long value = integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    fail(ErrorKind::malformed_file, "'" + std::to_string(value) + "' is too large a number");
  }
  return static_cast<int>(value);
}

double TextScanner::real() {
  const std::string_view text = word();
  const char* const end = text.data() + text.size();
  const char* const digits = after_plus(text);
  double value = 0;
  const auto [after, error] = std::from_chars(digits, end, value);
  if ((error != std::errc() || after != end) &&
      io::read_unusual_double(digits, end, value) != end) {
    fail(ErrorKind::malformed_file, io::in_quotes(text) + " is not a number");
  }
  if (!std::isfinite(value)) {
    fail(ErrorKind::not_finite, io::in_quotes(text) + " is not finite");
  }
  return value;
}

std::string_view TextScanner::quoted_text() {
  const bool is_there = !at_end();
  word_ = at_;
  const std::size_t end = is_there ? text_.find_first_of("\"\r\n", at_ + 1) : text_.npos;
  if (end == text_.npos || text_[at_] != '"' || text_[end] != '"') {
    fail(ErrorKind::malformed_file, "a name in quotation marks is needed");
  }
  at_ = end + 1;
  return text_.substr(word_ + 1, end - word_ - 1);
}

long long TextScanner::count(const char* what, std::size_t min_bytes) {
  const long long number = integer();
  check_count(number, what, min_bytes);
  return number;
}

void TextScanner::check_count(long long count, const char* what, std::size_t min_bytes) const {
  const std::string counted = std::to_string(count) + " " + what;
  if (count < 0) {
    fail(ErrorKind::malformed_file, std::to_string(count) + " is not a valid number of " + what);
  }
  const std::size_t left = text_.size() - at_;
  if (static_cast<unsigned long long>(count) > (left + 1) / min_bytes) {
    fail(ErrorKind::malformed_file,
         counted + " do not fit in the " + std::to_string(left) + " bytes that follow");
  }
  constexpr int most = std::numeric_limits<int>::max();
  if (count > most) {
    fail(ErrorKind::malformed_file,
         counted + " are too many; at most " + std::to_string(most) + " are possible");
  }
}

void TextScanner::skip_line_end() {
  while (at_ < text_.size() && text_[at_] != '\n' && is_blank(text_[at_])) ++at_;
  word_ = at_;
  if (at_ == text_.size() || text_[at_] != '\n') {
    fail(ErrorKind::malformed_file, "a line end is needed");
  }
  ++at_;
}

const char* TextScanner::bytes(std::size_t size) {
  word_ = at_;
  if (text_.size() - at_ < size) fail(ErrorKind::malformed_file, "the file ends too early");
  at_ += size;
  return text_.data() + word_;
}

bool TextScanner::skip_past(std::string_view mark, bool begins_line) {
  for (std::size_t found = text_.find(mark, at_); found != text_.npos;
       found = text_.find(mark, found + 1)) {
    if (begins_line && found > 0 && !is_line_end(text_[found - 1])) continue;
    const std::size_t after = found + mark.size();
    if (after < text_.size() && !is_blank(text_[after])) continue;
    at_ = after;
    return true;
  }
  return false;
}

long long TextScanner::line_of(std::size_t offset) const {
  const std::string_view before = original_.substr(0, offset);
  long long line = 1 + std::count(before.begin(), before.end(), '\n');
  for (std::size_t at = before.find('\r'); at != before.npos; at = before.find('\r', at + 1)) {
    const bool is_half = at + 1 < original_.size() && original_[at + 1] == '\n';  // half of a CR LF
    if (!is_half) ++line;
  }
  return line;
}

void TextScanner::fail_control_byte(std::size_t offset) {
  word_ = offset;
  char code[sizeof "0x00"];
  std::snprintf(code, sizeof code, "0x%02x", static_cast<unsigned char>(text_[offset]));
  fail(ErrorKind::malformed_file, std::string("control byte ") + code + " in the text");
}

void TextScanner::fail(ErrorKind kind, const std::string& message) const {
  std::string record;
  if (record_ != nullptr) {
    record = record_;
    record += " " + std::to_string(number_) + " of " + std::to_string(count_) + ": ";
  }
  fail_at(word_, kind, record + message);
}

void TextScanner::fail_at(std::size_t offset, ErrorKind kind, const std::string& message) const {
  const std::string line = is_binary_ ? "" : ":" + std::to_string(line_of(offset));
  throw Error(kind, std::string(path_) + line + ": " + message);
}

}  // namespace heddle::mesh
