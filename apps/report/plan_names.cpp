#include "plan_names.hpp"

#include <algorithm>
#include <sstream>

namespace heddle::report {

namespace {

std::string outer_name(const Plan& plan) {
  if (plan.lanes == 1) return "CSR";
  if (plan.lanes == Plan::all_rows) return "ELL";
  if (plan.lanes == 32 && plan.sort_window == Plan::all_rows) return "pJDS";
  return "Sl-" + std::to_string(plan.lanes);
}

std::string inner_name(InnerLayout inner) {
  switch (inner) {
    case InnerLayout::aos:
      return "AoS";
    case InnerLayout::soa:
      return "SoA";
    case InnerLayout::aosoa_component:
      return "AoSoA";
    case InnerLayout::aosoa_16:
      return "AoSoA16";
  }
  return "";
}

}  // namespace

std::vector<std::string> settings_of(const std::string& plan) {
  std::vector<std::string> settings;
  std::istringstream text(plan);
  for (std::string setting; std::getline(text, setting, ',');) settings.push_back(setting);
  return settings;
}

std::string short_plan(const std::string& canonical) {
  static const std::vector<std::string> usual = settings_of(to_string(Plan{}));
  std::string text;
  for (const std::string& setting : settings_of(canonical)) {
    if (std::find(usual.begin(), usual.end(), setting) != usual.end()) continue;
    text += (text.empty() ? "" : ",") + setting;
  }
  return text.empty() ? "CSR" : text;
}

std::string layout_name(const Plan& plan) {
  const std::string outer = outer_name(plan);
  std::string text =
      outer + "-" + inner_name(plan.inner) + (plan.vector == VectorLayout::soa ? "-SoA" : "-AoS");
  if (plan.sort_window != 1 && outer != "pJDS") {
    const bool all = plan.sort_window == Plan::all_rows;
    text += ", sigma=" + (all ? "n" : std::to_string(plan.sort_window));
  }
  if (plan.threads_per_row != 1) text += ", T=" + std::to_string(plan.threads_per_row);
  if (plan.threshold != 0) text += ", threshold=" + std::to_string(plan.threshold);
  if (plan.order == RowOrder::reverse_cuthill_mckee) text += ", order=rcm";
  if (plan.columns == ColumnOrder::given) text += ", columns=given";
  if (plan.use == BasisUse::scatter) text += ", use=scatter";
  if (plan.stored == StoredScalar::single) text += ", stored=float";
  return text;
}

std::string schedule_name(ScheduleKind schedule) {
  switch (schedule) {
    case ScheduleKind::fixed:
      return "static";
    case ScheduleKind::dynamic:
      return "dynamic";
    case ScheduleKind::full:
      return "full";
  }
  return "";
}

}  // namespace heddle::report
