// Traces in time as a table of comma-separated values.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "case_file.hpp"
#include "heddle/tools/output_file.hpp"

namespace heddle::heart {

/// Each `flush` puts whole lines into the file, however the run ends.
class TraceFile {
 public:
  /// The first line has `time` and the names of the case. If the file already exists, keeps its
  /// rows before a given time, if one is given. Throws `Error` (usage) if that file has another
  /// first line, and like `OutputFile`.
  TraceFile(const std::string& path, const Case& given, std::optional<double> keep_before = {});
  /// True if it has kept rows.
  bool goes_on() const { return goes_on_; }
  /// Values at the points, then at the electrodes.
  void add(double time, std::span<const double> values);
  void flush() { file_.flush(); }
  void reach_disk() { file_.reach_disk(); }
  /// Throws the error, if any, that occurred on the way to the disk.
  void finish() { file_.commit(); }

 private:
  void take_earlier(const std::string& path, const std::string& first, double before);

  OutputFile file_;
  bool goes_on_ = false;
};

}  // namespace heddle::heart
