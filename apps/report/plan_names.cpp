#include "plan_names.hpp"

#include <sstream>

#include "heddle/error.hpp"

namespace heddle::report {

namespace {

std::string outer_name(const Plan& plan) {
  if (plan.layout.lanes == 1) return "CSR";
  if (plan.layout.lanes == Layout::all_rows) return "ELL";
  if (plan.layout.lanes == 32 && plan.layout.sort_window == Layout::all_rows) return "pJDS";
  return "Sl-" + std::to_string(plan.layout.lanes);
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

std::string short_plan(const std::string& full) {
  try {
    return to_string(parse_plan(full));
  } catch (const Error&) {
    return full;
  }
}

std::string layout_name(const Plan& plan) {
  const Layout& layout = plan.layout;
  const std::string outer = outer_name(plan);
  std::string text = outer + "-" + inner_name(layout.inner) +
                     (layout.vector == VectorLayout::soa ? "-SoA" : "-AoS");
  if (layout.sort_window != 1 && outer != "pJDS") {
    const bool all = layout.sort_window == Layout::all_rows;
    text += ", sigma=" + (all ? "n" : std::to_string(layout.sort_window));
  }
  if (layout.threads_per_row != 1)
    text += ", threads-per-row=" + std::to_string(layout.threads_per_row);
  if (layout.threshold != 0) text += ", threshold=" + std::to_string(layout.threshold);
  if (layout.order == RowOrder::reverse_cuthill_mckee) text += ", order=rcm";
  if (layout.columns == ColumnOrder::given) text += ", columns=given";
  if (layout.basis == BasisUse::user) text += ", basis=user";
  if (layout.column_bits != 32) text += ", column-bits=" + std::to_string(layout.column_bits);
  if (layout.stored != StoredScalar::own) {
    text += ", iteration-precision=" + std::string(name(layout.stored));
  }
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
