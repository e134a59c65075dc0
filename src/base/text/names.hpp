// Names as users write them: in any letter case, and nearly right.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Handles ASCII alone, as all names are.
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return lower_case(c); });
  return lower;
}

/// True if the names are equal except for the case of letters.
constexpr bool is_same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

/// The name that a mistyped word stands for: one that begins with it, or that differs from it in
/// few letters. Empty if none or several are equally near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace heddle
