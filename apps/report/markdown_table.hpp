// Tables for documents.
#pragma once

#include <string>
#include <vector>

namespace heddle::report {

/// Escapes text so that Markdown shows it plainly, also within a table.
std::string escaped_markdown(const std::string& text);

/// Cells are texts; columns that are empty in every line are left out. All columns except the first
/// are aligned to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> titles) : titles_(std::move(titles)) {}
  /// One cell per title.
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace heddle::report
