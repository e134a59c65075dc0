// Operators in hierarchical storage.
#pragma once

#include <memory>
#include <memory_resource>

#include "handles.hpp"

namespace heddle::c {

/// The nodes that the options name, else those of profiles, or of the rule. Throws `Error` (usage)
/// for an invalid text, and for a launch on a CPU.
NodeLayout nodes_of(const heddle_matrix& matrix, const StorageSettings& storage,
                    const Device& device);

OperatorParts tree_of(const heddle_matrix& given, const NodeLayout& nodes, const Device& device,
                      std::shared_ptr<std::pmr::memory_resource> memory);

}  // namespace heddle::c
