// Output of `heddle tune --storage hisparse`: the sizes of nodes that it measured.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "heddle/tuning/tree_record.hpp"

namespace heddle::tuning {

/// For each matrix a line for each size, with stars at the fastest for A x, for A* x and for both.
void print_nodes(const std::vector<TreeRecord>& trees, const std::string& device,
                 std::ostream& out);
nlohmann::ordered_json nodes_json(const std::vector<TreeRecord>& trees, const std::string& device);

}  // namespace heddle::tuning
