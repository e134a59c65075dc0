#include "whole_number.hpp"

#include <charconv>
#include <string>

namespace heddle::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const auto check = [least, most, range](std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc() || stop != end || number < least || number > most) {
      return "'" + text + "' is no whole number from " + range;
    }
    text = std::to_string(number);
    return "";
  };
  return {check, most == std::numeric_limits<std::uint64_t>::max() ? "" : range};
}

}  // namespace heddle::cli
