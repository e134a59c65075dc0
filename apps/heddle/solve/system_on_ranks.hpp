// Reading of a system that ranks share.
#pragma once

#include <optional>

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "io/npz_rows.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// The part of a system that a rank knows before rank 0 shares it, which alone has read it. Checks
/// the options.
ChosenSystem system_of_others(const SolveOptions& options, const Device& device);

/// Chooses no preconditioner if one rank's rows have no Jacobi, after each rank chose by its own
/// rows. Collective.
void agree_on_preconditioner(ChosenSystem& system, Communicator& ranks);

/// Gives each rank its rows, and the choices of rank 0: `system` is from `choose_on_ranks` there,
/// and from `system_of_others` elsewhere. `partition` is that of rank 0. Collective.
void share_system(const MatrixOptions& options, ChosenSystem& system,
                  std::optional<Partition>& partition, Communicator& ranks);

/// The named entry, or that of the matrix that rank 0 has read. Collective.
AnyEntry entry_of_first(const MatrixOptions& options, const AnyMatrix& matrix, Communicator& ranks);

/// The file, if each rank can read its own rows from it. The method must be named, since it is
/// chosen by all entries otherwise, and rows of entries must be rows of the file. Checks the
/// options before it reads the file's sizes.
std::optional<NpzRows> file_by_rows(const SolveOptions& options, const Device& device);

/// The rows of this rank; not collective. Checks the options. If a plan is to be chosen, rank 0
/// also reads the places of all entries; the other ranks are to take the plan of rank 0.
ChosenSystem read_own_rows(const SolveOptions& options, const NpzRows& file,
                           const Partition& partition, int rank, const Device& device,
                           NpzRows::Sums& sums);
/// Throws `Error` (malformed_file) on all ranks unless the data they have read is what was written.
/// Collective.
void check_sums(const NpzRows& file, const NpzRows::Sums& mine, Communicator& ranks);

}  // namespace heddle::cli
