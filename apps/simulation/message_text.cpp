#include "message_text.hpp"

#include "heddle/tools/text.hpp"

namespace heddle::simulation {

std::string shortest(double value) {
  std::string text;
  io::append_number(text, value);
  return text;
}

std::string printable(const std::string& word) {
  constexpr std::size_t longest = 60;
  return io::printable(word.size() > longest ? word.substr(0, longest) + "..." : word);
}

}  // namespace heddle::simulation
