// A run on its way, as a file from which it goes on with the same bits.
#pragma once

#include <cstdint>
#include <string>

#include "case_file.hpp"
#include "model.hpp"
#include "tissue_system.hpp"

namespace heddle::heart {

/// A number of mesh, plan, time scheme, membranes, guess and tables: with others a state would not
/// go on as its run did.
std::uint64_t fingerprint_of(const Model& model, const TissueSystem& system, const Case& given);

/// The whole file or none.
void write_restart(const std::string& path, const SystemState& state, std::uint64_t fingerprint);

/// Throws `Error`: io; malformed_file for a file that is none of these, is cut off or
/// damaged, or belongs to something else.
SystemState read_restart(const std::string& path, std::uint64_t fingerprint);

}  // namespace heddle::heart
