// Problems of the suite `assembly`.
#pragma once

#include "mesh_elements.hpp"
#include "problem.hpp"

namespace heddle::bench {

/// A tetrahedral mesh of about `rows` nodes. Its matrix is the sum of the element matrices, formed
/// by a loop over the elements that shares no code with assemblies. Entries are real numbers or 3x3
/// blocks.
Problem make_mesh_problem(const ProblemName& problem);

}  // namespace heddle::bench
