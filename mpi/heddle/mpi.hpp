// Ranks that are processes of MPI: the library heddle_mpi, heddle::mpi in CMake.
#pragma once

#include <mpi.h>

#include <memory>

#include "heddle/communicator.hpp"

namespace heddle {

/// The ranks of `communicator`, which is duplicated. Collective. Throws `Error` (usage) unless MPI
/// has been initialized for MPI_THREAD_SERIALIZED or more. If a rank fails, a separate message
/// carries its reason to the others, and pending calls of MPI refer to memory that is gone. The
/// program must then end by `finalize_mpi` or MPI_Abort, with no other call of MPI before. It is up
/// to mpirun to notice a process that dies.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator);

/// Ends a program whose rank ends with `status`: by MPI_Finalize if all ranks come here. If one has
/// called `fail`, or comes here with a status of 2 or more while others still work, MPI_Abort ends
/// all ranks. Rank 0 has half a minute to come here first, with its message printed.
void finalize_mpi(std::unique_ptr<Communicator> ranks, int status);

}  // namespace heddle
