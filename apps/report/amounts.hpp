// Numbers in readable form.
#pragma once

#include <optional>
#include <string>

namespace heddle::report {

/// Three digits in a suitable unit: "5.21 us", "14.4 ms", "1300 s".
std::string readable_seconds(double seconds);
/// "5.21 to 5.40 us", "980 us to 1.02 ms".
std::string readable_span(double from_seconds, double to_seconds);
/// Digits in groups of three: "34 834".
std::string readable_count(long long count);
/// In decimal units, like bandwidths: "324 MB".
std::string readable_bytes(double bytes);
/// "4250 GB/s".
std::string readable_bandwidth(double bytes_a_second);
/// For a share: "91%".
std::string readable_percent(double share);
/// At most three digits, two after the point: "1.95", "13.4", "120".
std::string readable_ratio(double ratio);
/// "3e-16", "0.37", 0 as "0".
std::string readable_error(double error);

/// `format(*value)`, or an empty text if there is no value.
template <class T, class F>
std::string text_or_nothing(const std::optional<T>& value, F&& format) {
  return value ? format(*value) : std::string();
}

}  // namespace heddle::report
