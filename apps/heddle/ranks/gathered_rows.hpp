// A field whose rows are distributed over ranks, gathered on each of them.
#pragma once

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

/// `part`: this rank's rows; `all`: room for all rows, in their order. Collective.
void gather_rows(Communicator& ranks, const Partition& partition, AnyField& part, AnyField& all);

}  // namespace heddle::cli
