// Parameters of membrane models, as seen by reports and checks.
#pragma once

#include <string>
#include <vector>

#include "membrane_cells.hpp"

namespace heddle::heart {

/// A number of a model that a case may set.
struct KnownParameter {
  std::string name;
  std::string unit;  // "1" for a plain number
  double own = 0;    // the default for the type of cells
  double least = 0;  // bounds of usual values
  double most = 0;
  bool may_be_zero = false;  // even if `least` is above 0

  bool is_usual(double value) const {
    return (may_be_zero && value == 0) || (value >= least && value <= most);
  }
};

/// Parameters of the chosen model and type, in the model's order; none for a model that does not
/// exist. Throws `Error` (usage) for a type that the model does not have.
std::vector<KnownParameter> parameters_of(const MembraneChoice& choice);

}  // namespace heddle::heart
