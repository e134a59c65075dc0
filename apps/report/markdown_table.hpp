// Tables of documents.
#pragma once

#include <string>
#include <vector>

namespace heddle::report {

/// Plain in Markdown, also within a table.
std::string escaped_markdown(const std::string& text);

/// Cells are texts; columns in which no line has anything are left out. All but the first are
/// aligned to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  /// As many cells as there are titles.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace heddle::report
