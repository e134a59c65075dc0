// Traces in time as a table of comma separated values.
#pragma once

#include <span>
#include <string>

#include "case_file.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

/// Its lines are in the file as they come, whole ones, whatever ends the run.
class TraceFile {
 public:
  /// The first line has `time` and the names of the case.
  TraceFile(const std::string& path, const Case& given);
  /// Numbers of the points, then of the electrodes.
  void add(double time, std::span<const double> values);

 private:
  OutputFile file_;
};

}  // namespace heddle::heart
