#include "evaluation_table.hpp"

#include <cmath>

#include "amounts.hpp"
#include "plan_names.hpp"
#include "summary.hpp"
#include "text_table.hpp"

namespace heddle::tuning {

namespace {

std::string median_of(const Trial& trial) {
  return trial.outcome == Trial::Outcome::measured ? report::readable_seconds(trial.seconds.median)
                                                   : std::string(name(trial.outcome));
}

nlohmann::ordered_json line_of(const Trial& trial) {
  nlohmann::ordered_json json = {{"plan", to_string(trial.plan)},
                                 {"outcome", name(trial.outcome)},
                                 {"memory_ratio", trial.memory_ratio}};
  if (!trial.reason.empty()) json["reason"] = trial.reason;
  if (trial.outcome == Trial::Outcome::measured) json["median"] = trial.seconds.median;
  return json;
}

}  // namespace

std::optional<double> mean_loss(const std::vector<EvaluatedMatrix>& matrices) {
  std::vector<double> losses;
  losses.reserve(matrices.size());
  for (const EvaluatedMatrix& matrix : matrices) losses.push_back(matrix.evaluation.loss);
  return mean_of_losses(losses);
}

void print_evaluations(const std::vector<EvaluatedMatrix>& matrices, std::ostream& out) {
  report::TextTable table({{"matrix", true, 12},
                           {"domain", true, 10},
                           {"its plan", true, 20},
                           {"takes"},
                           {"best plan of this matrix", true, 20},
                           {"takes"},
                           {"loss"}});
  for (const auto& [name, e] : matrices) {
    table.add({name, e.domain, report::layout_name(e.plan.plan), median_of(e.plan),
               report::layout_name(e.best.plan), median_of(e.best), loss_text(e.loss)});
  }
  table.print(out);
  if (const auto mean = mean_loss(matrices)) {
    out << "\nloss, geometric mean of " << matrices.size()
        << (matrices.size() == 1 ? " matrix: " : " matrices: ") << loss_text(*mean) << "\n";
  }
}

nlohmann::ordered_json evaluations_json(const std::vector<EvaluatedMatrix>& matrices) {
  nlohmann::ordered_json json;
  auto& list = json["matrices"] = nlohmann::ordered_json::array();
  for (const auto& [name, e] : matrices) {
    list.push_back({{"name", name},
                    {"domain", e.domain},
                    {"plan", line_of(e.plan)},
                    {"best", line_of(e.best)},
                    {"loss", std::isfinite(e.loss) ? nlohmann::ordered_json(e.loss) : nullptr}});
  }
  const auto mean = mean_loss(matrices);
  json["mean_loss"] = mean ? nlohmann::ordered_json(*mean) : nullptr;
  return json;
}

}  // namespace heddle::tuning
