// A contest of plans: the outcome of each, the best so far, and when to end.
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
  /// A tried plan. `score` is the interval of its score's median.
  struct Entrant {
    Trial trial;
    Interval score;
  };

  /// `expected` trials, for the reported progress.
  Contest(Trials& trials, const SearchSpace& space, const TuneOptions& options, int expected);

  /// Takes the first of `plans` that runs as the reference of all others, however long that takes;
  /// returns false where none does, or the search has to end.
  bool begin(const std::vector<Plan>& plans);

  /// Races the plan, unless an equivalent one has been tried. Null where the search has to end.
  const Entrant* attempt(const Plan& plan, const Effort& effort);
  /// Races a measured plan again; the new measurement replaces the old one.
  const Entrant* repeat(const Entrant& entrant, const Effort& effort,
                        double rival = Race::no_rival);

  /// The outcome of the plan, or of an equivalent one; null if not tried.
  const Entrant* tried(const Plan& plan) const;
  /// True if the observer or the time limit has ended the search.
  bool is_over() const { return stopped_ || out_of_time_; }
  /// Number of times that plans were prepared to run.
  int prepared() const { return prepared_; }

  /// The entrant of least score, except after `finish`; null before the first.
  const Entrant* best() const { return best_; }
  /// The same for the natural layout.
  const Entrant* natural() const { return natural_; }
  /// Speedup of the best over the reference, 0.01 for 1%.
  double gain() const;
  /// All measured entrants, best first.
  std::vector<const Entrant*> ranking() const;

  /// Measures the best `max_finalists` again, and the best of the natural layout, since the least
  /// of many noisy times is less than the plan takes; the best of these wins. Where no plan of that
  /// layout was measured, `natural` is, so that a search cut short can report a speed-up. A
  /// favourite wins unless the best is faster by the requested tightness, 1% at most. Takes up to a
  /// quarter more than the time limit; measures nothing if the observer ended it.
  SearchResult finish(std::size_t max_finalists, const Plan& natural,
                      const std::optional<Plan>& favourite = {});

 private:
  double factor_of(double memory_ratio) const;
  double memory_ratio_of(const Plan& plan);
  double rival_of(const Plan& plan, double memory_ratio) const;
  bool goes_on();
  bool tell();
  void take(Entrant& entrant, const Measurement& measurement);
  const Entrant* keep(Entrant&& entrant);
  /// Calls `measure` to time a plan, and keeps the outcome; null where the search has to end.
  const Entrant* enter(
      const Plan& plan,
      const std::function<std::optional<Measurement>(std::unique_ptr<PreparedPlan>)>& measure);

  Trials& trials_;
  const SearchSpace& space_;
  const TuneOptions& options_;
  int expected_;
  Effort effort_;
  double start_;
  double last_call_;  // time of the observer's last call
  std::optional<Race> race_;
  std::map<std::string, Entrant> entrants_;  // by the text of their reduced plan
  std::vector<std::pair<Layout, double>> ratios_;
  const Entrant* reference_ = nullptr;
  const Entrant* best_ = nullptr;
  const Entrant* natural_ = nullptr;
  int prepared_ = 0;
  bool stopped_ = false;  // by the observer
  bool out_of_time_ = false;
  bool finishes_ = false;  // the best are running again
  double finish_until_ = std::numeric_limits<double>::infinity();
};

}  // namespace heddle
