#include "heddle/tune.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text/names.hpp"
#include "tuned_matrix.hpp"

namespace heddle {

namespace {

constexpr std::array<std::string_view, 3> search_names = {"full", "pruned", "predict"};

/// The domain with the record nearest to the matrix, among those for its entry and objective.
const DomainRecord& domain_for(const Profile& profile, const AnyMatrix& matrix, Objective objective,
                               const PatternFeatures& features) {
  const DomainRecord* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const DomainRecord& domain : profile.domains) {
    if (domain.entry != matrix.entry().name() || domain.precision != name(matrix.precision()) ||
        domain.objective != objective) {
      continue;
    }
    if (nearest == nullptr) nearest = &domain;
    for (const ProfileRecord& record : profile.records) {
      const auto& set = domain.fingerprints;
      if (std::find(set.begin(), set.end(), record.fingerprint) == set.end()) continue;
      const double away = distance(record.features, features);
      if (away >= least) continue;
      least = away;
      nearest = &domain;
    }
  }
  if (nearest != nullptr) return *nearest;
  throw Error(ErrorKind::usage, "the profile has no domain of entry " +
                                    std::string(matrix.entry().name()) + " in " +
                                    std::string(name(matrix.precision())) + " precision for " +
                                    std::string(name(objective)));
}

}  // namespace

std::string_view name(Search search) { return search_names[static_cast<std::size_t>(search)]; }

Search parse_search(std::string_view text) {
  const auto found = std::find_if(search_names.begin(), search_names.end(),
                                  [&](std::string_view name) { return is_same_name(name, text); });
  if (found != search_names.end()) return static_cast<Search>(found - search_names.begin());
  throw Error(ErrorKind::usage,
              "no search is named '" + std::string(text) + "'; there are full, pruned and predict");
}

Profile detail::tune(const NamedMatrix& matrix, const TuningDevice& on,
                     const TuneOptions& options) {
  Profile profile = empty_profile(on);
  TunedMatrix tuned(matrix, on, options);
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  if (auto record = tuned.record(found)) profile.records.push_back(*std::move(record));
  return profile;
}

Profile tune(const NamedMatrix& matrix, const Device& device, const TuneOptions& options) {
  detail::check_tuning(matrix, options);
  return detail::tune(matrix, detail::tuning_device(device), options);
}

Evaluation detail::evaluate(const Profile& profile, const NamedMatrix& matrix,
                            const TuningDevice& on, const TuneOptions& options) {
  TunedMatrix tuned(matrix, on, options);
  const DomainRecord& domain =
      domain_for(profile, *matrix.matrix, options.objective, tuned.features());
  const Plan plan = plan_of_domain(domain.plan, domain.use, tuned.predicted());
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  if (!found.best) {
    throw Error(ErrorKind::usage, "the search was cancelled before it measured a plan");
  }
  Evaluation evaluation;
  evaluation.domain = domain.domain;
  if (plan == found.best->plan) {
    evaluation.plan = evaluation.best = *found.best;
    return evaluation;
  }
  const std::vector<Trial> both = tuned.measure({found.best->plan, plan});
  if (both.size() < 2) {
    throw Error(ErrorKind::usage, "it was cancelled before both plans were measured");
  }
  evaluation.best = both[0];
  evaluation.plan = both[1];
  evaluation.plan.plan = plan;  // not an equivalent plan
  evaluation.loss = evaluation.plan.score / evaluation.best.score - 1;
  return evaluation;
}

Evaluation evaluate(const Profile& profile, const NamedMatrix& matrix, const Device& device,
                    const TuneOptions& options) {
  detail::check_tuning(matrix, options);
  if (options.search == Search::predict) {
    throw Error(ErrorKind::usage, "a plan can only be evaluated against a search that measures");
  }
  return detail::evaluate(profile, matrix, detail::tuning_device(device), options);
}

}  // namespace heddle
