// Plans against one another: what became of each, which is the best so far, and when to end.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tune.hpp"
#include "heddle/tuning/search_space.hpp"
#include "heddle/tuning/trials.hpp"
#include "race.hpp"

namespace heddle {

class Contest {
 public:
  /// A plan that was tried. `score` is the interval of its score's median.
  struct Entrant {
    Trial trial;
    Interval score;
  };

  /// `expected` trials, for the progress that is told.
  Contest(Trials& trials, const SearchSpace& space, const TuneOptions& options, int expected);

  /// Takes the first of `plans` that runs as the reference of all others, however long that takes;
  /// false where none does, or the search has to end.
  bool begin(const std::vector<Plan>& plans);

  /// Races the plan, unless one that runs alike has been tried. Null where the search has to end.
  const Entrant* attempt(const Plan& plan, const Effort& effort);
  /// Races a measured plan again; the new measurement takes the place of the old one.
  const Entrant* repeat(const Entrant& entrant, const Effort& effort,
                        double rival = Race::no_rival);

  /// What became of the plan, or of one that runs alike; null before.
  const Entrant* tried(const Plan& plan) const;
  /// Whether the observer or the time limit has ended the search.
  bool is_over() const { return stopped_ || out_of_time_; }
  /// Plans that were prepared to run, each time that they were.
  int prepared() const { return prepared_; }

  /// Of the least score, but for `finish`; null before the first.
  const Entrant* best() const { return best_; }
  /// The same of the natural layout.
  const Entrant* natural() const { return natural_; }
  /// How much faster the best is than the reference, 0.01 for 1%.
  double gain() const;
  /// What was measured, best first.
  std::vector<const Entrant*> ranking() const;

  /// Measures so many of the best again, and the best of the natural layout, since the least of
  /// many noisy times is less than the plan takes; the best of these wins. Where nothing of that
  /// layout was measured, `natural` is, so that a search that was cut short can tell a speed-up.
  /// A favourite wins where the best is not faster by the tightness that was asked for, 1% at most.
  /// For a quarter of the time limit beyond it; not after the observer ended the search.
  SearchResult finish(std::size_t most_finalists, const Plan& natural,
                      const std::optional<Plan>& favourite = {});

 private:
  double factor_of(double memory_ratio) const;
  double memory_ratio_of(const Plan& plan);
  double rival_of(const Plan& plan, double memory_ratio) const;
  bool goes_on();
  bool tell();
  void take(Entrant& entrant, const Measurement& measurement);
  const Entrant* keep(Entrant&& entrant);
  /// Has `measure` take the time of a plan, and keeps what became of it; null where the search has
  /// to end.
  const Entrant* enter(
      const Plan& plan,
      const std::function<std::optional<Measurement>(std::unique_ptr<PreparedPlan>)>& measure);

  Trials& trials_;
  const SearchSpace& space_;
  const TuneOptions& options_;
  int expected_;
  Effort effort_;
  double start_;
  double told_;  // when the observer last was
  std::optional<Race> race_;
  std::map<std::string, Entrant> entrants_;  // by the text of what they reduce to
  std::vector<std::pair<Layout, double>> ratios_;
  const Entrant* reference_ = nullptr;
  const Entrant* best_ = nullptr;
  const Entrant* natural_ = nullptr;
  int prepared_ = 0;
  bool stopped_ = false;  // by the observer
  bool out_of_time_ = false;
  bool finishes_ = false;  // the best run again
  double finish_until_ = std::numeric_limits<double>::infinity();
};

}  // namespace heddle
