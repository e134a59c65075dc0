// A search by coordinates from predicted plans; docs/guide/tuning.md describes how and why.
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "contest.hpp"
#include "coordinate_search.hpp"
#include "heddle/tune.hpp"

namespace heddle {

namespace {

using Found = CoordinateSearch::Found;

/// Plans of the papers' space that may be prepared: with the building of layouts, about a twentieth
/// of the time that the whole space takes. A few in spaces that are small themselves.
int max_prepared_of(const SearchSpace& space) {
  const std::size_t one_in = space.device().gpu ? 57 : 33;
  constexpr std::size_t few = 32;
  const SearchSpace papers = SearchSpace::papers(space.subject(), space.device());
  return static_cast<int>(std::max(few, papers.plans().size() / one_in));
}
/// The search ends when plans promise less than this.
constexpr double min_gain_left = 0.03;
/// Number of layouts from which the search may begin again.
constexpr std::size_t last_resorts = 6;

/// The part of `max_prepared` for schedules of the natural layout.
int for_natural_of(int max_prepared) { return max_prepared / 7; }

class PrunedSearch {
 public:
  PrunedSearch(Contest& contest, Trials& trials, const SearchSpace& space,
               const TuneOptions& options, int max_prepared)
      : contest_(contest),
        space_(space),
        // Precise enough to sort candidates by time; the finalists run again.
        screening_{std::min(3, options.min_runs), std::min(9, options.max_runs), options.confidence,
                   3 * options.tightness},
        glance_{std::min(3, options.min_runs), std::min(3, options.max_runs), options.confidence,
                3 * options.tightness},
        layouts_(contest, trials, space, glance_, options.tightness,
                 max_prepared - for_natural_of(max_prepared)),
        search_(contest, trials, space, screening_, options.tightness,
                max_prepared - for_natural_of(max_prepared)),
        last_(contest, trials, space, screening_, options.tightness, max_prepared) {}

  void run(const std::vector<Plan>& starts) {
    search_.announce(starts);
    for (const Plan& start : starts) search_.attempt(start);
    if (contest_.best() == nullptr) return;
    // Tries every outer layout in every inner layout, by a few runs each: the value of one depends
    // on the other.
    const auto outer = layouts_.axis_of("C"), inner = layouts_.axis_of("entry-layout");
    if (outer && inner) layouts_.over(contest_.best(), *outer, *inner);
    // The number of threads that share a row, and of those that run at once, depends on the layout.
    std::vector<Found> beam = best_layouts(3, 1.1);
    look_closer(beam);
    if (const auto T = search_.axis_of("threads-per-row")) search_.announce_along(beam, *T);
    for (Found& found : beam) found = along(found, {"threads-per-row"});
    beam = nearest(beam, 2, 1.04);
    // The number of threads at once on a GPU, and the prefetch distance on a CPU.
    for (Found& found : beam) {
      found = along(search_.along_threads_and_blocks(found), {"prefetch-matrix", "prefetch-x"});
    }
    std::vector<std::size_t> axes(space_.axes().size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    // Axes already examined come last.
    std::stable_partition(axes.begin(), axes.end(), [&](std::size_t axis) {
      return axis != outer && axis != inner && axis != search_.axis_of("threads-per-row");
    });
    search_.descend(contest_.best(), axes);
    // Changes with most effect elsewhere came first: the rest is predicted to gain no more.
    const bool ends = last_.may_go_on() && contest_.gain() < min_gain_left;
    if (ends) gain_left_ = contest_.gain();
    // If the natural layout is the best, its schedules have been examined already.
    const Plan best = contest_.best()->trial.plan;
    if (!ends || best.layout != natural_layout(best).layout) tune_natural_layout();
    if (ends) return;
    // The rest: again from the best of other layouts, if they are near.
    for (const Found found : best_layouts(last_resorts, 1.15)) last_.descend(found, axes);
    last_.descend(contest_.best(), axes);
  }

  /// The gain predicted for the plans left out; none where no plan was left out for that reason.
  const std::optional<double>& gain_left() const { return gain_left_; }

 private:
  /// The best `most` layouts among those tried, none slower than `near` times the best.
  std::vector<Found> best_layouts(std::size_t most, double near) {
    std::vector<Found> kept;
    for (const Found found : contest_.ranking()) {
      const bool is_new = std::none_of(kept.begin(), kept.end(), [&](Found other) {
        return other->trial.plan.layout == found->trial.plan.layout;
      });
      if (is_new) kept.push_back(found);
    }
    return nearest(kept, most, near);
  }

  /// Measures again what a glance found better.
  void look_closer(const std::vector<Found>& found) {
    for (const Found candidate : found) {
      if (search_.may_go_on() && candidate->trial.seconds.runs < screening_.max_runs) {
        contest_.repeat(*candidate, screening_);
      }
    }
  }

  /// The best `most` of these, none slower than `near` times the best.
  static std::vector<Found> nearest(std::vector<Found> found, std::size_t most, double near) {
    std::stable_sort(found.begin(), found.end(),
                     [](Found a, Found b) { return a->trial.score < b->trial.score; });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    found.resize(std::min(found.size(), most));
    while (found.back()->trial.score > near * found.front()->trial.score) found.pop_back();
    return found;
  }

  Found along(Found found, const std::vector<const char*>& keys) {
    for (const char* key : keys) {
      const auto axis = search_.axis_of(key);
      if (axis) found = search_.along(found, *axis);
    }
    return found;
  }

  void tune_natural_layout() {
    std::vector<Plan> plans;
    for (const Found found : contest_.ranking()) plans.push_back(found->trial.plan);
    plans.push_back(space_.base());
    for (const Plan& plan : plans) {
      const Found natural = last_.attempt(space_.reduced(natural_layout(plan)));
      if (natural == nullptr) continue;
      last_.descend(natural, last_.schedule_axes(natural->trial.plan));
      return;
    }
  }

  Contest& contest_;
  const SearchSpace& space_;
  Effort screening_, glance_;
  CoordinateSearch layouts_, search_, last_;
  std::optional<double> gain_left_;
};

}  // namespace

SearchResult pruned_search(Trials& trials, const SearchSpace& space,
                           const std::vector<Plan>& starts, const TuneOptions& options) {
  constexpr std::size_t finalists = 3;
  const int max_prepared = max_prepared_of(space);
  Contest contest(trials, space, options, max_prepared + static_cast<int>(finalists) + 2);
  std::vector<Plan> references = starts;
  const Plan natural = natural_layout(starts.empty() ? space.base() : starts.front());
  references.push_back(natural);
  references.push_back(natural_layout(space.base()));
  for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
    for (std::size_t choice = 0; choice < space.axes()[axis].choices.size(); ++choice) {
      const auto other = space.with(space.base(), axis, static_cast<int>(choice));
      if (other) references.push_back(*other);
    }
  }
  std::optional<double> gain_left;
  if (contest.begin(references)) {
    PrunedSearch search(contest, trials, space, options, max_prepared);
    search.run(starts);
    gain_left = search.gain_left();
    if (gain_left && options.on_early_end) options.on_early_end(*gain_left);
  }
  // The predicted plan suits other matrices as well; one picked by the clock's noise does not.
  const auto predicted = starts.empty() ? std::nullopt : std::optional(starts.front());
  return contest.finish(gain_left ? 1 : finalists, natural, predicted);
}

}  // namespace heddle
