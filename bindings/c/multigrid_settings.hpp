// Settings of heddle.h for multigrid.
#pragma once

#include <cstdint>
#include <string>

#include "heddle.h"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "named_entry.hpp"

namespace heddle::c {

/// `choice` changed by the settings, which may be null, for a matrix of `rows` rows. Throws
/// `Error`.
MultigridChoice choice_by_settings(const heddle_settings* settings, MultigridChoice choice,
                                   const NamedEntry& entry, std::int64_t rows, Precision precision);
/// A setting of multigrid that is given; empty if there is none.
std::string first_of_multigrid(const heddle_settings* settings);

}  // namespace heddle::c
