// Every plan of a space (Mueller-Roemer et al. 2020, section 4.3).
#include <algorithm>
#include <limits>
#include <vector>

#include "contest.hpp"
#include "coordinate_search.hpp"
#include "heddle/tune.hpp"

namespace heddle {

SearchResult full_search(Trials& trials, const SearchSpace& space, const Plan& reference,
                         const TuneOptions& options) {
  constexpr std::size_t batch = 32, finalists = 5;
  std::vector<Plan> plans = space.plans();
  // The natural layout first: a search that is cut short can still report a speed-up.
  const auto others = std::stable_partition(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.layout == natural_layout(plan).layout;
  });
  const bool has_natural = others != plans.begin();
  Contest contest(trials, space, options, static_cast<int>(plans.size()) + 1);
  std::vector<Plan> references = {reference, natural_layout(reference)};
  references.insert(references.end(), plans.begin(), plans.end());
  if (!contest.begin(references)) return contest.finish(finalists, natural_layout(reference));

  const Effort effort{options.min_runs, options.max_runs, options.confidence, options.tightness};
  const auto announce = [&](std::size_t from) {
    if (from >= plans.size()) return;
    const std::size_t to = std::min(plans.size(), from + batch);
    trials.announce({plans.begin() + static_cast<std::ptrdiff_t>(from),
                     plans.begin() + static_cast<std::ptrdiff_t>(to)});
  };
  if (!has_natural) {
    CoordinateSearch search(contest, trials, space, effort, options.tightness,
                            std::numeric_limits<int>::max());
    if (const auto* natural = search.attempt(space.reduced(natural_layout(reference)))) {
      search.descend(natural, search.schedule_axes(natural->trial.plan));
    }
  }
  announce(0);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i % batch == 0) announce(i + batch);
    if (contest.attempt(plans[i], effort) == nullptr) break;
  }
  return contest.finish(finalists, natural_layout(reference));
}

}  // namespace heddle
