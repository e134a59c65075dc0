// Traces in time as a table of comma separated values.
#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"

namespace heddle::heart {

class TraceTable {
 public:
  /// Numbers of the points, then of the electrodes.
  void add(double time, std::vector<double> values) { rows_.push_back({time, std::move(values)}); }
  /// The whole file or none; its first line has `time` and the names of the case.
  void write(const std::string& path, const Case& given) const;

 private:
  struct Row {
    double time;
    std::vector<double> values;
  };
  std::vector<Row> rows_;
};

}  // namespace heddle::heart
