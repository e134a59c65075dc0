// A run on its way, as a file from which it goes on with the same bits.
#pragma once

#include <string>

#include "run_identity.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// The whole file or none.
void write_restart(const std::string& path, const SystemState& state, const Identity& identity);

/// Throws `Error`: io; malformed_file for a file that is none of these, is cut off or damaged, or
/// is the state of another run, with all that differs.
SystemState read_restart(const std::string& path, const RunIdentity& run);

}  // namespace heddle::heart
