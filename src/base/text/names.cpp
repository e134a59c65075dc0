#include "names.hpp"

#include <cstddef>

namespace heddle {

namespace {

/// Number of letters to insert, remove, replace, or exchange with a neighbour, each at most once.
std::size_t changes_between(const std::string& a, const std::string& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_exchanged) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

std::string without_hyphens(std::string word) {
  std::erase(word, '-');
  return word;
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // the longest word worth comparing
  if (word.empty() || word.size() > longest) return "";
  const std::string given = lower_case(word), letters = without_hyphens(given);
  std::string nearest;
  std::size_t fewest = 0;
  bool is_only = false;
  for (const std::string& name : names) {
    const std::string known = lower_case(name);
    const bool begins =
        given.size() >= 2 && !letters.empty() && without_hyphens(known).starts_with(letters);
    const std::size_t changes = begins ? 1 : changes_between(given, known);
    if (3 * changes > std::max(given.size(), known.size()) && !begins) continue;
    is_only = nearest.empty() || changes < fewest || (is_only && changes > fewest);
    if (nearest.empty() || changes < fewest) {
      nearest = name;
      fewest = changes;
    }
  }
  return is_only ? nearest : "";
}

}  // namespace heddle
