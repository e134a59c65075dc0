// Aligned columns on a terminal.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/tools/text.hpp"

namespace heddle::report {

inline constexpr std::size_t terminal_width = 120;

using io::printable;
/// Number of columns that UTF-8 text takes, one for each character.
std::size_t width(std::string_view text);
/// The text, or its first characters and two dots if it is wider than `most`, which is at least 2.
std::string cut(const std::string& text, std::size_t most);
/// Wraps at words; lines after the first begin with `indent` blanks. Ends with a line break.
std::string wrapped(std::string_view text, std::size_t indent);

/// Cells are texts, columns as wide as their widest cell; columns that are empty in every line are
/// left out. If the table is wider than a terminal, the columns that may be cut are shortened.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool left = false;      // aligned left; else right
    std::size_t least = 0;  // characters that it may be cut to; 0: never cut
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  /// A separate line across the columns.
  void add_heading(const std::string& text) { lines_.push_back({text}); }

  void print(std::ostream& out) const;

 private:
  bool is_heading(const std::vector<std::string>& line) const {
    return line.size() == 1 && columns_.size() > 1;
  }

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace heddle::report
