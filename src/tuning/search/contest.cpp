#include "contest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "heddle/error.hpp"

namespace heddle {

namespace {

bool is_natural(const Plan& plan) { return plan.layout == natural_layout(plan).layout; }

bool leads(const Contest::Entrant* entrant, const Contest::Entrant* leader) {
  return leader == nullptr || entrant->trial.score < leader->trial.score;
}

/// The number in words; "2.5" for both 2.5 and 2.50.
std::string written(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

}  // namespace

std::string_view name(Trial::Outcome outcome) {
  constexpr std::array<std::string_view, 4> names = {"measured", "too large", "refused", "wrong"};
  return names.at(static_cast<std::size_t>(outcome));
}

Contest::Contest(Trials& trials, const SearchSpace& space, const TuneOptions& options, int expected)
    : trials_(trials),
      space_(space),
      options_(options),
      expected_(expected),
      effort_{options.min_runs, options.max_runs, options.confidence, options.tightness},
      start_(trials.now()),
      last_call_(start_) {}

double Contest::factor_of(double memory_ratio) const {
  return std::pow(memory_ratio, options_.memory_weight);
}

double Contest::memory_ratio_of(const Plan& plan) {
  for (const auto& [layout, ratio] : ratios_) {
    if (layout == plan.layout) return ratio;
  }
  ratios_.emplace_back(plan.layout, trials_.memory_ratio(plan));
  return ratios_.back().second;
}

/// Seconds that a plan has to stay below to be the best; the natural layout's schedules are
/// compared with one another.
double Contest::rival_of(const Plan& plan, double memory_ratio) const {
  const Entrant* rival = is_natural(plan) ? natural_ : best_;
  return rival == nullptr ? Race::no_rival : rival->score.high / factor_of(memory_ratio);
}

bool Contest::tell() {
  last_call_ = trials_.now();
  if (!options_.observer) return true;
  TuneProgress progress;
  progress.tried = static_cast<int>(entrants_.size());
  progress.expected = std::max(expected_, progress.tried);
  progress.seconds = last_call_ - start_;
  const double a_trial = progress.seconds / std::max(1, progress.tried);
  progress.seconds_left = std::max(0.0, std::min(a_trial * (progress.expected - progress.tried),
                                                 options_.seconds_limit - progress.seconds));
  progress.best = best_ == nullptr ? nullptr : &best_->trial;
  return options_.observer(progress);
}

bool Contest::goes_on() {
  constexpr double between_calls = 0.1;  // seconds
  const double now = trials_.now();
  if (!stopped_ && now - last_call_ > between_calls) stopped_ = !tell();
  if (stopped_) return false;
  if (finishes_) return now <= finish_until_;
  // One plan is always measured, whatever the limit.
  out_of_time_ = out_of_time_ || (best_ != nullptr && now - start_ > options_.seconds_limit);
  return !out_of_time_;
}

const Contest::Entrant* Contest::tried(const Plan& plan) const {
  const auto found = entrants_.find(to_string(space_.reduced(plan)));
  return found == entrants_.end() ? nullptr : &found->second;
}

void Contest::take(Entrant& entrant, const Measurement& measurement) {
  const double factor = factor_of(entrant.trial.memory_ratio);
  entrant.trial.seconds = measurement.seconds;
  entrant.trial.score = measurement.seconds.median * factor;
  entrant.score = {measurement.median.low * factor, measurement.median.high * factor};
}

const Contest::Entrant* Contest::keep(Entrant&& entrant) {
  const std::string text = to_string(space_.reduced(entrant.trial.plan));
  const Entrant& kept = entrants_.emplace(text, std::move(entrant)).first->second;
  if (kept.trial.outcome == Trial::Outcome::measured) {
    if (leads(&kept, best_)) best_ = &kept;
    if (is_natural(kept.trial.plan) && leads(&kept, natural_)) natural_ = &kept;
  }
  if (options_.on_trial) options_.on_trial(kept.trial);
  if (!tell()) stopped_ = true;
  return &kept;
}

const Contest::Entrant* Contest::enter(
    const Plan& plan,
    const std::function<std::optional<Measurement>(std::unique_ptr<PreparedPlan>)>& measure) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Entrant entrant{{}, {infinity, infinity}};
  entrant.trial.plan = plan;
  Trial& trial = entrant.trial;
  const auto fails = [&](Trial::Outcome outcome, const std::string& reason) {
    trial.outcome = outcome;
    trial.reason = reason;
    return keep(std::move(entrant));
  };
  try {
    trial.memory_ratio = memory_ratio_of(plan);
    if (trial.memory_ratio > options_.max_memory_ratio) {
      return fails(Trial::Outcome::too_large, "takes " + written(trial.memory_ratio) +
                                                  " times the memory of CSR, more than " +
                                                  written(options_.max_memory_ratio));
    }
    ++prepared_;
    const double begun = trials_.now();
    std::unique_ptr<PreparedPlan> prepared = trials_.prepare(plan);
    const double ready = trials_.now();
    const std::optional<Measurement> measurement = measure(std::move(prepared));
    if (!measurement) return nullptr;
    trial.prepare_seconds = ready - begun;
    trial.measure_seconds = trials_.now() - ready;
    take(entrant, *measurement);
  } catch (const WrongResult& wrong) {
    return fails(Trial::Outcome::wrong, wrong.what());
  } catch (const Error& error) {
    return fails(
        error.kind() == ErrorKind::memory ? Trial::Outcome::too_large : Trial::Outcome::refused,
        error.what());
  }
  return keep(std::move(entrant));
}

bool Contest::begin(const std::vector<Plan>& plans) {
  for (const Plan& plan : plans) {
    if (tried(plan) != nullptr) continue;
    if (!goes_on()) return false;
    const Entrant* entrant = enter(plan, [&](std::unique_ptr<PreparedPlan> prepared) {
      race_.emplace(std::move(prepared), effort_, [this] { return goes_on(); });
      return race_->reference();
    });
    if (entrant == nullptr) return false;
    if (entrant->trial.outcome == Trial::Outcome::measured) {
      reference_ = entrant;
      return !is_over();
    }
    race_.reset();
  }
  return false;
}

const Contest::Entrant* Contest::attempt(const Plan& plan, const Effort& effort) {
  if (const Entrant* known = tried(plan)) return known;
  if (!goes_on()) return nullptr;
  return enter(plan, [&](std::unique_ptr<PreparedPlan> prepared) {
    return race_->run(*prepared, effort, rival_of(plan, memory_ratio_of(plan)));
  });
}

const Contest::Entrant* Contest::repeat(const Entrant& entrant, const Effort& effort,
                                        double rival) {
  if (!goes_on()) return nullptr;
  Entrant& kept = entrants_.at(to_string(space_.reduced(entrant.trial.plan)));
  std::unique_ptr<PreparedPlan> prepared;
  try {
    ++prepared_;
    prepared = trials_.prepare(kept.trial.plan);
  } catch (const Error&) {
    return &kept;  // it ran before: the earlier measurement stays
  }
  const auto measurement =
      race_->run(*prepared, effort, rival / factor_of(kept.trial.memory_ratio));
  if (!measurement) return nullptr;
  take(kept, *measurement);
  best_ = ranking().front();
  return &kept;
}

double Contest::gain() const {
  return reference_ == nullptr ? 0 : reference_->trial.score / best_->trial.score - 1;
}

std::vector<const Contest::Entrant*> Contest::ranking() const {
  std::vector<const Entrant*> measured;
  for (const auto& [text, entrant] : entrants_) {
    if (entrant.trial.outcome == Trial::Outcome::measured) measured.push_back(&entrant);
  }
  std::stable_sort(measured.begin(), measured.end(), [](const Entrant* a, const Entrant* b) {
    return a->trial.score < b->trial.score;
  });
  return measured;
}

SearchResult Contest::finish(std::size_t max_finalists, const Plan& natural,
                             const std::optional<Plan>& favourite) {
  constexpr double near = 1.1;  // times the best score
  const double tie = 1 + std::min(options_.tightness, 0.01);
  if (best_ != nullptr && !stopped_) {
    constexpr double for_last_look = 0.25;
    finishes_ = true;
    finish_until_ = trials_.now() + for_last_look * options_.seconds_limit;
    if (natural_ == nullptr) attempt(space_.reduced(natural), effort_);
    std::vector<const Entrant*> finalists;
    for (const Entrant* entrant : ranking()) {
      const bool has_a_chance = entrant->score.low <= near * best_->trial.score;
      if (finalists.size() < max_finalists && has_a_chance) finalists.push_back(entrant);
    }
    const Entrant* favoured = favourite ? tried(*favourite) : nullptr;
    // The score of an unmeasured plan is infinite.
    if (favoured != nullptr && favoured->score.low > near * best_->trial.score) favoured = nullptr;
    if (favoured != nullptr &&
        std::find(finalists.begin(), finalists.end(), favoured) == finalists.end()) {
      finalists.push_back(favoured);
    }
    if (natural_ != nullptr) {
      // First, since its own time is reported, however slow it is.
      std::erase(finalists, natural_);
      finalists.insert(finalists.begin(), natural_);
    }
    const Entrant* winner = nullptr;
    const Entrant* best_natural = nullptr;
    bool all_ran = true;
    for (const Entrant* entrant : finalists) {
      const double rival = winner == nullptr ? Race::no_rival : winner->score.high;
      all_ran = repeat(*entrant, effort_, rival) != nullptr;
      if (!all_ran) break;
      if (leads(entrant, winner)) winner = entrant;
      if (is_natural(entrant->trial.plan) && leads(entrant, best_natural)) best_natural = entrant;
    }
    // If the finals stopped before all finalists ran, none of them has lost.
    if (all_ran && winner != nullptr) best_ = winner;
    if (best_natural != nullptr) natural_ = best_natural;
    if (all_ran && favoured != nullptr && favoured->trial.score <= tie * best_->trial.score) {
      best_ = favoured;
      if (is_natural(favoured->trial.plan)) natural_ = favoured;
    }
  }
  SearchResult result;
  for (const auto& [text, entrant] : entrants_) {
    result.measured += entrant.trial.outcome == Trial::Outcome::measured;
    result.too_large += entrant.trial.outcome == Trial::Outcome::too_large;
    result.refused += entrant.trial.outcome == Trial::Outcome::refused;
    result.wrong += entrant.trial.outcome == Trial::Outcome::wrong;
  }
  if (best_ != nullptr) result.best = best_->trial;
  if (natural_ != nullptr) result.natural = natural_->trial;
  result.seconds = trials_.now() - start_;
  result.cancelled = is_over();
  return result;
}

}  // namespace heddle
