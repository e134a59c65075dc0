// Traces in time as a table of comma separated values.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "case_file.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

/// Its lines are in the file with each `flush`, whole ones, whatever ends the run.
class TraceFile {
 public:
  /// The first line has `time` and the names of the case. Of a file that is there already, it keeps
  /// the rows of before a time, if one is given. Throws `Error` (usage) where that file has another
  /// first line, and as `OutputFile`.
  TraceFile(const std::string& path, const Case& given, std::optional<double> keep_before = {});
  /// Whether it has kept rows.
  bool goes_on() const { return goes_on_; }
  /// Numbers of the points, then of the electrodes.
  void add(double time, std::span<const double> values);
  void flush() { file_.flush(); }
  void reach_disk() { file_.reach_disk(); }
  /// Throws what became of the file on its way to the disk.
  void finish() { file_.commit(); }

 private:
  void take_earlier(const std::string& path, const std::string& first, double before);

  OutputFile file_;
  bool goes_on_ = false;
};

}  // namespace heddle::heart
