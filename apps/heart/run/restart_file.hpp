// The state of a run in progress, as a file from which it continues with the same bits.
#pragma once

#include <string>

#include "run_identity.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// Writes the whole file or none.
void write_restart(const std::string& path, const SystemState& state, const Identity& identity);

/// Throws `Error`: io; malformed_file for a file that is not a state, is cut off or damaged, or is
/// the state of another run, with all differences listed.
SystemState read_restart(const std::string& path, const RunIdentity& run);

}  // namespace heddle::heart
