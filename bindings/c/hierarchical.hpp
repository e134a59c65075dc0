// Operators in hierarchical storage.
#pragma once

#include <memory>
#include <memory_resource>

#include "handles.hpp"

namespace heddle::c {

/// Rows of a node; 0 is what profiles have, or the rule.
NodeLayout nodes_of(const heddle_matrix& matrix, int node, const Device& device);

/// `node`: as `nodes_of`.
OperatorParts tree_of(const heddle_matrix& given, int node, const Device& device,
                      std::shared_ptr<std::pmr::memory_resource> memory);

}  // namespace heddle::c
