#include "markdown_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace heddle::report {

std::string escaped_markdown(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) safe += '\\';
    safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return safe;
}

std::string MarkdownTable::text() const {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    if (std::any_of(lines_.begin(), lines_.end(),
                    [&](const auto& line) { return !line[c].empty(); })) {
      shown.push_back(c);
    }
  }
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::size_t c : shown) {
      line += cells[c].empty() ? " |" : " " + escaped_markdown(cells[c]) + " |";
    }
    return line + "\n";
  };
  std::string text = line_of(titles_) + "|";
  for (std::size_t i = 0; i < shown.size(); ++i) text += i == 0 ? " --- |" : " ---: |";
  text += "\n";
  for (const auto& line : lines_) text += line_of(line);
  return text;
}

}  // namespace heddle::report
