#include "readable.hpp"

#include <cstdio>

namespace heddle {

std::string readable_bytes(long long bytes) {
  const char* const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  int i = 0;
  for (; amount >= 1024 && i < 4; ++i) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, i == 0 ? "%.0f %s" : "%.1f %s", amount, unit[i]);
  return text;
}

}  // namespace heddle
