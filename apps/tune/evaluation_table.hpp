// Losses of a domain's plan on matrices that it was not made for.
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

/// Geometric mean of 1 + loss, less 1; none without matrices, or if a matrix's plan cannot run.
std::optional<double> mean_loss(const std::vector<EvaluatedMatrix>& matrices);

/// Prints a line for each matrix and the geometric mean, at most 120 columns wide.
void print_evaluations(const std::vector<EvaluatedMatrix>& matrices, std::ostream& out);
nlohmann::ordered_json evaluations_json(const std::vector<EvaluatedMatrix>& matrices);

}  // namespace heddle::tuning
