#include "message_text.hpp"

#include <charconv>

namespace heddle::elastic {

std::string shortest(double value) {
  char text[32];
  const auto [end, failed] = std::to_chars(text, text + sizeof text, value);
  return failed == std::errc() ? std::string(text, end) : std::to_string(value);
}

std::string printable(const std::string& word) {
  constexpr std::size_t longest = 60;
  std::string text = word.size() > longest ? word.substr(0, longest) + "..." : word;
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ' || code == 0x7f) c = '?';
  }
  return text;
}

}  // namespace heddle::elastic
