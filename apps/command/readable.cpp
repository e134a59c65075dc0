#include "readable.hpp"

#include <cstdio>

namespace heddle::cli {

std::string readable_count(long long count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<long long>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), " ");
  }
  return digits;
}

namespace {

std::string number(const char* format, double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, format, value, unit);
  return text;
}

}  // namespace

std::string readable_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return number(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

std::string readable_seconds(double seconds) {
  if (seconds < 1e-3) return number("%.1f %s", seconds * 1e6, "us");
  if (seconds < 1) return number("%.2f %s", seconds * 1e3, "ms");
  return number("%.2f %s", seconds, "s");
}

std::string readable_iterations(double seconds, long long iterations) {
  std::string all = readable_seconds(seconds);
  if (iterations == 0) return all;
  const double each = seconds / static_cast<double>(iterations);
  return all + " (" + readable_seconds(each) + " an iteration)";
}

std::string readable_iteration(const SolveProgress& now, const char* what) {
  char text[64];
  std::snprintf(text, sizeof text, "iteration %lld, %s %.1e", now.iteration, what,
                now.relative_residual);
  return text;
}

std::string readable_minutes(double seconds) {
  constexpr double minute = 60;
  return seconds < 2 * minute ? std::to_string(static_cast<int>(seconds)) + " s"
                              : std::to_string(static_cast<int>(seconds / minute)) + " min";
}

}  // namespace heddle::cli
