// Plans that measurements found near the best for matrices of a kind.
#pragma once

#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::bench {

/// Texts for `cli::plan_for`: changes of the chosen plan that have been the fastest somewhere, as
/// docs/inside/tried.md tells. They are tried; none has to be better than the chosen one.
std::vector<std::string> known_plans(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::bench
