// A run on its way, as a file from which it goes on with the same bits.
#pragma once

#include <cstdint>
#include <string>

#include "heart_system.hpp"

namespace heddle::heart {

/// What a state belongs to: another mesh, numbering, time scheme, membrane or guess would not go on
/// as the run did.
std::uint64_t fingerprint_of(const Model& model, const HeartSystem& system, const Case& given);

/// The whole file or none.
void write_restart(const std::string& path, const SystemState& state, std::uint64_t fingerprint);

/// Throws `Error`: io; malformed_file for a file that is none of these, is cut off, or belongs to
/// something else.
SystemState read_restart(const std::string& path, std::uint64_t fingerprint);

}  // namespace heddle::heart
