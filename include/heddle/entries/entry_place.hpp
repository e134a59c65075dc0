// The place of an entry, for a user's assembly kernel that needs more than an element's numbers.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The place of an entry that has been summed: its row and column as the matrix's bases number
/// them, and its slot.
struct HEDDLE_EXPORT EntryPlace {
  Offset slot;
  Index row;
  Index column;
};

}  // namespace heddle
