#include "text_table.hpp"

#include <algorithm>

namespace heddle::report {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string cut(const std::string& text, std::size_t most) {
  if (width(text) <= most) return text;
  std::size_t end = 0, characters = 0;
  for (; end < text.size(); ++end) {
    if (!continues(text[end]) && characters++ == most - 2) break;
  }
  return text.substr(0, end) + "..";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  const std::string shown = printable(text);
  std::string lines;
  std::size_t column = 0;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t blank = std::min(shown.find(' ', at + 1), shown.size());
    std::string word = shown.substr(at, blank - at);
    at = blank;
    if (column > indent && column + width(word) > terminal_width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      word.erase(0, word.find_first_not_of(' ') == std::string::npos ? word.size()
                                                                     : word.find_first_not_of(' '));
    }
    lines += word;
    column += width(word);
  }
  return lines + "\n";
}

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> shown, widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    bool any = false;
    for (const auto& line : lines_) {
      if (is_heading(line)) continue;
      any = any || !line[c].empty();
      widths[c] = std::max(widths[c], width(line[c]));
    }
    if (!any) continue;
    shown.push_back(c);
    widths[c] = std::max({widths[c], width(columns_[c].title), std::size_t{1}});
  }
  const auto total = [&](std::size_t gap) {
    std::size_t sum = 0;
    for (const std::size_t c : shown) sum += widths[c] + gap;
    return sum - std::min(sum, gap);
  };
  const std::size_t gap = total(2) <= terminal_width ? 2 : 1;
  while (total(gap) > terminal_width) {
    std::size_t* widest = nullptr;
    for (const std::size_t c : shown) {
      if (columns_[c].least == 0 || widths[c] <= columns_[c].least) continue;
      if (!widest || widths[c] > *widest) widest = &widths[c];
    }
    if (!widest) break;
    --*widest;
  }
  const auto print_line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t c : shown) {
      if (c != shown.front()) text += std::string(gap, ' ');
      const std::string cell = cut(printable(cell_of(c)), widths[c]);
      const std::string blanks(widths[c] - width(cell), ' ');
      text += columns_[c].left ? cell + blanks : blanks + cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << "\n";
  };
  print_line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& line : lines_) {
    if (is_heading(line)) {
      out << cut(printable(line[0]), terminal_width) << "\n";
    } else {
      print_line([&](std::size_t c) { return line[c]; });
    }
  }
}

}  // namespace heddle::report
