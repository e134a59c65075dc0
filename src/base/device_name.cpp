#include "device_name.hpp"

#include <charconv>
#include <string>

#include "base/text/names.hpp"
#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle {

std::optional<int> gpu_named(std::string_view given) {
  const std::string name = lower_case(given);
  if (name == "cpu") return std::nullopt;
  if (name == "cuda") return 0;
  if (name == "auto") return Device::why_no_gpu().empty() ? std::optional(0) : std::nullopt;
  constexpr std::string_view prefix = "cuda:";
  if (name.starts_with(prefix)) {
    const char* begin = name.data() + prefix.size();
    const char* end = name.data() + name.size();
    int ordinal = 0;
    const auto [stop, failed] = std::from_chars(begin, end, ordinal);
    if (failed == std::errc() && stop == end && ordinal >= 0) return ordinal;
  }
  throw Error(ErrorKind::usage, "no device is named '" + std::string(given) +
                                    "'; there are: cpu, cuda, cuda:N, auto");
}

}  // namespace heddle
