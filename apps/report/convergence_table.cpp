#include "convergence_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "amounts.hpp"

namespace heddle::report {

namespace {

constexpr double longest_wait = 2;         // seconds without a row
constexpr double share_to_wait = 1 / 5.0;  // fraction of all seconds, if that is more

std::string printed(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// One line of aligned columns; the column of `second` is present only if it is not empty.
std::string aligned(const std::string& iteration, const std::string& value,
                    const std::string& second, const std::string& ratio, const std::string& seconds,
                    const std::string& iterations_left, const std::string& seconds_left,
                    const std::string& note) {
  constexpr std::size_t width = 10;
  const std::string padding(second.size() < width ? width - second.size() : 0, ' ');
  const std::string cell = second.empty() ? "" : "  " + padding + second;
  char text[200];
  std::snprintf(text, sizeof text, "%9s  %10s%s  %8s  %8s  %15s  %12s", iteration.c_str(),
                value.c_str(), cell.c_str(), ratio.c_str(), seconds.c_str(),
                iterations_left.c_str(), seconds_left.c_str());
  return note.empty() ? std::string(text) + "\n" : text + ("  " + note) + "\n";
}

/// The next iteration after `iteration` that is due by its number.
long long due_after(long long iteration) {
  for (const long long early : {1, 2, 5, 10}) {
    if (iteration < early) return early;
  }
  constexpr long long many = 10000;
  long long decade = 10;
  while (decade * 10 <= iteration) decade *= 10;
  if (iteration < many) return (iteration / decade + 1) * decade;
  for (const long long multiple : {2, 5}) {
    if (iteration < multiple * decade) return multiple * decade;
  }
  return 10 * decade;
}

std::string seconds_in_words(double seconds) {
  return printed(seconds < 1 ? "%.4f" : seconds < 100 ? "%.3f" : "%.1f", seconds);
}

/// The factor by which an iteration multiplied the residual between two rows. NaN if unknown.
double factor_between(const SolveProgress& before, const SolveProgress& after) {
  const auto iterations = static_cast<double>(after.iteration - before.iteration);
  return std::pow(after.relative_residual / before.relative_residual, 1 / iterations);
}

}  // namespace

ConvergenceTable::ConvergenceTable(double tolerance, Write write, ConvergenceNames names)
    : tolerance_(tolerance), write_(std::move(write)), names_(std::move(names)) {}

std::string ConvergenceTable::headings(const ConvergenceNames& names) {
  return aligned("iteration", names.value, names.second, "over 10", "seconds", "iterations left",
                 "seconds left", "");
}

void ConvergenceTable::begin(const std::string& words) {
  if (!is_headed_) write_(headings(names_));
  is_headed_ = true;
  if (!words.empty()) write_(words + "\n");
  rows_.clear();
  next_ = 1;
  known_ = 0;
  fresh_ = 0;
  fresh_from_ = 0;
}

void ConvergenceTable::begin_rows(const std::vector<double>& history, double second) {
  if (!rows_.empty() || history.empty()) return;
  add_row({0, history.front(), 0}, second, "");
  known_ = 1;
}

bool ConvergenceTable::see(const SolveProgress& now, const std::vector<double>& history,
                           double second) {
  begin_rows(history, second);
  if (history.size() > known_) {
    known_ = history.size();
    fresh_from_ = static_cast<long long>(known_) - 1;
    ++fresh_;
  }
  const SolveProgress last = rows_.empty() ? SolveProgress{} : rows_.back();
  if (!rows_.empty() && now.iteration <= last.iteration) return false;
  const double wait = std::max(longest_wait, share_to_wait * now.seconds);
  if (now.iteration < next_ && now.seconds - last.seconds < wait) return false;
  add_row(now, second, take_note());
  return true;
}

void ConvergenceTable::end(const Report& report, const std::vector<double>& history) {
  end({.status = report.status,
       .detail = report.detail,
       .iterations = report.iterations,
       .seconds = report.iterate_seconds,
       .value = report.residual},
      history);
}

void ConvergenceTable::end(const ConvergenceEnd& end, const std::vector<double>& history) {
  begin_rows(history, end.last_second);
  if (!history.empty() && !rows_.empty() && end.iterations > rows_.back().iteration) {
    add_row({end.iterations, history.back(), end.seconds}, end.last_second, take_note());
  }
  std::string note = std::string(name(end.status)) + "; " + names_.computed + " computed from x";
  if (!end.detail.empty()) note += "; " + std::string(end.detail);
  write_(aligned("end", printed("%.3e", end.value), second_in_words(end.second), "-",
                 seconds_in_words(end.seconds), "-", "-", note));
}

std::string ConvergenceTable::second_in_words(double second) const {
  return names_.second.empty() ? "" : printed("%.3e", second);
}

std::string ConvergenceTable::take_note() {
  const int fresh = std::exchange(fresh_, 0);
  if (fresh == 0) return "";
  const std::string where = std::to_string(fresh_from_);
  if (fresh == 1) return "from b - A x at " + where;
  return std::to_string(fresh) + " times from b - A x, last at " + where;
}

const SolveProgress* ConvergenceTable::row_at_most(long long iteration) const {
  const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const SolveProgress& row) {
    return row.iteration <= iteration;
  });
  return found == rows_.rend() ? nullptr : &*found;
}

void ConvergenceTable::add_row(const SolveProgress& now, double second, const std::string& note) {
  std::string ratio = "-", iterations_left = "-", seconds_left = "-";
  // Residuals of most methods jump: the ratio is over ten iterations at least, and the remaining
  // ones are estimated from the last half of the iterations.
  if (const SolveProgress* const before = row_at_most(now.iteration - 10)) {
    const double factor = std::pow(factor_between(*before, now), 10);
    if (std::isfinite(factor)) ratio = printed("%.3g", factor);
    const SolveProgress& base = *row_at_most(std::min(now.iteration / 2, before->iteration));
    const double left =
        now.relative_residual <= tolerance_
            ? 0
            : std::log(tolerance_ / now.relative_residual) / std::log(factor_between(base, now));
    constexpr double too_many = 1e12;
    if (left >= 0 && left < too_many) {
      const double seconds_each =
          (now.seconds - base.seconds) / static_cast<double>(now.iteration - base.iteration);
      iterations_left = readable_count(std::llround(std::ceil(left)));
      seconds_left = seconds_in_words(left * seconds_each);
    }
  }
  write_(aligned(std::to_string(now.iteration), printed("%.3e", now.relative_residual),
                 second_in_words(second), ratio, seconds_in_words(now.seconds), iterations_left,
                 seconds_left, note));
  rows_.push_back(now);
  next_ = due_after(now.iteration);
}

}  // namespace heddle::report
