// The course of a run, step by step, as a table.
#pragma once

#include <string>

#include "heddle/tools/output_file.hpp"
#include "run_case.hpp"

namespace heddle::elastic {

/// As CSV: step, time, iterations, residual, energies. Its lines are in the file as they come,
/// whole ones, whatever ends the run.
class HistoryFile {
 public:
  explicit HistoryFile(const std::string& path);
  void add(const StepRecord& step);
  /// Throws what became of the file on its way to the disk.
  void finish() { file_.commit(); }

 private:
  OutputFile file_;
};

}  // namespace heddle::elastic
