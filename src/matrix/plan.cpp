#include "heddle/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text/names.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::bad_plan, what); }

template <class T>
using Names = std::vector<std::pair<const char*, T>>;

const Names<RowOrder> order_names = {{"natural", RowOrder::natural},
                                     {"rcm", RowOrder::reverse_cuthill_mckee}};
const Names<ColumnOrder> column_names = {{"sorted", ColumnOrder::sorted},
                                         {"given", ColumnOrder::given}};
const Names<BasisUse> basis_names = {{"permuted", BasisUse::permuted}, {"user", BasisUse::user}};
const Names<InnerLayout> inner_names = {{"aos", InnerLayout::aos},
                                        {"soa", InnerLayout::soa},
                                        {"aosoa", InnerLayout::aosoa_component},
                                        {"aosoa16", InnerLayout::aosoa_16}};
const Names<VectorLayout> vector_names = {{"aos", VectorLayout::aos}, {"soa", VectorLayout::soa}};
const Names<StoredScalar> stored_names = {
    {"full", StoredScalar::own},      {"single", StoredScalar::single},
    {"half", StoredScalar::half},     {"bfloat", StoredScalar::bfloat},
    {"scaled", StoredScalar::scaled}, {"dictionary", StoredScalar::dictionary},
    {"unit", StoredScalar::unit}};
const Names<int> column_bits_names = {{"32", 32}, {"16", 16}};
const Names<ScheduleKind> schedule_names = {{"static", ScheduleKind::fixed},
                                            {"dynamic", ScheduleKind::dynamic},
                                            {"full", ScheduleKind::full}};
const Names<LoadHint> load_names = {{"default", LoadHint::normal},
                                    {"streaming", LoadHint::streaming},
                                    {"no-allocate", LoadHint::no_allocate},
                                    {"evict-first", LoadHint::evict_first}};
const Names<LoopForm> loop_names = {{"stepped", LoopForm::stepped},
                                    {"graph", LoopForm::graph},
                                    {"replay", LoopForm::replay},
                                    {"persistent", LoopForm::persistent}};
const Names<KernelLaunch> launch_names = {{"serial", KernelLaunch::serial},
                                          {"overlapped", KernelLaunch::overlapped}};
const Names<bool> cg_names = {{"standard", false}, {"single-reduction", true}};
const Names<bool> switch_names = {{"off", false}, {"on", true}};
const Names<Recurrence> recurrence_names = {{"ring", Recurrence::ring}, {"real", Recurrence::real}};

template <class T>
void read(const std::string& key, const std::string& text, const Names<T>& names, T& value) {
  for (const auto& [name, named] : names) {
    if (is_same_name(text, name)) {
      value = named;
      return;
    }
  }
  std::string message = "plan: " + key + "=" + text + " is none of";
  for (const auto& [name, named] : names) message += std::string(" ") + name;
  refuse(message);
}

template <class T>
std::string_view name_in(const Names<T>& names, T value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  throw Error(ErrorKind::internal, "a plan value without a name");
}

int read_number(const std::string& key, const std::string& text, int least) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end || value < least) {
    refuse("plan: " + key + "=" + text + " is not a whole number of at least " +
           std::to_string(least));
  }
  return value;
}

/// The functions that read a member of a plan from a text and write it to one.
struct Value {
  void (*read)(Plan&, const std::string& key, const std::string& text);
  std::string (*write)(const Plan&);
};

template <auto part, auto member, int least>
constexpr Value whole_number = {
    [](Plan& plan, const std::string& key, const std::string& text) {
      (plan.*part).*member = read_number(key, text, least);
    },
    [](const Plan& plan) { return std::to_string((plan.*part).*member); }};

template <auto part, auto member>
constexpr Value row_count = {
    [](Plan& plan, const std::string& key, const std::string& text) {
      (plan.*part).*member = is_same_name(text, "n") ? Layout::all_rows : read_number(key, text, 1);
    },
    [](const Plan& plan) {
      const Index value = (plan.*part).*member;
      return value == Layout::all_rows ? "n" : std::to_string(value);
    }};

template <auto part, auto member, const auto& names>
constexpr Value one_of = {
    [](Plan& plan, const std::string& key, const std::string& text) {
      read(key, text, names, (plan.*part).*member);
    },
    [](const Plan& plan) { return std::string(name_in(names, (plan.*part).*member)); }};

struct Key {
  const char* name;
  Value value;
};

constexpr std::array<Key, 25> keys = {{
    {"C", row_count<&Plan::layout, &Layout::lanes>},
    {"sigma", row_count<&Plan::layout, &Layout::sort_window>},
    {"threads-per-row", whole_number<&Plan::layout, &Layout::threads_per_row, 1>},
    {"threshold", whole_number<&Plan::layout, &Layout::threshold, 0>},
    {"order", one_of<&Plan::layout, &Layout::order, order_names>},
    {"columns", one_of<&Plan::layout, &Layout::columns, column_names>},
    {"basis", one_of<&Plan::layout, &Layout::basis, basis_names>},
    {"entry-layout", one_of<&Plan::layout, &Layout::inner, inner_names>},
    {"vector-layout", one_of<&Plan::layout, &Layout::vector, vector_names>},
    {"iteration-precision", one_of<&Plan::layout, &Layout::stored, stored_names>},
    {"column-bits", one_of<&Plan::layout, &Layout::column_bits, column_bits_names>},
    {"schedule", one_of<&Plan::schedule, &Schedule::kind, schedule_names>},
    {"chunk", whole_number<&Plan::schedule, &Schedule::chunk, 1>},
    {"prefetch-x", whole_number<&Plan::cpu, &CpuSchedule::prefetch_x, 0>},
    {"prefetch-matrix", whole_number<&Plan::cpu, &CpuSchedule::prefetch_matrix, 0>},
    {"block-size", whole_number<&Plan::gpu, &GpuSchedule::block_size, 32>},
    {"blocks", whole_number<&Plan::gpu, &GpuSchedule::blocks, 0>},
    {"unroll", whole_number<&Plan::gpu, &GpuSchedule::unroll, 1>},
    {"load", one_of<&Plan::gpu, &GpuSchedule::load, load_names>},
    {"l2-percent", whole_number<&Plan::gpu, &GpuSchedule::l2_percent, 0>},
    {"loop", one_of<&Plan::loop, &Loop::form, loop_names>},
    {"launch", one_of<&Plan::loop, &Loop::launch, launch_names>},
    {"cg", one_of<&Plan::loop, &Loop::single_reduction, cg_names>},
    {"fused-updates", one_of<&Plan::loop, &Loop::fused_updates, switch_names>},
    {"recurrence", one_of<&Plan::loop, &Loop::recurrence, recurrence_names>},
}};

struct Spelling {
  std::string_view key, value;  // any value if empty
};

/// Spellings in texts and profiles before keys had the names above, the earlier one first.
constexpr std::pair<Spelling, Spelling> earlier_spellings[] = {
    {{"T", ""}, {"threads-per-row", ""}},
    {{"use", "scatter"}, {"basis", "user"}},
    {{"use", ""}, {"basis", ""}},
    {{"inner", ""}, {"entry-layout", ""}},
    {{"vector", ""}, {"vector-layout", ""}},
    {{"stored", "own"}, {"iteration-precision", "full"}},
    {{"stored", "float"}, {"iteration-precision", "single"}},
    {{"stored", ""}, {"iteration-precision", ""}},
    {{"threads", ""}, {"block-size", ""}},
    {{"kept", ""}, {"l2-percent", ""}},
    {{"reductions", "2"}, {"cg", "standard"}},
    {{"reductions", "1"}, {"cg", "single-reduction"}},
    {{"reductions", ""}, {"cg", ""}},
    {{"passes", "2"}, {"fused-updates", "off"}},
    {{"passes", "1"}, {"fused-updates", "on"}},
    {{"passes", ""}, {"fused-updates", ""}},
};

/// Sets the member that a key of a text names, and notes the key in `seen`.
void set(Plan& plan, std::vector<std::string_view>& seen, std::string name, std::string value) {
  for (const auto& [before, now] : earlier_spellings) {
    const bool has_value = before.value.empty() || is_same_name(value, before.value);
    if (!is_same_name(name, before.key) || !has_value) continue;
    name = now.key;
    if (!now.value.empty()) value = now.value;
    break;
  }
  for (const Key& key : keys) {
    if (!is_same_name(name, key.name)) continue;
    if (std::find(seen.begin(), seen.end(), key.name) != seen.end()) {
      refuse("plan: '" + name + "' is given twice");
    }
    seen.emplace_back(key.name);
    key.value.read(plan, name, value);
    return;
  }
  std::string message = "plan: there is no key '" + name + "'; there are";
  for (const Key& key : keys) message += std::string(" ") + key.name;
  refuse(message);
}

constexpr const char* default_name = "CSR";

Plan paper_plan(const std::string& name) {
  const auto is = [&](std::string_view known) { return is_same_name(name, known); };
  constexpr Index warp = 32;
  constexpr Index k2_threshold = 8;
  // Formats without a sort (Mueller-Roemer et al. 2020, section 4.1).
  if (is(default_name)) return {};
  if (is("ELL")) return {.layout = {.lanes = Layout::all_rows}};
  if (is("Sl-16")) return {.layout = {.lanes = 16}};
  if (is("Sl-32")) return {.layout = {.lanes = 32}};
  // Kreutzer et al. 2012: all rows sorted, rows and columns permuted the same way.
  Plan plan{.layout = {.lanes = warp, .sort_window = Layout::all_rows}};
  if (is("pJDS")) return plan;
  // Wong et al. 2015, sections 5.1 to 5.5.
  const std::string kernel = name.substr(0, 2), variant = lower_case(name.substr(kernel.size()));
  if (is_same_name(kernel, "K2")) {
    plan.layout.threshold = k2_threshold;
  } else if (!is_same_name(kernel, "K1")) {
    refuse("plan: '" + name +
           "' is neither key=value nor one of CSR ELL Sl-16 Sl-32 pJDS K1 K1r K1rs K2 K2r K2rs");
  }
  plan.layout.basis = variant.empty() ? BasisUse::user : BasisUse::permuted;
  plan.layout.columns = variant == "rs" ? ColumnOrder::sorted : ColumnOrder::given;
  if (!variant.empty() && variant != "r" && variant != "rs") {
    refuse("plan: '" + name + "' is not a variant of " + kernel + ": there are " + kernel +
           ", r and rs");
  }
  return plan;
}

/// The settings of a plan for which `is_wanted(key, value)` is true.
template <class IsWanted>
std::string text_of(const Plan& plan, IsWanted&& is_wanted) {
  std::string text;
  for (const Key& key : keys) {
    const std::string value = key.value.write(plan);
    if (is_wanted(key, value)) text += (text.empty() ? "" : ",") + (key.name + ("=" + value));
  }
  return text;
}

}  // namespace

std::string_view name(LoopForm loop) { return name_in(loop_names, loop); }
std::string_view name(StoredScalar stored) { return name_in(stored_names, stored); }

void check_plan(const Plan& plan) {
  const auto& [layout, schedule, cpu, gpu, loop] = plan;
  const Index T = layout.threads_per_row;
  if (layout.lanes != Layout::all_rows && (layout.lanes < 1 || layout.lanes > 64)) {
    refuse("plan: C=" + std::to_string(layout.lanes) + " is neither 1 to 64 nor n");
  }
  if (layout.lanes == Layout::all_rows && (T != 1 || layout.threshold != 0)) {
    refuse(
        "plan: several threads per row (threads-per-row, threshold) need slices of 1 to 64 lanes, "
        "not C=n");
  }
  if (T < 1 || (layout.lanes != Layout::all_rows && layout.lanes % T != 0)) {
    refuse("plan: threads-per-row=" + std::to_string(T) +
           " does not divide C=" + std::to_string(layout.lanes));
  }
  if (layout.threshold != 0 && T != 1) {
    refuse("plan: threshold chooses threads-per-row for each slice; give one of the two");
  }
  if (cpu.prefetch_x > CpuSchedule::furthest_prefetch_x) {
    refuse("plan: prefetch-x=" + std::to_string(cpu.prefetch_x) + " is more than " +
           std::to_string(CpuSchedule::furthest_prefetch_x));
  }
  if (layout.column_bits != 32 && layout.column_bits != 16) {
    refuse("plan: column-bits=" + std::to_string(layout.column_bits) + " is none of 32 16");
  }
  if (layout.sort_window < 0 || layout.threshold < 0 || schedule.chunk < 1 || cpu.prefetch_x < 0 ||
      cpu.prefetch_matrix < 0 || gpu.blocks < 0) {
    refuse("plan: sigma, threshold, chunk, blocks and the prefetch distances must not be negative");
  }
  constexpr int block_sizes[] = {32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024};
  if (std::find(std::begin(block_sizes), std::end(block_sizes), gpu.block_size) ==
      std::end(block_sizes)) {
    refuse("plan: block-size=" + std::to_string(gpu.block_size) +
           " is none of 32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024");
  }
  if (gpu.unroll < 1 || gpu.unroll > 8) {
    refuse("plan: unroll=" + std::to_string(gpu.unroll) + " is not 1 to 8");
  }
  if (gpu.l2_percent < 0 || gpu.l2_percent > 100) {
    refuse("plan: l2-percent=" + std::to_string(gpu.l2_percent) + " is not 0 to 100 percent");
  }
}

Plan parse_plan(std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  if (text.substr(0, comma).find('=') != std::string_view::npos) return parse_plan(text, {});
  const Plan named = paper_plan(std::string(text.substr(0, comma)));
  return comma == text.size() ? named : parse_plan(text.substr(comma + 1), named);
}

Plan parse_plan(std::string_view text, const Plan& base) {
  Plan plan = base;
  std::vector<std::string_view> seen;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part(text.substr(from, comma - from));
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      refuse("plan: '" + part + "' is not key=value; only the first part may be a name");
    }
    set(plan, seen, part.substr(0, equals), part.substr(equals + 1));
    from = comma + 1;
  }
  const auto is_given = [&](std::string_view name) {
    return std::find(seen.begin(), seen.end(), name) != seen.end();
  };
  // The same number of blocks of another size is a different bound on registers.
  if (is_given("block-size") && !is_given("blocks")) plan.gpu.blocks = 0;
  check_plan(plan);
  return plan;
}

std::string to_string(const Plan& plan) {
  const std::string text = text_of(plan, [](const Key& key, const std::string& value) {
    return value != key.value.write(Plan{});
  });
  return text.empty() ? default_name : text;
}

std::string to_full_string(const Plan& plan) {
  return text_of(plan, [](const Key&, const std::string&) { return true; });
}

std::string to_json(const Plan& plan) {
  nlohmann::ordered_json object;
  for (const Key& key : keys) object[key.name] = key.value.write(plan);
  return object.dump();
}

Plan plan_from_json(std::string_view json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) refuse("plan: not a JSON object");
  Plan plan;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string() && !value.is_number_integer()) {
      refuse("plan: the value of '" + name + "' is neither text nor a whole number");
    }
    set(plan, seen, name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  check_plan(plan);
  return plan;
}

}  // namespace heddle
