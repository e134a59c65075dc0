// Checks of a command and its case, before anything is written.
#pragma once

#include "run_case.hpp"

namespace heddle::heart {

/// Checks before anything is read. Throws `Error` (usage, io).
void check_outputs(const RunOptions& options);

/// Checks that the command fits a case that was read. Throws `Error` (usage, io).
void check_case_fits(const RunOptions& options, const Case& given);

}  // namespace heddle::heart
