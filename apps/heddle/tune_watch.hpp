// A search as it goes: how far it is, its trials, and its end when it is asked for.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "../tune/tune_report.hpp"
#include "matrix_options.hpp"

namespace heddle::cli {

class TuneWatch {
 public:
  /// Trials and seconds are added to the report of the same name. `progress` may be null; both
  /// outlive this.
  TuneWatch(std::vector<tuning::MatrixReport>& matrices, Progress* progress);

  /// Takes the observers of `options`, which this must outlive.
  void listen(TuneOptions& options);

  /// From any thread: the search shall end.
  void stop() { stopping_ = true; }
  bool is_stopping() const { return stopping_; }

 private:
  void begin(const std::string& name);
  bool go_on(const TuneProgress& now);

  std::vector<tuning::MatrixReport>& matrices_;
  Progress* progress_;
  tuning::MatrixReport* current_ = nullptr;
  Stopwatch since_;  // its search began
  std::atomic<bool> stopping_{false};
};

}  // namespace heddle::cli
