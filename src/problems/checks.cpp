#include "checks.hpp"

#include <cstdio>

namespace heddle::problems {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

void check_size(const std::string& problem, Index size) {
  if (size >= 1 && size <= largest_problem) return;
  throw Error(ErrorKind::usage, problem + " has 1 to " + std::to_string(largest_problem) +
                                    " rows, not " + std::to_string(size));
}

void check_option(const std::string& problem, const std::string& option, double value, double low,
                  double high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorKind::usage, problem + " takes " + option + " from " + number(low) + " to " +
                                    number(high) + ", not " + number(value));
}

void check_memory(const std::string& problem, Index rows, double bytes_per_row) {
  const double needed = rows * bytes_per_row;
  const double available = static_cast<double>(Device::cpu().available_memory());
  if (needed <= available) return;
  throw Error(ErrorKind::memory, problem + " of " + std::to_string(rows) + " rows needs about " +
                                     number(needed / 1e9) + " GB, " + number(available / 1e9) +
                                     " GB are free; choose a smaller size");
}

}  // namespace heddle::problems
