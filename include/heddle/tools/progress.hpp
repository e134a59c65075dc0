// Progress reports of long work.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

/// Passed as a pointer to work that may take long; nullptr is silence.
class HEDDLE_EXPORT Progress {
 public:
  virtual ~Progress() = default;

  /// Reports that `fraction` of the work named `what` is done, from 0 to 1; negative if it is
  /// unknown. Called often, so it must return at once.
  virtual void report(double fraction, std::string_view what) = 0;
};

/// One line on a terminal, redrawn in place and erased at the end. Draws nothing elsewhere.
class HEDDLE_EXPORT TerminalProgress final : public Progress {
 public:
  struct Options {
    int descriptor = 2;                       // standard error
    std::chrono::milliseconds delay{1000};    // duration of work before the first line
    std::chrono::milliseconds interval{100};  // between lines
  };

  TerminalProgress() : TerminalProgress(Options{}) {}
  explicit TerminalProgress(const Options& options);
  ~TerminalProgress() override { erase(); }
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void report(double fraction, std::string_view what) override;

  /// Erases the line, to make room for output; a later report draws it again.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  Options options_;
  bool is_terminal_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace heddle
