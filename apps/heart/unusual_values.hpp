// Numbers of a case that are allowed, and most likely of another unit than they should be.
#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"

namespace heddle::heart {

/// A line for each such kind of number, which names the first of them: "case.json: regions[0]: the
/// conductivity along fibres is 0.00013 S/m; usual is 0.003 to 1".
std::vector<std::string> unusual_values(const Case& given);

}  // namespace heddle::heart
