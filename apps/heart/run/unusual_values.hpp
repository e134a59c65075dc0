// Numbers of a case that are allowed, but most likely in the wrong unit.
#pragma once

#include <string>
#include <vector>

#include "case_file.hpp"

namespace heddle::heart {

/// One line for each kind of such number, naming the first of them: "case.json: regions[0]: the
/// conductivity along fibres is 0.00013 S/m; usual is 0.003 to 1".
std::vector<std::string> unusual_values(const Case& given);

}  // namespace heddle::heart
