// Traces in time as a table of comma separated values.
#pragma once

#include <span>
#include <string>

#include "case_file.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

/// Its lines are in the file with each `flush`, whole ones, whatever ends the run.
class TraceFile {
 public:
  /// The first line has `time` and the names of the case.
  TraceFile(const std::string& path, const Case& given);
  /// Numbers of the points, then of the electrodes.
  void add(double time, std::span<const double> values);
  void flush() { file_.flush(); }
  /// Throws what became of the file on its way to the disk.
  void finish() { file_.commit(); }

 private:
  OutputFile file_;
};

}  // namespace heddle::heart
