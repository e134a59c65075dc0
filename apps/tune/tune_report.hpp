// The results of a run of `heddle tune`, as data: the table, the page and the file of trials are
// made from it alone.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "box_plot.hpp"
#include "heddle/tune.hpp"

namespace heddle::tuning {

/// Size of a product's matrix in one layout (Mueller-Roemer et al. 2020, table 9).
struct LayoutSize {
  std::string layout;
  double bytes = 0;
  double of_csr = 1;
};

struct MatrixReport {
  std::string name;
  PatternFeatures features;
  report::FiveNumbers row_lengths;     // entries
  report::FiveNumbers row_bandwidths;  // see `row_bandwidths`
  std::vector<LayoutSize> layouts;
  std::vector<Trial> trials;            // in the order in which they ended
  std::optional<ProfileRecord> record;  // none where no plan was found
  double seconds = 0;                   // duration of the search
  std::optional<double> gain_left;      // predicted where it ended early, 0.01 for 1%

  int count(Trial::Outcome outcome) const;
  /// Searches begin with the predicted plan; null where that was not measured.
  const Trial* predicted() const {
    const bool is_there = !trials.empty() && trials.front().outcome == Trial::Outcome::measured;
    return is_there ? &trials.front() : nullptr;
  }
  /// The measured trial of least score among those that fit, the first of equals; null without.
  template <class F>
  const Trial* best_of(F&& fits) const {
    const Trial* best = nullptr;
    for (const Trial& trial : trials) {
      if (trial.outcome != Trial::Outcome::measured || !fits(trial.plan)) continue;
      if (best == nullptr || trial.score < best->score) best = &trial;
    }
    return best;
  }
};

struct TuneReport {
  std::string date;     // 2026-11-21T18:40:12Z
  std::string version;  // Heddle's version
  std::string commit;
  std::string command;
  std::string device;  // in words
  bool gpu = false;
  std::string entry;
  std::string precision;  // single, double
  Search search = Search::pruned;
  Objective objective;
  double max_memory_ratio = 2;
  double memory_weight = 0;
  double confidence = 0.95;
  double tightness = 0.01;
  double seconds_limit = std::numeric_limits<double>::infinity();  // for each search
  std::vector<MatrixReport> matrices;
  std::optional<DomainRecord> domain;
  bool cancelled = false;
};

/// "product", "cg iteration", ...
std::string timed_work(Objective objective);

/// Describes the matrix: everything but the trials.
MatrixReport describe(const NamedMatrix& matrix, const Device& device);

/// Entries of each row.
report::FiveNumbers row_lengths(const PatternView& pattern);
/// Largest less smallest column of each row that has entries, over the number of columns
/// (Mueller-Roemer et al. 2020, equation 3 and figure 4).
report::FiveNumbers row_bandwidths(const PatternView& pattern);

}  // namespace heddle::tuning
