// Ranks that are processes of MPI: the library heddle_mpi, heddle::mpi in CMake.
#pragma once

#include <mpi.h>

#include <memory>

#include "heddle/communicator.hpp"

namespace heddle {

/// The ranks of `communicator`, which is duplicated. Collective. MPI must have been initialized for
/// MPI_THREAD_SERIALIZED or more, or `Error` (usage) says so. Where a rank has failed, its reason
/// reaches the others by a message of its own, and calls of MPI are left over whose memory is gone:
/// `finalize_mpi`, or MPI_Abort, is then to end the program, and no other call of MPI may come
/// before. A process that dies is mpirun's to notice.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator);

/// The end of a program whose rank ends with `status`: MPI_Finalize where all ranks come here.
/// Where one has called `fail`, or comes here with a status of 2 or more while others still work,
/// MPI_Abort ends all ranks. Rank 0 has half a minute to come here first, with its message printed.
void finalize_mpi(std::unique_ptr<Communicator> ranks, int status);

}  // namespace heddle
