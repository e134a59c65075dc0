#include "heddle/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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
const Names<BasisUse> use_names = {{"permuted", BasisUse::permuted},
                                   {"scatter", BasisUse::scatter}};
const Names<InnerLayout> inner_names = {{"aos", InnerLayout::aos},
                                        {"soa", InnerLayout::soa},
                                        {"aosoa", InnerLayout::aosoa_component},
                                        {"aosoa16", InnerLayout::aosoa_16}};
const Names<VectorLayout> vector_names = {{"aos", VectorLayout::aos}, {"soa", VectorLayout::soa}};
const Names<StoredScalar> stored_names = {{"own", StoredScalar::own},
                                          {"float", StoredScalar::single}};
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
const Names<Recurrence> recurrence_names = {{"ring", Recurrence::ring}, {"real", Recurrence::real}};

template <class T>
void read(const std::string& key, const std::string& text, const Names<T>& names, T& value) {
  for (const auto& [name, named] : names) {
    if (text == name) {
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

template <class T>
std::string written(const Names<T>& names, T value) {
  return std::string(name_in(names, value));
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

int read_rows(const std::string& key, const std::string& text) {
  return text == "n" ? Plan::all_rows : read_number(key, text, 1);
}
std::string written_rows(Index rows) { return rows == Plan::all_rows ? "n" : std::to_string(rows); }

/// One key of the text: how it is read into a plan and written from one.
struct Key {
  const char* name;
  void (*read)(Plan&, const std::string& text);
  std::string (*write)(const Plan&);
};

const std::array<Key, 24> keys = {{
    {"C", [](Plan& p, const std::string& t) { p.lanes = read_rows("C", t); },
     [](const Plan& p) { return written_rows(p.lanes); }},
    {"sigma", [](Plan& p, const std::string& t) { p.sort_window = read_rows("sigma", t); },
     [](const Plan& p) { return written_rows(p.sort_window); }},
    {"T", [](Plan& p, const std::string& t) { p.threads_per_row = read_number("T", t, 1); },
     [](const Plan& p) { return std::to_string(p.threads_per_row); }},
    {"threshold",
     [](Plan& p, const std::string& t) { p.threshold = read_number("threshold", t, 0); },
     [](const Plan& p) { return std::to_string(p.threshold); }},
    {"order", [](Plan& p, const std::string& t) { read("order", t, order_names, p.order); },
     [](const Plan& p) { return written(order_names, p.order); }},
    {"columns", [](Plan& p, const std::string& t) { read("columns", t, column_names, p.columns); },
     [](const Plan& p) { return written(column_names, p.columns); }},
    {"use", [](Plan& p, const std::string& t) { read("use", t, use_names, p.use); },
     [](const Plan& p) { return written(use_names, p.use); }},
    {"inner", [](Plan& p, const std::string& t) { read("inner", t, inner_names, p.inner); },
     [](const Plan& p) { return written(inner_names, p.inner); }},
    {"vector", [](Plan& p, const std::string& t) { read("vector", t, vector_names, p.vector); },
     [](const Plan& p) { return written(vector_names, p.vector); }},
    {"stored", [](Plan& p, const std::string& t) { read("stored", t, stored_names, p.stored); },
     [](const Plan& p) { return written(stored_names, p.stored); }},
    {"schedule",
     [](Plan& p, const std::string& t) { read("schedule", t, schedule_names, p.schedule); },
     [](const Plan& p) { return written(schedule_names, p.schedule); }},
    {"chunk", [](Plan& p, const std::string& t) { p.chunk = read_number("chunk", t, 1); },
     [](const Plan& p) { return std::to_string(p.chunk); }},
    {"prefetch-x",
     [](Plan& p, const std::string& t) { p.prefetch_x = read_number("prefetch-x", t, 0); },
     [](const Plan& p) { return std::to_string(p.prefetch_x); }},
    {"prefetch-matrix",
     [](Plan& p, const std::string& t) {
       p.prefetch_matrix = read_number("prefetch-matrix", t, 0);
     },
     [](const Plan& p) { return std::to_string(p.prefetch_matrix); }},
    {"threads", [](Plan& p, const std::string& t) { p.threads = read_number("threads", t, 64); },
     [](const Plan& p) { return std::to_string(p.threads); }},
    {"blocks", [](Plan& p, const std::string& t) { p.blocks = read_number("blocks", t, 0); },
     [](const Plan& p) { return std::to_string(p.blocks); }},
    {"unroll", [](Plan& p, const std::string& t) { p.unroll = read_number("unroll", t, 1); },
     [](const Plan& p) { return std::to_string(p.unroll); }},
    {"load", [](Plan& p, const std::string& t) { read("load", t, load_names, p.load); },
     [](const Plan& p) { return written(load_names, p.load); }},
    {"kept", [](Plan& p, const std::string& t) { p.kept = read_number("kept", t, 0); },
     [](const Plan& p) { return std::to_string(p.kept); }},
    {"loop", [](Plan& p, const std::string& t) { read("loop", t, loop_names, p.loop); },
     [](const Plan& p) { return written(loop_names, p.loop); }},
    {"launch", [](Plan& p, const std::string& t) { read("launch", t, launch_names, p.launch); },
     [](const Plan& p) { return written(launch_names, p.launch); }},
    {"reductions",
     [](Plan& p, const std::string& t) { p.reductions = read_number("reductions", t, 1); },
     [](const Plan& p) { return std::to_string(p.reductions); }},
    {"passes", [](Plan& p, const std::string& t) { p.passes = read_number("passes", t, 1); },
     [](const Plan& p) { return std::to_string(p.passes); }},
    {"recurrence",
     [](Plan& p, const std::string& t) { read("recurrence", t, recurrence_names, p.recurrence); },
     [](const Plan& p) { return written(recurrence_names, p.recurrence); }},
}};

const Key& key_named(const std::string& name) {
  for (const Key& key : keys) {
    if (name == key.name) return key;
  }
  std::string message = "plan: there is no key '" + name + "'; there are";
  for (const Key& key : keys) message += std::string(" ") + key.name;
  refuse(message);
}

Plan paper_plan(const std::string& name) {
  constexpr Index warp = 32;
  constexpr Index k2_threshold = 8;
  // Formats without a sort (Mueller-Roemer et al. 2020, section 4.1).
  if (name == "CSR") return {};
  if (name == "ELL") return {.lanes = Plan::all_rows};
  if (name == "Sl-16") return {.lanes = 16};
  if (name == "Sl-32") return {.lanes = 32};
  // Kreutzer et al. 2012: all rows sorted, rows and columns permuted alike.
  if (name == "pJDS") return {.lanes = warp, .sort_window = Plan::all_rows};
  // Wong et al. 2015, sections 5.1 to 5.5.
  Plan plan{.lanes = warp, .sort_window = Plan::all_rows};
  if (name.starts_with("K2")) {
    plan.threshold = k2_threshold;
  } else if (!name.starts_with("K1")) {
    refuse("plan: '" + name +
           "' is neither key=value nor one of CSR ELL Sl-16 Sl-32 pJDS K1 K1r K1rs K2 K2r K2rs");
  }
  const std::string variant = name.substr(2);
  plan.use = variant.empty() ? BasisUse::scatter : BasisUse::permuted;
  plan.columns = variant == "rs" ? ColumnOrder::sorted : ColumnOrder::given;
  if (!variant.empty() && variant != "r" && variant != "rs") {
    refuse("plan: '" + name + "' is not a variant of " + name.substr(0, 2) + ": there are " +
           name.substr(0, 2) + ", r and rs");
  }
  return plan;
}

}  // namespace

std::string_view name(LoopForm loop) { return name_in(loop_names, loop); }

void check_plan(const Plan& plan) {
  if (plan.lanes != Plan::all_rows && (plan.lanes < 1 || plan.lanes > 64)) {
    refuse("plan: C=" + std::to_string(plan.lanes) + " is neither 1 to 64 nor n");
  }
  if (plan.lanes == Plan::all_rows && (plan.threads_per_row != 1 || plan.threshold != 0)) {
    refuse("plan: several threads a row (T, threshold) need slices of 1 to 64 lanes, not C=n");
  }
  if (plan.threads_per_row < 1 ||
      (plan.lanes != Plan::all_rows && plan.lanes % plan.threads_per_row != 0)) {
    refuse("plan: T=" + std::to_string(plan.threads_per_row) +
           " does not divide C=" + std::to_string(plan.lanes));
  }
  if (plan.threshold != 0 && plan.threads_per_row != 1) {
    refuse("plan: threshold chooses T for each slice; give one of T and threshold");
  }
  if (plan.prefetch_x > Plan::furthest_prefetch_x) {
    refuse("plan: prefetch-x=" + std::to_string(plan.prefetch_x) + " is more than " +
           std::to_string(Plan::furthest_prefetch_x));
  }
  if (plan.sort_window < 0 || plan.threshold < 0 || plan.chunk < 1 || plan.prefetch_x < 0 ||
      plan.prefetch_matrix < 0 || plan.blocks < 0) {
    refuse("plan: sigma, threshold, chunk, blocks and the prefetch distances are not negative");
  }
  const auto threads = static_cast<unsigned>(plan.threads);
  if (plan.threads < 64 || plan.threads > 1024 || plan.threads % 64 != 0 ||
      !(std::has_single_bit(threads) || (threads % 3 == 0 && std::has_single_bit(threads / 3)))) {
    refuse("plan: threads=" + std::to_string(plan.threads) +
           " is none of 64, 128, 192, 256, 384, 512, 768, 1024");
  }
  if (plan.unroll < 1 || plan.unroll > 8) {
    refuse("plan: unroll=" + std::to_string(plan.unroll) + " is not 1 to 8");
  }
  if (plan.kept < 0 || plan.kept > 100) {
    refuse("plan: kept=" + std::to_string(plan.kept) + " is not 0 to 100 percent");
  }
  if (plan.reductions < 1 || plan.reductions > 2) {
    refuse("plan: reductions=" + std::to_string(plan.reductions) + " is neither 1 nor 2");
  }
  if (plan.passes < 1 || plan.passes > 2) {
    refuse("plan: passes=" + std::to_string(plan.passes) + " is neither 1 nor 2");
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
  std::vector<std::string> seen;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part(text.substr(from, comma - from));
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      refuse("plan: '" + part + "' is not key=value; only the first part may be a name");
    }
    const std::string name = part.substr(0, equals);
    for (const std::string& other : seen) {
      if (other == name) refuse("plan: '" + name + "' is given twice");
    }
    seen.push_back(name);
    key_named(name).read(plan, part.substr(equals + 1));
    from = comma + 1;
  }
  const auto is_given = [&](const char* name) {
    return std::find(seen.begin(), seen.end(), name) != seen.end();
  };
  // So many blocks of another size are another bound on registers.
  if (is_given("threads") && !is_given("blocks")) plan.blocks = 0;
  check_plan(plan);
  return plan;
}

std::string to_string(const Plan& plan) {
  std::string text;
  for (const Key& key : keys) {
    if (!text.empty()) text += ",";
    text += std::string(key.name) + "=" + key.write(plan);
  }
  return text;
}

std::string to_json(const Plan& plan) {
  nlohmann::ordered_json object;
  for (const Key& key : keys) object[key.name] = key.write(plan);
  return object.dump();
}

Plan plan_from_json(std::string_view json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) refuse("plan: not a JSON object");
  Plan plan;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string() && !value.is_number_integer()) {
      refuse("plan: the value of '" + name + "' is neither text nor a whole number");
    }
    key_named(name).read(plan, value.is_string() ? value.get<std::string>() : value.dump());
  }
  check_plan(plan);
  return plan;
}

Plan layout_of(const Plan& plan) {
  Plan layout;
  layout.lanes = plan.lanes;
  layout.sort_window = plan.sort_window;
  layout.threads_per_row = plan.threads_per_row;
  layout.threshold = plan.threshold;
  layout.order = plan.order;
  layout.columns = plan.columns;
  layout.use = plan.use;
  layout.inner = plan.inner;
  layout.vector = plan.vector;
  layout.stored = plan.stored;
  return layout;
}

bool same_layout(const Plan& a, const Plan& b) { return layout_of(a) == layout_of(b); }

}  // namespace heddle
