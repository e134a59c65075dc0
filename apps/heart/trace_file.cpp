#include "trace_file.hpp"

#include "heddle/tools/text.hpp"

namespace heddle::heart {

TraceFile::TraceFile(const std::string& path, const Case& given) : file_(path) {
  std::string line = "time";
  for (const auto* const names : {&given.points, &given.electrodes}) {
    for (const auto& [name, point] : *names) line += "," + name;
  }
  file_.write(line + "\n");
  file_.appear();
}

void TraceFile::add(double time, std::span<const double> values) {
  std::string line;
  io::append_number(line, time);
  for (const double value : values) {
    line += ',';
    io::append_number(line, value);
  }
  file_.write(line + "\n");
}

}  // namespace heddle::heart
