// A system that a run solves, in files that `heddle solve --entry block3` reads.
#pragma once

#include <string>

#include "elastic_system.hpp"

namespace heddle::elastic {

std::string dumped_matrix(const std::string& prefix);
std::string dumped_right_hand_side(const std::string& prefix);

/// Writes the system's current matrix, PREFIX.npz, and a right-hand side, PREFIX-rhs.mtx, in the
/// order of the mesh.
void dump_system(const std::string& prefix, const ElementPattern& pattern,
                 const ElasticSystem& system, const VertexField& right_hand_side);

}  // namespace heddle::elastic
