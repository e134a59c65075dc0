// The charts and small tables of a suite on the page of a run.
#pragma once

#include <string>

#include "records/record.hpp"
#include "records/record_groups.hpp"

namespace heddle::bench {

/// HTML of the figures that fit the suite and for which it has data.
std::string figures_of(const Run& run, const Suite& suite);

}  // namespace heddle::bench
