// Checks of a command and its case, before anything is written.
#pragma once

#include "run_case.hpp"

namespace heddle::heart {

/// Before anything is read. Throws `Error` (usage, io).
void check_outputs(const RunOptions& options);

/// Whether the command and a case that was read go together. Throws `Error` (usage, io).
void check_case_fits(const RunOptions& options, const Case& given);

}  // namespace heddle::heart
