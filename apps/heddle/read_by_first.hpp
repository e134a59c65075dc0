// What rank 0 has read, on its way to the ranks that have the rows.
#pragma once

#include <optional>

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle::cli {

/// The partition that rank 0 passes, on all ranks. Collective.
Partition partition_of_first(Communicator& ranks, const std::optional<Partition>& mine);

/// This rank's rows, in its order, of the matrix that rank 0 passes; the others pass null. Entry
/// and precision are known to all. Collective.
AnyMatrix rows_of_first(Communicator& ranks, const Partition& partition, const AnyMatrix* whole,
                        const AnyEntry& entry, Precision precision);

}  // namespace heddle::cli
