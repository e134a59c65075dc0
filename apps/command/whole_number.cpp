#include "whole_number.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace heddle::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string range = std::to_string(least) + " to " + std::to_string(most);
  const auto check = [least, most, range](std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc() || stop != end || number < least || number > most) {
      return "'" + text + "' is not a whole number from " + range;
    }
    text = std::to_string(number);
    return "";
  };
  return {check, most == std::numeric_limits<std::uint64_t>::max() ? "" : range};
}

CLI::Validator positive_number(bool or_zero) {
  const std::string range = or_zero ? "0 or more" : "above 0";
  const auto check = [or_zero, range](const std::string& text) -> std::string {
    double number = 0;
    const bool is_number = CLI::detail::lexical_cast(text, number) && std::isfinite(number);
    if (is_number && (number > 0 || (or_zero && number == 0))) return "";
    return "'" + text + "' is not a number " + (or_zero ? "of at least 0" : range);
  };
  return {check, range};
}

}  // namespace heddle::cli
