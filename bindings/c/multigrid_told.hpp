// What multigrid is told by the options of heddle.h.
#pragma once

#include <cstdint>

#include "heddle.h"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "named_entry.hpp"

namespace heddle::c {

/// `choice` with the strength, coordinates and candidates of `given`, which may be null; of a
/// matrix with so many rows. Throws `Error`.
MultigridChoice told_by(const heddle_multigrid_options* given, MultigridChoice choice,
                        const NamedEntry& entry, std::int64_t rows, Precision precision);

}  // namespace heddle::c
