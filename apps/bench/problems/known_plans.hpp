// Plans that measurements found near the best for matrices of a kind.
#pragma once

#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::bench {

/// Texts for `cli::plan_for`: changes of the chosen plan that have been fastest somewhere, as
/// docs/inside/tried.md reports. They are tried; none has to be better than the chosen plan.
std::vector<std::string> known_plans(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::bench
