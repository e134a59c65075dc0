// What a domain's plan loses on matrices that it was not made for.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "heddle/tune.hpp"

namespace heddle::tuning {

struct EvaluatedMatrix {
  std::string name;
  Evaluation evaluation;
};

/// Geometric mean of 1 + loss, less 1; none where there is no matrix, or one whose plan cannot run.
std::optional<double> mean_loss(const std::vector<EvaluatedMatrix>& matrices);

/// A line for each matrix and the geometric mean, at most 120 columns wide.
void print_evaluations(const std::vector<EvaluatedMatrix>& matrices, std::ostream& out);
nlohmann::ordered_json evaluations_json(const std::vector<EvaluatedMatrix>& matrices);

}  // namespace heddle::tuning
