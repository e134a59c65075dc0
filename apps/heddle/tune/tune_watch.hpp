// A running search: its progress, its trials, and its end on request.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "../tune/tune_report.hpp"
#include "options/matrix_options.hpp"

namespace heddle::cli {

class TuneWatch {
 public:
  /// Adds trials and seconds to the report of the same name. `progress` may be null; both outlive
  /// this.
  TuneWatch(std::vector<tuning::MatrixReport>& matrices, Progress* progress);

  /// Sets the observers of `options`, which this must outlive.
  void listen(TuneOptions& options);

  /// Asks the search to end; may be called from any thread.
  void stop() { stopping_ = true; }
  bool is_stopping() const { return stopping_; }

 private:
  void begin(const std::string& name);
  bool go_on(const TuneProgress& now);

  std::vector<tuning::MatrixReport>& matrices_;
  Progress* progress_;
  tuning::MatrixReport* current_ = nullptr;
  Stopwatch since_;  // since its search began
  std::atomic<bool> stopping_{false};
};

}  // namespace heddle::cli
