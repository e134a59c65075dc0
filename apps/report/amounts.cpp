#include "amounts.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>

namespace heddle::report {

namespace {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Three digits; whole numbers keep all of theirs.
std::string three_digits(double value) {
  if (value < 9.995) return formatted("%.2f", value);
  return formatted(value < 99.95 ? "%.1f" : "%.0f", value);
}

/// In the largest unit in which the value is not below 1; each is a thousand of the one before.
template <std::size_t N>
std::string in_units(double value, const char* const (&units)[N]) {
  std::size_t unit = 0;
  for (; unit + 1 < N && value >= 999.5; ++unit) value /= 1000;
  return three_digits(value) + " " + units[unit];
}

}  // namespace

std::string readable_seconds(double seconds) {
  if (seconds == 0) return "0 s";
  const char* const units[] = {"ns", "us", "ms", "s"};
  return in_units(seconds * 1e9, units);
}

std::string readable_span(double from_seconds, double to_seconds) {
  std::string from = readable_seconds(from_seconds);
  const std::string to = readable_seconds(to_seconds);
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ')); };
  if (unit(from) == unit(to)) from.erase(from.find(' '));
  return from + " to " + to;
}

std::string readable_count(long long count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<long long>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), " ");
  }
  return digits;
}

std::string readable_bytes(double bytes) {
  if (bytes < 999.5) return formatted("%.0f B", bytes);
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  return in_units(bytes, units);
}

std::string readable_bandwidth(double bytes_a_second) {
  const double gigabytes = bytes_a_second / 1e9;
  return three_digits(gigabytes) + " GB/s";
}

std::string readable_percent(double share) { return formatted("%.0f%%", 100 * share); }

std::string readable_ratio(double ratio) { return three_digits(ratio); }

std::string readable_error(double error) {
  if (error == 0) return "0";
  if (error >= 0.01 && error < 100) return formatted("%.2g", error);
  std::string text = formatted("%.0e", error);  // at least two digits of exponent
  const auto sign = text.find('e') + 1;
  if (sign < text.size() && text.size() > sign + 2 && text[sign + 1] == '0')
    text.erase(sign + 1, 1);
  if (sign < text.size() && text[sign] == '+') text.erase(sign, 1);
  return text;
}

}  // namespace heddle::report
