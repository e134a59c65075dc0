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
/// Columns of UTF-8 that it takes, each character one.
std::size_t width(std::string_view text);
/// Its first characters and two points, where it is wider than `most`, which is at least 2.
std::string cut(const std::string& text, std::size_t most);
/// At words, lines behind the first begin with `indent` blanks. Ends with a line break.
std::string wrapped(std::string_view text, std::size_t indent);

/// Cells are texts, columns as wide as the widest; a column in which no line has anything is left
/// out. What is wider than a terminal takes from the columns that may be cut.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool left = false;      // aligned; else right
    std::size_t least = 0;  // characters that it may be cut to, 0: never
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  /// A line of its own, across the columns.
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
