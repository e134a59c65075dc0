#include "heddle/tuning/predict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heddle/choose_plan.hpp"
#include "matrix/slice_shapes.hpp"
#include "spmv/row_lengths.hpp"

namespace heddle {

namespace {

/// Totals of a walk over a layout.
struct Walked {
  Offset slots = 0;
  Offset slices = 0;
  double mean_steps = 0;  // per slice
  double imbalance = 1;   // for equal shares of rows: the longest over the mean
};

/// For one slice of all rows: slots in cache lines that hold an entry. Lines of a step that hold
/// only padding are never touched. Entries of a step are assumed to be spread evenly.
double touched_slots(const PatternView& rows, int entry_bytes) {
  constexpr double line = 64;
  const double slots_of_line = std::max(1.0, line / entry_bytes);
  Index longest = 0;
  for (Index row = 0; row < rows.rows; ++row) longest = std::max(longest, rows.length(row));
  std::vector<Index> ending(static_cast<std::size_t>(longest) + 1);
  for (Index row = 0; row < rows.rows; ++row) ++ending[static_cast<std::size_t>(rows.length(row))];
  double slots = 0;
  Index left = rows.rows;
  for (Index step = 0; step < longest; ++step) {
    left -= ending[static_cast<std::size_t>(step)];
    const double density = static_cast<double>(left) / rows.rows;
    slots += rows.rows * (1 - std::pow(1 - density, slots_of_line));
  }
  return slots;
}

Walked walk(const Plan& plan, const PatternView& pattern, int shares) {
  const StoredLengths lengths = stored_lengths(pattern, plan);
  const PatternView stored = lengths.view();
  const Index C = detail::lanes_of(stored, plan);
  Walked walked;
  double steps = 0;
  detail::for_each_slice(stored, plan, {}, [&](const detail::SliceShape& slice) {
    walked.slots += static_cast<Offset>(slice.steps) * C;
    steps += slice.steps;
    ++walked.slices;
  });
  walked.mean_steps = walked.slices > 0 ? steps / static_cast<double>(walked.slices) : 0;
  walked.imbalance = imbalance_of_shares(stored, shares);
  return walked;
}

/// Mean distance of a row's columns from the row, from rows all over the matrix.
double mean_distance(const PatternView& pattern) {
  constexpr Index max_rows = 4096;
  const Index step = std::max<Index>(1, pattern.rows / max_rows);
  const double slope = static_cast<double>(pattern.columns) / std::max<Index>(1, pattern.rows);
  double sum = 0;
  Offset entries = 0;
  for (Offset row = 0; row < pattern.rows; row += step) {
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      sum += std::abs(static_cast<double>(row) * slope - pattern.column[i]);
      ++entries;
    }
  }
  return entries > 0 ? sum / static_cast<double>(entries) : 0;
}

/// Bytes of x that are fetched: each once, and again if the cache has lost it by its next use.
/// Kreutzer et al. (2012, equation 1) call the share of entries that fetch theirs alpha; here it
/// follows from the part of x that nearby rows span.
double bytes_of_x(const Plan& plan, const PatternView& pattern, double vector_bytes, double cache) {
  const double all = vector_bytes * pattern.columns;
  const bool sorts_all = plan.layout.sort_window == Layout::all_rows;
  const double window = sorts_all ? pattern.rows : plan.layout.sort_window;
  const double span = std::min(all, 2 * (mean_distance(pattern) + window) * vector_bytes);
  const double lost = span > cache ? 1 - cache / span : 0;
  return all + lost * std::max(0.0, vector_bytes * static_cast<double>(pattern.entries()) - all);
}

/// Slowdown of a CPU core that follows the layout, relative to one stream: factors that
/// "Prediction" in docs/inside/tried.md compares with measurements.
double cost_of_strides(const Plan& plan, Index lanes) {
  constexpr double stream_a_step = 1.15, lanes_doubled = 0.11, pieces_apart = 1.3;
  constexpr double planes = 1.35, planes_of_x = 1.15;
  double cost = 1;
  if (plan.layout.lanes == Layout::all_rows) {
    cost = stream_a_step;
  } else if (lanes > 1) {
    cost = 1 + lanes_doubled * std::log2(lanes);
    const bool pieces = plan.layout.inner == InnerLayout::aosoa_component ||
                        plan.layout.inner == InnerLayout::aosoa_16;
    if (pieces) cost *= pieces_apart;
  }
  if (plan.layout.inner == InnerLayout::soa) return planes * cost;
  return plan.layout.vector == VectorLayout::soa ? planes_of_x * cost : cost;
}

/// Slots that a CPU moves: padding is not multiplied, but shares lines with entries.
double moved_slots(const Plan& plan, const PatternView& pattern, const Walked& walked,
                   int entry_bytes) {
  if (plan.layout.lanes == Layout::all_rows) return touched_slots(pattern, entry_bytes);
  constexpr double share_of_padding = 1.0 / 3;
  const auto entries = static_cast<double>(pattern.entries());
  return entries + share_of_padding * (static_cast<double>(walked.slots) - entries);
}

/// Slowdown of a GPU, whose warps read side by side what lanes hold side by side.
double cost_of_gaps(const Plan& plan, Index lanes, int entry_bytes) {
  constexpr double sector = 32, piece = 16;
  double cost = lanes == 1 ? std::max(1.5, 2 * sector / std::max<double>(entry_bytes, sector)) : 1;
  if (plan.layout.inner == InnerLayout::aos && entry_bytes > piece) cost *= 1.15;
  if (plan.layout.vector == VectorLayout::soa && entry_bytes > piece / 2) cost *= 1.05;
  return cost;
}

}  // namespace

double predicted_seconds(const Plan& plan, const PatternView& pattern, const EntrySize& entry,
                         const DeviceProperties& device, const Ceilings& ceilings) {
  const Walked walked = walk(plan, pattern, device.gpu ? 1 : device.threads);
  const int entry_bytes = entry.bytes;
  const double vector_bytes = entry.vector_bytes;
  const Index lanes = detail::lanes_of(pattern, plan);
  const auto cache = static_cast<double>(device.last_cache);
  const double slots = device.gpu ? static_cast<double>(walked.slots)
                                  : moved_slots(plan, pattern, walked, entry_bytes);
  // Assumes that all slices can have short columns.
  const bool is_short = plan.layout.column_bits == 16;
  const double column_bytes = is_short ? sizeof(unsigned short) : sizeof(Index);
  const double slice_bytes = sizeof(Offset) + (is_short ? sizeof(Index) : 0);
  const double matrix = slots * (entry_bytes + column_bytes) +
                        static_cast<double>(walked.slices) * slice_bytes +
                        (lanes > 1 ? static_cast<double>(pattern.rows) * sizeof(Index) : 0);
  // On a CPU a line of y is read before it is written.
  const double y = (device.gpu ? 1 : 2) * vector_bytes * pattern.rows;
  const double bytes = matrix + bytes_of_x(plan, pattern, vector_bytes, cache / 2) + y;
  const double ceiling = bytes <= cache ? ceilings.cache : ceilings.memory;
  if (!device.gpu) {
    // Cost of handing out chunks, and of moving to the next.
    constexpr double cost_of_dynamic = 1.02;
    const double shares =
        plan.schedule.kind == ScheduleKind::dynamic ? cost_of_dynamic : walked.imbalance;
    return ceilings.start + bytes / ceiling * cost_of_strides(plan, lanes) * shares;
  }
  // A lane's entries follow one another, with some of them in flight at once.
  constexpr double seconds_of_step = 0.6e-6;
  const double latency = walked.mean_steps * seconds_of_step / std::min(plan.gpu.unroll, 2);
  return ceilings.start +
         std::max(bytes / ceiling * cost_of_gaps(plan, lanes, entry_bytes), latency);
}

namespace {

/// Plans to examine along with the rule's plan; each variation can be combined with any such plan.
std::vector<Plan> alternatives(const Plan& chosen, const DeviceProperties& device) {
  std::vector<Plan> plans;
  const auto add = [&](const std::string& key, std::initializer_list<const char*> values) {
    for (const char* value : values) plans.push_back(parse_plan(key + "=" + value, chosen));
  };
  if (!device.gpu) {
    add("C", {"8", "32", "32,sigma=n", "n"});
    add("entry-layout", {"soa"});
    add("vector-layout", {"soa"});
    add("schedule", {"dynamic"});
    return plans;
  }
  add("sigma", {"1", "256", "n"});
  add("entry-layout", {"aos", "soa", "aosoa", "aosoa16"});
  if (chosen.layout.threshold == 0) add("threads-per-row", {"1", "2", "4", "8"});
  return plans;
}

}  // namespace

std::vector<Plan> predicted_plans(const PatternView& pattern, const EntrySize& entry,
                                  const DeviceProperties& device, const Ceilings& ceilings,
                                  Objective objective) {
  constexpr double near_best = 1.05;
  const Plan chosen = device.gpu ? choose_plan_for_gpu(pattern, entry, StoredScalar::own, objective,
                                                       NearMemory::of(device))
                                 : choose_plan_for_cpu(pattern, entry, device.threads);
  std::vector<std::pair<double, Plan>> others;
  double least = predicted_seconds(chosen, pattern, entry, device, ceilings);
  for (const Plan& plan : alternatives(chosen, device)) {
    if (plan == chosen) continue;
    const bool permutes = plan.layout.basis == BasisUse::permuted && plan.layout.sort_window != 1;
    if (permutes && pattern.rows != pattern.columns) continue;
    others.emplace_back(predicted_seconds(plan, pattern, entry, device, ceilings), plan);
    least = std::min(least, others.back().first);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Plan> plans = {chosen};
  for (const auto& [seconds, plan] : others) {
    if (seconds <= near_best * least) plans.push_back(plan);
  }
  return plans;
}

}  // namespace heddle
