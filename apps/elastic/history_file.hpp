// The history of a run, step by step, as a table.
#pragma once

#include <string>

#include "heddle/tools/output_file.hpp"
#include "run_case.hpp"

namespace heddle::elastic {

/// CSV: step, time, iterations, residual, energies. Whole lines are in the file as soon as they are
/// added, however the run ends.
class HistoryFile {
 public:
  explicit HistoryFile(const std::string& path);
  void add(const StepRecord& step);
  /// Throws the error, if any, that occurred on the way to the disk.
  void finish() { file_.commit(); }

 private:
  OutputFile file_;
};

}  // namespace heddle::elastic
