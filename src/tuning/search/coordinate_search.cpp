#include "coordinate_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

namespace heddle {

namespace {

/// The choice with twice the quantity, or with half of it, where there is one.
std::optional<int> doubled(const Axis& axis, std::size_t choice, bool up) {
  const auto value_of = [](const std::string& setting) {
    return std::stoll(setting.substr(setting.find('=') + 1));
  };
  const long long value = value_of(axis.choices[choice]);
  for (std::size_t i = 0; i < axis.choices.size(); ++i) {
    const long long other = value_of(axis.choices[i]);
    if (up ? other == 2 * value : 2 * other == value) return static_cast<int>(i);
  }
  return {};
}

}  // namespace

CoordinateSearch::CoordinateSearch(Contest& contest, Trials& trials, const SearchSpace& space,
                                   const Effort& effort, double min_gain, int max_prepared)
    : contest_(contest),
      trials_(trials),
      space_(space),
      effort_(effort),
      min_gain_(min_gain),
      max_prepared_(max_prepared) {}

bool CoordinateSearch::may_go_on() const {
  return !contest_.is_over() && contest_.prepared() < max_prepared_;
}

CoordinateSearch::Found CoordinateSearch::attempt(const Plan& plan) {
  if (contest_.tried(plan) == nullptr && !may_go_on()) return nullptr;
  const Found found = contest_.attempt(plan, effort_);
  const bool is_measured = found != nullptr && found->trial.outcome == Trial::Outcome::measured;
  return is_measured ? found : nullptr;
}

std::vector<Plan> CoordinateSearch::untried(const std::vector<Plan>& plans) const {
  std::vector<Plan> fresh;
  for (const Plan& plan : plans) {
    if (contest_.tried(plan) == nullptr) fresh.push_back(plan);
  }
  return fresh;
}

void CoordinateSearch::announce(const std::vector<Plan>& plans) {
  if (!may_go_on()) return;
  const std::vector<Plan> soon = untried(plans);
  if (!soon.empty()) trials_.announce(soon);
  trials_.announce_later(untried(later_));
}

void CoordinateSearch::announce_along(const std::vector<Found>& starts, std::size_t axis) {
  std::vector<Plan> all;
  for (const Found start : starts) {
    const std::vector<Plan> plans = first_along(start->trial.plan, axis);
    all.insert(all.end(), plans.begin(), plans.end());
  }
  announce(all);
}

CoordinateSearch::Found CoordinateSearch::better(Found a, Found b) const {
  if (a == nullptr) return b;
  return b != nullptr && b->trial.score < (1 - min_gain_) * a->trial.score ? b : a;
}

std::optional<std::size_t> CoordinateSearch::axis_of(const std::string& key) const {
  const std::string sets = key + "=";
  for (std::size_t axis = 0; axis < space_.axes().size(); ++axis) {
    const std::vector<std::string>& choices = space_.axes()[axis].choices;
    if (choices.empty()) continue;
    if (choices[0].starts_with(sets) || choices[0].find("," + sets) != std::string::npos) {
      return axis;
    }
  }
  return {};
}

std::vector<std::optional<Plan>> CoordinateSearch::line(const Plan& plan, std::size_t axis) const {
  std::vector<std::optional<Plan>> plans;
  plans.reserve(space_.axes()[axis].choices.size());
  for (std::size_t choice = 0; choice < space_.axes()[axis].choices.size(); ++choice) {
    plans.push_back(space_.with(plan, axis, static_cast<int>(choice)));
  }
  return plans;
}

std::optional<std::size_t> CoordinateSearch::place_in(const std::vector<std::optional<Plan>>& line,
                                                      const Plan& plan) const {
  const Plan reduced = space_.reduced(plan);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] && *line[i] == reduced) return i;
  }
  return {};
}

/// At most `reach` plans on each side of a place, the nearest first.
std::vector<Plan> CoordinateSearch::around(const std::vector<std::optional<Plan>>& line,
                                           std::size_t place, std::size_t step, std::size_t reach) {
  std::vector<Plan> plans;
  for (std::size_t off = step; off <= reach * step; off += step) {
    if (place + off < line.size() && line[place + off]) plans.push_back(*line[place + off]);
    if (off <= place && line[place - off]) plans.push_back(*line[place - off]);
  }
  return plans;
}

/// The plans that `along` will ask for first.
std::vector<Plan> CoordinateSearch::first_along(const Plan& plan, std::size_t axis) const {
  const std::vector<std::optional<Plan>> plans = line(plan, axis);
  const std::optional<std::size_t> place = place_in(plans, plan);
  if (space_.axes()[axis].ordered && place) return around(plans, *place, 1, 2);
  std::vector<Plan> others;
  for (const std::optional<Plan>& other : plans) {
    if (other) others.push_back(*other);
  }
  return others;
}

CoordinateSearch::Found CoordinateSearch::downhill(Found from,
                                                   const std::vector<std::optional<Plan>>& line,
                                                   std::size_t place) {
  constexpr std::size_t long_line = 6;
  auto at = static_cast<std::ptrdiff_t>(place);
  const auto end = static_cast<std::ptrdiff_t>(line.size());
  for (const std::ptrdiff_t step : {line.size() > long_line ? 2 : 1, 1}) {
    announce(around(line, static_cast<std::size_t>(at), static_cast<std::size_t>(step), 3));
    for (const std::ptrdiff_t direction : {step, -step}) {
      const std::ptrdiff_t begin = at;
      for (std::ptrdiff_t to = at + direction; to >= 0 && to < end; to += direction) {
        if (!line[static_cast<std::size_t>(to)]) continue;
        const Found found = attempt(*line[static_cast<std::size_t>(to)]);
        if (better(from, found) != found) break;
        from = found;
        at = to;
      }
      if (at != begin) break;
    }
    if (line.size() <= long_line) break;
  }
  return from;
}

CoordinateSearch::Found CoordinateSearch::along(Found from, std::size_t axis) {
  const std::vector<std::optional<Plan>> plans = line(from->trial.plan, axis);
  const std::optional<std::size_t> place = place_in(plans, from->trial.plan);
  if (space_.axes()[axis].ordered && place) return downhill(from, plans, *place);
  const std::vector<Plan> others = first_along(from->trial.plan, axis);
  announce(others);
  for (const Plan& plan : others) from = better(from, attempt(plan));
  return from;
}

std::vector<std::optional<Plan>> CoordinateSearch::line_of_extents(const Plan& plan,
                                                                   std::size_t threads,
                                                                   std::size_t blocks) const {
  const auto off = [&](const Plan& other) {
    return std::abs(std::log(static_cast<double>(other.gpu.block_size) / plan.gpu.block_size));
  };
  std::map<int, Plan> by_extent;
  for (const std::optional<Plan>& with_threads : line(plan, threads)) {
    // Other numbers of threads may be incompatible with that many blocks.
    Plan open = with_threads.value_or(plan);
    open.gpu.blocks = 0;
    for (const std::optional<Plan>& other : line(open, blocks)) {
      if (!other) continue;
      const int extent = other->gpu.blocks == 0 ? std::numeric_limits<int>::max()
                                                : other->gpu.block_size * other->gpu.blocks;
      const auto [at, is_new] = by_extent.emplace(extent, *other);
      if (!is_new && off(*other) < off(at->second)) at->second = *other;
    }
  }
  std::vector<std::optional<Plan>> plans;
  plans.reserve(by_extent.size());
  for (const auto& [extent, other] : by_extent) plans.emplace_back(other);
  return plans;
}

std::vector<Plan> CoordinateSearch::first_of_extents(const Plan& plan, std::size_t threads,
                                                     std::size_t blocks) const {
  const auto extents = line_of_extents(plan, threads, blocks);
  const std::optional<std::size_t> place = place_in(extents, plan);
  return place ? around(extents, *place, 2, 2) : first_along(plan, threads);
}

CoordinateSearch::Found CoordinateSearch::along_threads_and_blocks(Found from) {
  const std::optional<std::size_t> threads = axis_of("block-size"), blocks = axis_of("blocks");
  if (!threads || !blocks) return from;
  const auto extents = line_of_extents(from->trial.plan, *threads, *blocks);
  if (const auto place = place_in(extents, from->trial.plan)) {
    from = downhill(from, extents, *place);
  }
  const Plan& plan = from->trial.plan;
  if (plan.gpu.blocks == 0) return along(from, *threads);
  std::vector<std::optional<Plan>> curve;
  for (std::size_t t = 0; t < space_.axes()[*threads].choices.size(); ++t) {
    std::optional<Plan> nearest;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t b = 0; b < space_.axes()[*blocks].choices.size(); ++b) {
      const std::optional<Plan> other =
          space_.with(plan, {{*threads, static_cast<int>(t)}, {*blocks, static_cast<int>(b)}});
      if (!other || other->gpu.blocks == 0) continue;
      const double distance =
          std::abs(std::log(static_cast<double>(other->gpu.block_size) * other->gpu.blocks) -
                   std::log(static_cast<double>(plan.gpu.block_size) * plan.gpu.blocks));
      if (distance < least) {
        least = distance;
        nearest = other;
      }
    }
    curve.push_back(nearest);
  }
  const std::optional<std::size_t> place = place_in(curve, plan);
  return place ? downhill(from, curve, *place) : from;
}

CoordinateSearch::Found CoordinateSearch::along_diagonals(Found from, std::size_t first,
                                                          std::size_t second) {
  const Plan plan = from->trial.plan;
  const auto a = place_in(line(plan, first), plan), b = place_in(line(plan, second), plan);
  if (!a || !b) return from;
  std::vector<Plan> diagonals;
  for (const bool up : {true, false}) {
    for (const bool other_up : {true, false}) {
      const auto i = doubled(space_.axes()[first], *a, up);
      const auto j = doubled(space_.axes()[second], *b, other_up);
      if (!i || !j) continue;
      if (const auto other = space_.with(plan, {{first, *i}, {second, *j}})) {
        diagonals.push_back(*other);
      }
    }
  }
  announce(diagonals);
  for (const Plan& other : diagonals) from = better(from, attempt(other));
  return from;
}

CoordinateSearch::Found CoordinateSearch::over(Found from, std::size_t first, std::size_t second) {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < space_.axes()[first].choices.size(); ++i) {
    for (std::size_t j = 0; j < space_.axes()[second].choices.size(); ++j) {
      const auto plan = space_.with(from->trial.plan,
                                    {{first, static_cast<int>(i)}, {second, static_cast<int>(j)}});
      if (plan) plans.push_back(*plan);
    }
  }
  announce(plans);
  for (const Plan& plan : plans) from = better(from, attempt(plan));
  return from;
}

CoordinateSearch::Found CoordinateSearch::descend(Found from,
                                                  const std::vector<std::size_t>& axes) {
  const std::optional<std::size_t> threads = axis_of("block-size"), blocks = axis_of("blocks");
  const std::optional<std::size_t> T = axis_of("threads-per-row");
  for (double before = std::numeric_limits<double>::infinity();
       may_go_on() && from->trial.score < (1 - min_gain_) * before;) {
    before = from->trial.score;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::size_t axis = axes[i];
      if (!may_go_on()) break;
      if (axis == blocks && threads) continue;  // goes with the threads
      // Most axes leave a plan unchanged: the plans after them are already known.
      later_.clear();
      for (std::size_t next = i + 1; next < axes.size(); ++next) {
        if (axes[next] == blocks && threads) continue;
        const std::vector<Plan> plans = axes[next] == threads && blocks
                                            ? first_of_extents(from->trial.plan, *threads, *blocks)
                                            : first_along(from->trial.plan, axes[next]);
        later_.insert(later_.end(), plans.begin(), plans.end());
      }
      from = axis == threads && blocks ? along_threads_and_blocks(from) : along(from, axis);
    }
    later_.clear();
    // Threads a row and threads a block can replace one another.
    const auto goes_along = [&](const std::optional<std::size_t>& axis) {
      return axis && std::find(axes.begin(), axes.end(), *axis) != axes.end();
    };
    if (goes_along(T) && goes_along(threads)) from = along_diagonals(from, *T, *threads);
  }
  return from;
}

std::vector<std::size_t> CoordinateSearch::schedule_axes(const Plan& plan) const {
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < space_.axes().size(); ++axis) {
    const std::vector<std::optional<Plan>> plans = line(plan, axis);
    const bool stays = std::all_of(plans.begin(), plans.end(), [&](const auto& other) {
      return !other || other->layout == plan.layout;
    });
    if (stays) axes.push_back(axis);
  }
  return axes;
}

}  // namespace heddle
