// Parameters of membrane models, as reports and checks see them.
#pragma once

#include <string>
#include <vector>

#include "membrane_cells.hpp"

namespace heddle::heart {

/// A number of a model that a case may set.
struct KnownParameter {
  std::string name;
  std::string unit;  // "1" for a plain number
  double own = 0;    // of the type of cells
  double least = 0;  // of usual values
  double most = 0;
  bool may_be_zero = false;  // though `least` is above 0

  bool is_usual(double value) const {
    return (may_be_zero && value == 0) || (value >= least && value <= most);
  }
};

/// Of the model and type that are chosen, in the order in which the model has them; none of a model
/// that there is not. Throws `Error` (usage) for a type that the model does not have.
std::vector<KnownParameter> parameters_of(const MembraneChoice& choice);

}  // namespace heddle::heart
