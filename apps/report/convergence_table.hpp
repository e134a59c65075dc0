// Progress of a solve: a line now and then with the residual, its decrease, and the remaining work.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/report.hpp"

namespace heddle::report {

/// The contents of a table: by default the residual of a system.
struct ConvergenceNames {
  std::string value = "|r| / |b|";
  std::string second;                        // a second number; empty for none
  std::string computed = "|b - A x| / |b|";  // the final value, computed from x
};

/// How a solve ended.
struct ConvergenceEnd {
  Status status = Status::converged;
  std::string_view detail = {};
  long long iterations = 0;
  double seconds = 0;
  double value = 0;                    // computed from x
  double second = 0, last_second = 0;  // computed from x, and by the last iteration
};

/// Rows at iterations 0, 1, 2, 5 and 10, then nine for each factor of ten up to 10 000 and three
/// beyond, and one when the last one is 2 s old, or a fifth of all seconds if that is more. An hour
/// and a million iterations thus make about 50 rows.
class ConvergenceTable {
 public:
  /// Receives whole lines, each with its line break.
  using Write = std::function<void(const std::string&)>;

  /// `tolerance` applies to the value, 0 if there is none.
  ConvergenceTable(double tolerance, Write write, ConvergenceNames names = {});

  /// Begins a solve. The first call writes the headings. `words`, unless empty, become a line.
  void begin(const std::string& words);

  /// Called after an iteration. `history`: the relative residuals so far, starting with that of the
  /// guess, of all runs that have ended (`KrylovSolver::history` during a solve). It grows when a
  /// true residual is computed, which the next row then reports. Returns true if a row was written.
  bool see(const SolveProgress& now, const std::vector<double>& history, double second = 0);

  /// Ends the solve: writes the last iteration, unless it has a row, and a row of the true residual
  /// and the status. `history` is complete now.
  void end(const Report& report, const std::vector<double>& history);
  void end(const ConvergenceEnd& end, const std::vector<double>& history);

  static std::string headings(const ConvergenceNames& names = {});

 private:
  void begin_rows(const std::vector<double>& history, double second);
  void add_row(const SolveProgress& now, double second, const std::string& note);
  /// Empty if there is no second number.
  std::string second_in_words(double second) const;
  std::string take_note();
  /// The last row of that iteration or an earlier one, or null.
  const SolveProgress* row_at_most(long long iteration) const;

  double tolerance_;
  Write write_;
  ConvergenceNames names_;
  bool is_headed_ = false;
  // For this solve:
  std::vector<SolveProgress> rows_;
  long long next_ = 1;        // the iteration at which the next row is due
  std::size_t known_ = 0;     // length of the history
  int fresh_ = 0;             // true residuals since the last row
  long long fresh_from_ = 0;  // the iteration after which the last one was computed
};

}  // namespace heddle::report
