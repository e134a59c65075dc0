// Operators in hierarchical storage.
#pragma once

#include <memory>
#include <memory_resource>

#include "handles.hpp"

namespace heddle::c {

/// As options name them, else what profiles have, or the rule. Throws `Error` (usage) for a text
/// that names none, and for a launch on a CPU.
NodeLayout nodes_of(const heddle_matrix& matrix, const StorageSettings& storage,
                    const Device& device);

OperatorParts tree_of(const heddle_matrix& given, const NodeLayout& nodes, const Device& device,
                      std::shared_ptr<std::pmr::memory_resource> memory);

}  // namespace heddle::c
