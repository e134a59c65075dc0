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
  const bool dynamic = plan.schedule == ScheduleKind::dynamic;
  std::string text = report::schedule_name(plan.schedule);
  const auto of_kind = [&](bool wanted) {
    return matrix.best_of([&](const Plan& other) {
      return same_layout(plan, other) && (other.schedule == ScheduleKind::dynamic) == wanted;
    });
  };
  const Trial* const own = of_kind(dynamic);
  const Trial* const other = of_kind(!dynamic);
  if (own != nullptr && other != nullptr && own->seconds.median > 0) {
    text += " (" + report::schedule_name(other->plan.schedule) + " takes " +
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
      std::string(name(report.search)) + ", of the time of one " + timed_work(report.objective);
  if (report.memory_weight != 0) {
    char weight[64];
    std::snprintf(weight, sizeof weight, " x (memory over CSR's)^%g", report.memory_weight);
    text += weight;
  }
  char limit[96];
  std::snprintf(limit, sizeof limit, "; plans of more than %g times the memory of CSR are skipped",
                report.max_memory_ratio);
  text += limit;
  if (std::isfinite(report.seconds_limit)) {
    text += "; ends after " + report::readable_seconds(report.seconds_limit);
  }
  return text;
}

std::optional<LossLeftOut> loss_left_out(const std::vector<DomainRecord>& domains) {
  LossLeftOut loss;
  double sum = 0;
  for (const DomainRecord& domain : domains) {
    for (const double of_matrix : domain.left_out) {
      sum += std::log1p(of_matrix);
      loss.most = std::max(loss.most, of_matrix);
      ++loss.matrices;
    }
  }
  if (loss.matrices == 0) return {};
  loss.mean = std::expm1(sum / static_cast<double>(loss.matrices));
  return loss;
}

std::string left_out_text(const std::vector<DomainRecord>& domains) {
  const auto loss = loss_left_out(domains);
  if (!loss) return "";
  return "a matrix under the plan of a domain without it: takes " + loss_text(loss->mean) +
         " longer than under its own (geometric mean of " + std::to_string(loss->matrices) +
         " matrices; at most " + loss_text(loss->most) + ")";
}

std::string domain_text(const DomainRecord& domain) {
  const std::string loss = loss_text(domain.regret);
  return report::layout_name(domain.plan) + ", " + report::schedule_name(domain.plan.schedule) +
         (is_one_kernel(domain.plan) ? ", all iterations in one kernel" : "") + ": takes " + loss +
         " longer than each matrix's own plan (geometric mean of " +
         std::to_string(domain.fingerprints.size()) +
         (domain.fingerprints.size() == 1 ? " matrix)" : " matrices)");
}

}  // namespace heddle::tuning
