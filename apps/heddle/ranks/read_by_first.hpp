// Transfer of a matrix that rank 0 has read to the ranks that own its rows.
#pragma once

#include <optional>

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle::cli {

/// Returns on all ranks the partition that rank 0 passes. Collective.
Partition partition_of_first(Communicator& ranks, const std::optional<Partition>& mine);

/// This rank's rows, in its order, of the matrix that rank 0 passes; the others pass null. All
/// ranks know the entry and the precision. Collective.
AnyMatrix rows_of_first(Communicator& ranks, const Partition& partition, const AnyMatrix* whole,
                        const AnyEntry& entry, Precision precision);

}  // namespace heddle::cli
