// Partitions by the texts that users write.
#pragma once

#include <span>
#include <string>

#include "heddle/export.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

/// "entries", "rows", "metis" or "scotch", for any number of ranks; else first rows, "0,256,1024".
HEDDLE_EXPORT bool names_any_ranks(const std::string& text);

/// Throws `Error` (usage) for a text that is neither such a name nor first rows, or that has those
/// of another number of ranks.
HEDDLE_EXPORT Partition named_partition(const std::string& text, const PatternView& pattern,
                                        int ranks);
/// Same, except by METIS or SCOTCH, for rows of which only the entries of each group of 256 are
/// known: none are needed unless by entries.
HEDDLE_EXPORT Partition named_partition(const std::string& text, long long rows,
                                        std::span<const long long> entries_of_groups, int ranks);

}  // namespace heddle::detail
