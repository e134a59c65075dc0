#include "message_text.hpp"

#include "heddle/text.hpp"

namespace heddle::elastic {

std::string shortest(double value) {
  std::string text;
  io::append_number(text, value);
  return text;
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
