// Improves one plan along the axes of a space, one or two of them at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "contest.hpp"

namespace heddle {

class CoordinateSearch {
 public:
  using Found = const Contest::Entrant*;

  /// Prepares no further plan once the contest has prepared `max_prepared`. A plan is better than
  /// another from a relative `min_gain` on: smaller differences lead nowhere.
  CoordinateSearch(Contest& contest, Trials& trials, const SearchSpace& space, const Effort& effort,
                   double min_gain, int max_prepared);

  /// Null where the plan could not be measured, or the search has to end.
  Found attempt(const Plan& plan);
  void announce(const std::vector<Plan>& plans);
  /// Announces the plans that `along` will ask for from each of these.
  void announce_along(const std::vector<Found>& starts, std::size_t axis);
  bool may_go_on() const;

  /// The axis that sets this key; none where no axis does.
  std::optional<std::size_t> axis_of(const std::string& key) const;

  /// The best along one axis. For a quantity: uphill and downhill as long as that helps, in large
  /// steps and then in small ones; for other axes every choice.
  Found along(Found from, std::size_t axis);
  /// Searches along threads x blocks of a multiprocessor, and then along the curve of constant
  /// product, where time changes little (Mueller-Roemer et al. 2020, section 5.4).
  Found along_threads_and_blocks(Found from);
  /// Doubles or halves two quantities together.
  Found along_diagonals(Found from, std::size_t first, std::size_t second);
  /// Every choice of two axes together.
  Found over(Found from, std::size_t first, std::size_t second);
  /// Searches along each of `axes`, given in the order of their effect, again and again until that
  /// no longer helps.
  Found descend(Found from, const std::vector<std::size_t>& axes);
  /// The axes that leave a plan's layout unchanged.
  std::vector<std::size_t> schedule_axes(const Plan& plan) const;

 private:
  Found better(Found a, Found b) const;
  std::vector<std::optional<Plan>> line(const Plan& plan, std::size_t axis) const;
  static std::vector<Plan> around(const std::vector<std::optional<Plan>>& line, std::size_t place,
                                  std::size_t step, std::size_t reach);
  std::vector<Plan> first_of_extents(const Plan& plan, std::size_t threads,
                                     std::size_t blocks) const;
  std::vector<Plan> untried(const std::vector<Plan>& plans) const;
  std::vector<Plan> first_along(const Plan& plan, std::size_t axis) const;
  /// A plan for each number of threads of a multiprocessor, and at the end the one whose number is
  /// left open; threads a block are as near to those of `plan` as that allows.
  std::vector<std::optional<Plan>> line_of_extents(const Plan& plan, std::size_t threads,
                                                   std::size_t blocks) const;
  /// The best of a line of plans in which neighbours take similar times, starting at `place`.
  Found downhill(Found from, const std::vector<std::optional<Plan>>& line, std::size_t place);
  std::optional<std::size_t> place_in(const std::vector<std::optional<Plan>>& line,
                                      const Plan& plan) const;

  Contest& contest_;
  Trials& trials_;
  const SearchSpace& space_;
  Effort effort_;
  double min_gain_;
  int max_prepared_;
  std::vector<Plan> later_;  // announced after those asked for first
};

}  // namespace heddle
