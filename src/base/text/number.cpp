#include "heddle/tools/text.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace heddle::io {

namespace {

/// Distinguishes overflow from underflow, which the standard library reports the same way, by the
/// power of ten of the first digit that is not zero.
bool is_large(const std::string& number) {
  const std::size_t e = std::min(number.find('e'), number.size());
  long long power = 0;
  for (const char c : number.substr(e)) {
    if (is_digit(c) && power < 1000000000000) power = power * 10 + (c - '0');
  }
  if (e < number.size() && number[e + 1] == '-') power = -power;
  const std::size_t point = std::min(number.find('.'), e);
  const std::size_t lead = number.find_first_not_of("-0.");
  return static_cast<long long>(point) - static_cast<long long>(lead) + power > 0;
}

}  // namespace

const char* read_unusual_double(const char* begin, const char* end, double& value) {
  const char* after = begin;
  while (after != end && !is_blank(*after) && *after != '\n') ++after;
  std::string number(begin, after);
  for (char& c : number) {
    if (c == 'd' || c == 'D' || c == 'E') c = 'e';
  }
  const auto [last, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    value = is_large(number) ? std::numeric_limits<double>::infinity() : 0.0;
    if (number[0] == '-') value = -value;
  }
  return begin + (last - number.data());
}

}  // namespace heddle::io
