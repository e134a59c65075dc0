#include "heddle/tuning/search_space.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "heddle/error.hpp"

namespace heddle {

namespace {

/// Registers that a thread of a product takes at least (Mueller-Roemer et al. 2020, section 5.4).
constexpr int least_registers = 32;
/// From which on kernels of a graph can overlap.
constexpr int overlapping_architecture = 90;

/// What `check_plan` says of what the settings make of a plan; `blocks` stays as it is where they
/// say nothing of it. The settings set no key twice.
std::optional<Plan> set(const std::string& settings, const Plan& plan) {
  if (settings.empty()) return plan;
  const auto sets = [&](const std::string& key) {
    return settings.starts_with(key) || settings.find("," + key) != std::string::npos;
  };
  const bool unsets_blocks = sets("threads=") && !sets("blocks=");
  try {
    return parse_plan(
        settings + (unsets_blocks ? ",blocks=" + std::to_string(plan.blocks) : std::string()),
        plan);
  } catch (const Error&) {
    return {};
  }
}

void append(std::string& settings, const std::string& choice) {
  if (!settings.empty()) settings += ",";
  settings += choice;
}

bool moves_rows(const Plan& plan) {
  return plan.sort_window != 1 || plan.order != RowOrder::natural;
}

/// As far as a plan tells; its vectors have to fit into shared memory too.
bool suits_persistent_loop(const Plan& plan) {
  return plan.lanes != Plan::all_rows && !(plan.use == BasisUse::scatter && moves_rows(plan));
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
  if (text == name(Objective::product())) return Objective::product();
  for (const MethodInfo& method : method_table()) {
    if (method.name == text) return {&method};
  }
  std::string names;
  for (const std::string_view name : objective_names()) names += " " + std::string(name);
  throw Error(ErrorKind::usage, "objective '" + std::string(text) + "' is none of" + names);
}

Plan natural_layout(const Plan& plan) {
  Plan natural = plan;
  const Plan csr;
  natural.lanes = csr.lanes;
  natural.sort_window = csr.sort_window;
  natural.threads_per_row = csr.threads_per_row;
  natural.threshold = csr.threshold;
  natural.order = csr.order;
  natural.columns = csr.columns;
  natural.use = csr.use;
  natural.inner = csr.inner;
  natural.vector = csr.vector;
  return natural;
}

SearchSpace::SearchSpace(Plan base, std::vector<Axis> axes, const TuningSubject& subject,
                         const DeviceProperties& device)
    : base_(base), axes_(std::move(axes)), subject_(subject), device_(device) {}

Plan SearchSpace::reduced(const Plan& plan) const {
  Plan least = plan;
  const int components = subject_.entry_bytes / std::max(1, subject_.scalar_bytes);
  constexpr int piece = 16;
  if (components == 1) {
    least.inner = InnerLayout::aos;
    least.vector = VectorLayout::aos;
  }
  // Pieces of 16 bytes: an entry in one is an entry whole.
  if (subject_.entry_bytes <= piece && least.inner == InnerLayout::aosoa_16) {
    least.inner = InnerLayout::aos;
  }
  if (least.lanes == 1) {
    least.threshold = 0;
    if (least.inner != InnerLayout::soa) least.inner = InnerLayout::aos;
  }
  if (least.sort_window >= subject_.rows) least.sort_window = Plan::all_rows;
  if (!moves_rows(least)) least.use = BasisUse::permuted;

  if (!device_.gpu) {
    least.threads = base_.threads;
    least.blocks = base_.blocks;
    least.unroll = base_.unroll;
    least.load = base_.load;
    least.kept = base_.kept;
    least.loop = base_.loop;
    if (least.schedule == ScheduleKind::full || device_.threads == 1) {
      least.schedule = ScheduleKind::fixed;
    }
    if (least.inner == InnerLayout::soa) least.prefetch_matrix = base_.prefetch_matrix;
  } else {
    least.prefetch_x = base_.prefetch_x;
    least.prefetch_matrix = base_.prefetch_matrix;
    if (least.load != LoadHint::evict_first) least.kept = 0;
    if (device_.architecture < overlapping_architecture) least.launch = KernelLaunch::serial;
  }
  const MethodInfo* const method = subject_.objective.method;
  if (method == nullptr) least.loop = base_.loop;
  if (method != nullptr && least.loop == LoopForm::persistent) {
    // One kernel, which shares rows out by itself.
    least.schedule = base_.schedule;
    least.threads = base_.threads;
    least.blocks = base_.blocks;
    least.load = base_.load;
    least.kept = base_.kept;
  }
  const bool in_graph =
      method != nullptr && (least.loop == LoopForm::graph || least.loop == LoopForm::replay);
  if (!in_graph) least.launch = base_.launch;
  if (!in_graph || method->single_reduction == nullptr) least.reductions = base_.reductions;
  if (!in_graph || method->has_ring_coefficients || least.reductions == 1) {
    least.passes = base_.passes;
  }
  if (least.schedule != ScheduleKind::dynamic) least.chunk = base_.chunk;
  return least;
}

bool SearchSpace::runs(const Plan& plan) const {
  const bool is_square = subject_.rows == subject_.columns;
  const bool iterates = !subject_.objective.is_product();
  if (!is_square && (iterates || plan.order != RowOrder::natural)) return false;
  if (!is_square && moves_rows(plan) && plan.use != BasisUse::scatter) return false;
  if (!device_.gpu) return plan.loop == LoopForm::stepped;
  const auto T = static_cast<unsigned>(plan.threads_per_row);
  if (!std::has_single_bit(T) || plan.threads_per_row > device_.warp) return false;
  if (iterates && plan.loop == LoopForm::persistent && !suits_persistent_loop(plan)) return false;
  const long long resident = static_cast<long long>(plan.threads) * std::max(1, plan.blocks);
  return plan.threads <= device_.threads_of_block &&
         plan.blocks <= device_.blocks_of_multiprocessor &&
         resident <= device_.threads_of_multiprocessor &&
         (plan.blocks == 0 || resident * least_registers <= device_.registers_of_multiprocessor);
}

/// What cannot stay beside the others gives way.
Plan SearchSpace::adapted(Plan plan) const {
  if (plan.lanes == Plan::all_rows) {
    plan.threads_per_row = 1;
    plan.threshold = 0;
  } else {
    plan.threads_per_row = std::gcd(plan.threads_per_row, plan.lanes);
  }
  if (subject_.rows != subject_.columns && moves_rows(plan)) plan.use = BasisUse::scatter;
  if (plan.loop == LoopForm::persistent && !suits_persistent_loop(plan)) plan.loop = base_.loop;
  return plan;
}

std::optional<Plan> SearchSpace::plan(const std::vector<int>& choices) const {
  std::string settings;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    append(settings, axes_[axis].choices[static_cast<std::size_t>(choices[axis])]);
  }
  const std::optional<Plan> plan = set(settings, base_);
  if (!plan || !runs(*plan)) return {};
  const Plan least = reduced(*plan);
  if (set(settings, least) != least) return {};
  return least;
}

std::optional<Plan> SearchSpace::with(const Plan& plan,
                                      const std::vector<Setting>& settings) const {
  std::string text;
  for (const Setting& setting : settings) {
    append(text, axes_[setting.axis].choices[static_cast<std::size_t>(setting.choice)]);
  }
  // What is set goes first: T and threshold, which go with few others, are left out until then.
  Plan others = plan;
  others.threads_per_row = 1;
  others.threshold = 0;
  const std::optional<Plan> alone = set(text, others);
  if (!alone) return {};
  others = *alone;
  others.threads_per_row = alone->threshold != 0 ? 1 : plan.threads_per_row;
  others.threshold = alone->threads_per_row != 1 ? 0 : plan.threshold;
  const std::optional<Plan> whole = set(text, adapted(others));
  if (!whole || !runs(*whole)) return {};
  const Plan least = reduced(*whole);
  // A setting that means nothing beside the others is none.
  if (set(text, least) != least) return {};
  return least;
}

std::vector<Plan> SearchSpace::plans() const {
  std::vector<std::vector<Plan>> by_layout;
  std::map<std::string, std::size_t> place;
  std::vector<int> choices(axes_.size(), 0);
  for (bool more = combinations() > 0; more;) {
    if (const std::optional<Plan> plan = this->plan(choices)) {
      const auto [at, is_new] = place.emplace(to_string(layout_of(*plan)), by_layout.size());
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
