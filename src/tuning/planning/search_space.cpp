#include "heddle/tuning/search_space.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/text/names.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

/// Minimum registers of a product's thread (Mueller-Roemer et al. 2020, section 5.4).
constexpr int min_registers = 32;
/// The first architecture on which kernels of a graph can overlap.
constexpr int overlapping_architecture = 90;

/// The plan with these settings, if they are compatible; `blocks` stays unless they name it.
std::optional<Plan> set(const std::string& settings, const Plan& plan) {
  if (settings.empty()) return plan;
  try {
    Plan changed = parse_plan(settings, plan);
    if (("," + settings).find(",blocks=") == std::string::npos)
      changed.gpu.blocks = plan.gpu.blocks;
    return changed;
  } catch (const Error&) {
    return {};
  }
}

void append(std::string& settings, const std::string& choice) {
  if (!settings.empty()) settings += ",";
  settings += choice;
}

bool moves_rows(const Plan& plan) {
  return plan.layout.sort_window != 1 || plan.layout.order != RowOrder::natural;
}

/// Judges by the plan alone; its vectors have to fit into shared memory too.
bool suits_persistent_loop(const Plan& plan) {
  return plan.layout.lanes != Layout::all_rows &&
         !(plan.layout.basis == BasisUse::user && moves_rows(plan));
}

}  // namespace

std::string_view name(Objective objective) {
  return objective.is_product() ? "product" : objective.method->name;
}

std::vector<std::string_view> objective_names() {
  std::vector<std::string_view> names = {name(Objective::product())};
  for (const MethodInfo& method : method_table()) names.push_back(method.name);
  return names;
}

Objective parse_objective(std::string_view text) {
  if (is_same_name(text, name(Objective::product()))) return Objective::product();
  for (const MethodInfo& method : method_table()) {
    if (is_same_name(method.name, text)) return {&method};
  }
  std::string names;
  for (const std::string_view name : objective_names()) names += " " + std::string(name);
  throw Error(ErrorKind::usage, "objective '" + std::string(text) + "' is none of" + names);
}

Plan natural_layout(const Plan& plan) {
  Plan natural = plan;
  natural.layout = {.stored = plan.layout.stored};
  return natural;
}

SearchSpace::SearchSpace(Plan base, std::vector<Axis> axes, const TuningSubject& subject,
                         const DeviceProperties& device)
    : base_(base), axes_(std::move(axes)), subject_(subject), device_(device) {}

Plan SearchSpace::reduced(const Plan& plan) const {
  Plan least = plan;
  auto& [layout, schedule, cpu, gpu, loop] = least;
  const int components = subject_.entry_bytes / std::max(1, subject_.scalar_bytes);
  constexpr int piece = 16;
  if (components == 1) {
    layout.inner = InnerLayout::aos;
    layout.vector = VectorLayout::aos;
  }
  // Pieces of 16 bytes: an entry that fits in one piece is an entry whole.
  if (subject_.entry_bytes <= piece && layout.inner == InnerLayout::aosoa_16) {
    layout.inner = InnerLayout::aos;
  }
  // All components of a dictionary entry are one number.
  if (layout.stored == StoredScalar::dictionary) layout.inner = InnerLayout::aos;
  if (layout.lanes == 1) {
    layout.threshold = 0;
    if (layout.inner != InnerLayout::soa) layout.inner = InnerLayout::aos;
  }
  if (layout.sort_window >= subject_.rows) layout.sort_window = Layout::all_rows;
  if (!moves_rows(least)) layout.basis = BasisUse::permuted;

  if (!device_.gpu) {
    layout.column_bits = base_.layout.column_bits;
    gpu = base_.gpu;
    loop.form = base_.loop.form;
    if (schedule.kind == ScheduleKind::full || device_.threads == 1) {
      schedule.kind = ScheduleKind::fixed;
    }
    if (layout.inner == InnerLayout::soa) cpu.prefetch_matrix = base_.cpu.prefetch_matrix;
  } else {
    cpu = base_.cpu;
    if (gpu.load != LoadHint::evict_first) gpu.l2_percent = 0;
    if (device_.architecture < overlapping_architecture) loop.launch = KernelLaunch::serial;
  }
  const MethodInfo* const method = subject_.objective.method;
  if (method == nullptr) loop.form = base_.loop.form;
  if (method != nullptr && loop.form == LoopForm::persistent) {
    // One kernel, which shares rows out by itself and reads columns of 32 bits.
    layout.column_bits = base_.layout.column_bits;
    const int unroll = gpu.unroll;
    schedule.kind = base_.schedule.kind;
    gpu = base_.gpu;
    gpu.unroll = unroll;
  }
  const bool in_graph =
      method != nullptr && (loop.form == LoopForm::graph || loop.form == LoopForm::replay);
  if (!in_graph) loop.launch = base_.loop.launch;
  if (!in_graph || method->single_reduction == nullptr) {
    loop.single_reduction = base_.loop.single_reduction;
  }
  if (!in_graph || method->has_ring_coefficients || loop.single_reduction) {
    loop.fused_updates = base_.loop.fused_updates;
  }
  if (schedule.kind != ScheduleKind::dynamic) schedule.chunk = base_.schedule.chunk;
  return least;
}

bool SearchSpace::runs(const Plan& plan) const {
  const bool is_square = subject_.rows == subject_.columns;
  const bool iterates = !subject_.objective.is_product();
  if (!is_square && (iterates || plan.layout.order != RowOrder::natural)) return false;
  if (!is_square && moves_rows(plan) && plan.layout.basis != BasisUse::user) return false;
  if (!device_.gpu) return plan.loop.form == LoopForm::stepped;
  const auto T = static_cast<unsigned>(plan.layout.threads_per_row);
  if (!std::has_single_bit(T) || plan.layout.threads_per_row > device_.warp) return false;
  if (iterates && plan.loop.form == LoopForm::persistent && !suits_persistent_loop(plan)) {
    return false;
  }
  const auto [threads, blocks] = std::pair(plan.gpu.block_size, plan.gpu.blocks);
  const long long resident = static_cast<long long>(threads) * std::max(1, blocks);
  return threads <= device_.threads_of_block && blocks <= device_.blocks_of_multiprocessor &&
         resident <= device_.threads_of_multiprocessor &&
         (blocks == 0 || resident * min_registers <= device_.registers_of_multiprocessor);
}

/// Settings that are incompatible with the others give way.
Plan SearchSpace::adapted(Plan plan) const {
  Layout& layout = plan.layout;
  if (layout.lanes == Layout::all_rows) {
    layout.threads_per_row = 1;
    layout.threshold = 0;
  } else {
    layout.threads_per_row = std::gcd(layout.threads_per_row, layout.lanes);
  }
  if (subject_.rows != subject_.columns && moves_rows(plan)) layout.basis = BasisUse::user;
  LoopForm& form = plan.loop.form;
  if (form == LoopForm::persistent && !suits_persistent_loop(plan)) form = base_.loop.form;
  return plan;
}

std::optional<Plan> SearchSpace::plan_with(const std::string& settings, const Plan& others) const {
  const std::optional<Plan> whole = set(settings, others);
  if (!whole || !runs(*whole)) return {};
  const Plan least = reduced(*whole);
  // A setting that has no effect with the others is not accepted.
  return set(settings, least) == least ? std::optional(least) : std::nullopt;
}

std::optional<Plan> SearchSpace::plan(const std::vector<int>& choices) const {
  std::string settings;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    append(settings, axes_[axis].choices[static_cast<std::size_t>(choices[axis])]);
  }
  return plan_with(settings, base_);
}

std::optional<Plan> SearchSpace::with(const Plan& plan,
                                      const std::vector<Setting>& settings) const {
  std::string text;
  for (const Setting& setting : settings) {
    append(text, axes_[setting.axis].choices[static_cast<std::size_t>(setting.choice)]);
  }
  // New settings go first: T and threshold, which go with few others, are left out until then.
  Plan others = plan;
  others.layout.threads_per_row = 1;
  others.layout.threshold = 0;
  const std::optional<Plan> alone = set(text, others);
  if (!alone) return {};
  others = *alone;
  others.layout.threads_per_row = alone->layout.threshold != 0 ? 1 : plan.layout.threads_per_row;
  others.layout.threshold = alone->layout.threads_per_row != 1 ? 0 : plan.layout.threshold;
  return plan_with(text, adapted(others));
}

std::vector<Plan> SearchSpace::plans() const {
  std::vector<std::vector<Plan>> by_layout;
  std::map<std::string, std::size_t> place;
  std::vector<int> choices(axes_.size(), 0);
  for (bool more = combinations() > 0; more;) {
    if (const std::optional<Plan> plan = this->plan(choices)) {
      const auto [at, is_new] =
          place.emplace(to_string(Plan{.layout = plan->layout}), by_layout.size());
      if (is_new) by_layout.emplace_back();
      by_layout[at->second].push_back(*plan);
    }
    more = false;
    for (std::size_t axis = axes_.size(); axis-- > 0 && !more;) {
      more = ++choices[axis] < static_cast<int>(axes_[axis].choices.size());
      if (!more) choices[axis] = 0;
    }
  }
  std::vector<Plan> all;
  for (const auto& plans : by_layout) all.insert(all.end(), plans.begin(), plans.end());
  return all;
}

double SearchSpace::combinations() const {
  double product = 1;
  for (const Axis& axis : axes_) product *= static_cast<double>(axis.choices.size());
  return product;
}

}  // namespace heddle
