#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "amounts.hpp"
#include "plan_names.hpp"

namespace heddle::tuning {

bool was_measured(const ProfileRecord& record) { return record.seconds.runs > 0; }

std::string preferred_schedule(const MatrixReport& matrix) {
  if (!matrix.record) return "";
  const Plan& plan = matrix.record->plan;
  const bool dynamic = plan.schedule.kind == ScheduleKind::dynamic;
  std::string text = report::schedule_name(plan.schedule.kind);
  const auto of_kind = [&](bool wanted) {
    return matrix.best_of([&](const Plan& other) {
      return plan.layout == other.layout &&
             (other.schedule.kind == ScheduleKind::dynamic) == wanted;
    });
  };
  const Trial* const own = of_kind(dynamic);
  const Trial* const other = of_kind(!dynamic);
  if (own != nullptr && other != nullptr && own->seconds.median > 0) {
    text += " (" + report::schedule_name(other->plan.schedule.kind) + " takes " +
            times(other->seconds.median / own->seconds.median) + ")";
  }
  return text;
}

std::string loss_text(double loss) {
  if (!std::isfinite(loss)) return "cannot run";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * loss);
  return text;
}

std::string times(double ratio) {
  return std::isfinite(ratio) ? report::readable_ratio(ratio) + "x" : std::string();
}

std::string search_text(const TuneReport& report) {
  std::string text =
      std::string(name(report.search)) + ", by the time of one " + timed_work(report.objective);
  if (report.memory_weight != 0) {
    char weight[64];
    std::snprintf(weight, sizeof weight, " x (memory over CSR's)^%g", report.memory_weight);
    text += weight;
  }
  char limit[96];
  std::snprintf(limit, sizeof limit,
                "; plans that take more than %g times the memory of CSR are skipped",
                report.max_memory_ratio);
  text += limit;
  if (std::isfinite(report.seconds_limit)) {
    text += "; ends after " + report::readable_seconds(report.seconds_limit);
  }
  return text;
}

std::optional<double> mean_of_losses(const std::vector<double>& losses) {
  if (losses.empty()) return {};
  double sum = 0;
  for (const double loss : losses) sum += std::log1p(loss);
  if (!std::isfinite(sum)) return {};
  return std::expm1(sum / static_cast<double>(losses.size()));
}

std::string domain_text(const DomainRecord& domain) {
  std::string text;
  switch (domain.use) {
    case DomainUse::plan:
      text = report::layout_name(domain.plan) + ", " +
             report::schedule_name(domain.plan.schedule.kind);
      break;
    case DomainUse::storage:
    case DomainUse::order:
      text = plan_for_others(domain.plan, domain.use) + ", the rest as predicted for each matrix";
      break;
    case DomainUse::predicted:
      text = "the plan predicted for each matrix";
      break;
  }
  text += ": takes " + loss_text(domain.regret) +
          " longer than each matrix's own plan (geometric mean of " +
          std::to_string(domain.fingerprints.size()) +
          (domain.fingerprints.size() == 1 ? " matrix)" : " matrices)");
  if (const auto loss = mean_of_losses(domain.left_out)) {
    text += "; on a matrix that was left out of the set, " + loss_text(*loss) + " (at most " +
            loss_text(*std::max_element(domain.left_out.begin(), domain.left_out.end())) + ")";
  }
  return text;
}

}  // namespace heddle::tuning
