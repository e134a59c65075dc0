// Ranks that are processes of MPI: the library heddle_mpi, heddle::mpi in CMake.
#pragma once

#include <mpi.h>

#include <memory>

#include "heddle/communicator.hpp"

namespace heddle {

/// The ranks of `communicator`, which is duplicated. Collective. MPI must have been initialized for
/// MPI_THREAD_SERIALIZED or more, or `Error` (usage) says so. Where a rank has failed, its reason
/// reaches the others by a message of its own; messages of an exchange may then be left over, so
/// that MPI_Abort should end the program. A process that dies is mpirun's to notice.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator);

}  // namespace heddle
