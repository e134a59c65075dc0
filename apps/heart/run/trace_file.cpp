#include "trace_file.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::heart {

TraceFile::TraceFile(const std::string& path, const Case& given, std::optional<double> keep_before)
    : file_(path) {
  std::string line = "time";
  for (const auto* const names : {&given.points, &given.electrodes}) {
    for (const auto& [name, point] : *names) line += "," + name;
  }
  file_.write(line + "\n");
  std::error_code error;
  if (keep_before && std::filesystem::is_regular_file(path, error)) {
    take_earlier(path, line, *keep_before);
    file_.reach_disk();  // before it replaces the earlier rows
  }
  file_.appear();
}

void TraceFile::take_earlier(const std::string& path, const std::string& first, double before) {
  std::ifstream earlier(path);
  std::string line;
  if (!std::getline(earlier, line)) return;
  if (line != first) {
    throw Error(ErrorKind::usage,
                "--traces " + path + " has other columns than the resumed run; give another name");
  }
  // A last line without a line end was cut off.
  while (std::getline(earlier, line) && !earlier.eof()) {
    double time = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(line.data(), line.data() + line.size(), time);
    if (!(time < before)) return;
    file_.write(line + "\n");
    goes_on_ = true;
  }
}

void TraceFile::add(double time, std::span<const double> values) {
  // Times are sums of steps: 12 digits give them as one would write them.
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", time);
  std::string line = text;
  for (const double value : values) {
    line += ',';
    io::append_number(line, value);
  }
  file_.write(line + "\n");
}

}  // namespace heddle::heart
