#include "trace_file.hpp"

#include "heddle/tools/output_file.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::heart {

void TraceTable::write(const std::string& path, const Case& given) const {
  OutputFile file(path);
  std::string line = "time";
  for (const auto* const names : {&given.points, &given.electrodes}) {
    for (const auto& [name, point] : *names) line += "," + name;
  }
  file.write(line + "\n");
  for (const Row& row : rows_) {
    line.clear();
    io::append_number(line, row.time);
    for (const double value : row.values) {
      line += ',';
      io::append_number(line, value);
    }
    file.write(line + "\n");
  }
  file.commit();
}

}  // namespace heddle::heart
