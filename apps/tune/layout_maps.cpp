#include "layout_maps.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "amounts.hpp"
#include "plan_names.hpp"

namespace heddle::tuning {

namespace {

using report::HeatMap;

/// A key of plans, used as an axis.
struct Key {
  const char* label;
  long long (*value)(const Plan&);
  const char* none = "0";  // text for 0
};

constexpr Key blocks = {"blocks per multiprocessor, n_b",
                        [](const Plan& p) -> long long { return p.gpu.blocks; }, "any"};
constexpr Key threads = {"threads per block, n_t",
                         [](const Plan& p) -> long long { return p.gpu.block_size; }};
constexpr Key prefetch_x = {"prefetch-x, entries",
                            [](const Plan& p) -> long long { return p.cpu.prefetch_x; }};
constexpr Key prefetch_matrix = {"prefetch-matrix, bytes",
                                 [](const Plan& p) -> long long { return p.cpu.prefetch_matrix; }};
constexpr Key chunk = {"chunk, groups of 256 rows",
                       [](const Plan& p) -> long long { return p.schedule.chunk; }};

using Trials = std::vector<const Trial*>;

std::vector<long long> values_of(const Key& key, const Trials& trials) {
  std::set<long long> values;
  for (const Trial* trial : trials) values.insert(key.value(trial->plan));
  return {values.begin(), values.end()};
}

std::vector<std::string> names_of(const Key& key, const std::vector<long long>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const long long value : values)
    names.push_back(value == 0 ? key.none : std::to_string(value));
  return names;
}

struct Unit {
  const char* name;
  double seconds;
};

/// The unit in which figures from `least` on have few digits.
Unit unit_of(double least) {
  for (const Unit& unit : {Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}}) {
    if (least >= unit.seconds) return unit;
  }
  return {"ns", 1e-9};
}

std::optional<HeatMap::Cell> cell_of(const Trials& trials, const Unit& unit) {
  if (trials.empty()) return {};
  const Trial* fastest = nullptr;
  for (const Trial* trial : trials) {
    if (trial->outcome != Trial::Outcome::measured) continue;
    if (fastest == nullptr || trial->seconds.median < fastest->seconds.median) fastest = trial;
  }
  HeatMap::Cell cell;
  if (fastest == nullptr) {
    const Trial& first = *trials.front();
    cell.hint = to_string(first.plan) + "\n" + std::string(name(first.outcome)) +
                (first.reason.empty() ? "" : ": " + first.reason);
    return cell;
  }
  cell.value = fastest->seconds.median;
  cell.label = report::readable_ratio(cell.value / unit.seconds);
  cell.hint = to_string(fastest->plan) + "\n" + report::readable_seconds(cell.value) +
              ", quartiles " + report::readable_seconds(fastest->seconds.lower_quartile) + " to " +
              report::readable_seconds(fastest->seconds.upper_quartile);
  if (trials.size() > 1) {
    cell.hint += "\nthe fastest of " + std::to_string(trials.size()) + " plans";
  }
  return cell;
}

HeatMap::Panel panel_of(ScheduleKind kind, const Key& x, const Key& y, const Trials& trials,
                        const Trials& of_layout, const Unit& unit) {
  HeatMap::Panel panel;
  panel.name = "schedule=" + report::schedule_name(kind);
  panel.x_label = x.label;
  panel.y_label = y.label;
  // Values common to all schedules of the layout appear in the same way in all panels.
  const auto columns = values_of(x, of_layout);
  const auto rows = values_of(y, &y == &threads ? of_layout : trials);
  panel.x = names_of(x, columns);
  panel.y = names_of(y, rows);
  for (const long long row : rows) {
    auto& cells = panel.cells.emplace_back();
    for (const long long column : columns) {
      Trials here;
      std::copy_if(trials.begin(), trials.end(), std::back_inserter(here), [&](const Trial* trial) {
        return x.value(trial->plan) == column && y.value(trial->plan) == row;
      });
      cells.push_back(cell_of(here, unit));
    }
  }
  return panel;
}

LayoutMap map_of(const Trials& trials, bool gpu) {
  LayoutMap result;
  result.first = trials.front();
  double least = 0;
  for (const Trial* trial : trials) {
    if (trial->outcome != Trial::Outcome::measured) continue;
    ++result.measured;
    if (result.best == nullptr || trial->score < result.best->score) result.best = trial;
    if (least == 0 || trial->seconds.median < least) least = trial->seconds.median;
  }
  if (result.best == nullptr) return result;
  const Unit unit = unit_of(least);
  result.map.title = "Times of " + report::layout_name(result.best->plan) + " over its schedules";
  result.map.value_label = std::string("median, ") + unit.name;
  for (const ScheduleKind kind : {ScheduleKind::fixed, ScheduleKind::dynamic, ScheduleKind::full}) {
    Trials of_kind;
    std::copy_if(trials.begin(), trials.end(), std::back_inserter(of_kind),
                 [&](const Trial* trial) { return trial->plan.schedule.kind == kind; });
    if (of_kind.empty()) continue;
    const Key& x = gpu ? blocks : prefetch_x;
    const Key& y = gpu ? threads : kind == ScheduleKind::dynamic ? chunk : prefetch_matrix;
    result.map.panels.push_back(panel_of(kind, x, y, of_kind, trials, unit));
  }
  return result;
}

}  // namespace

std::vector<LayoutMap> layout_maps(const MatrixReport& matrix, bool gpu) {
  std::vector<Trials> layouts;
  for (const Trial& trial : matrix.trials) {
    const auto at = std::find_if(layouts.begin(), layouts.end(), [&](const Trials& layout) {
      return layout.front()->plan.layout == trial.plan.layout;
    });
    (at == layouts.end() ? layouts.emplace_back() : *at).push_back(&trial);
  }
  std::vector<LayoutMap> maps;
  maps.reserve(layouts.size());
  for (const Trials& trials : layouts) maps.push_back(map_of(trials, gpu));
  const auto score = [](const LayoutMap& map) {
    return map.best == nullptr ? std::numeric_limits<double>::infinity() : map.best->score;
  };
  std::stable_sort(maps.begin(), maps.end(), [&](const LayoutMap& a, const LayoutMap& b) {
    return score(a) < score(b) || (score(a) == score(b) && a.best != nullptr && b.best == nullptr);
  });
  if (matrix.record) {
    const auto chosen = std::find_if(maps.begin(), maps.end(), [&](const LayoutMap& map) {
      return map.best != nullptr && map.best->plan.layout == matrix.record->plan.layout;
    });
    if (chosen != maps.end()) std::rotate(maps.begin(), chosen, chosen + 1);
  }
  return maps;
}

}  // namespace heddle::tuning
