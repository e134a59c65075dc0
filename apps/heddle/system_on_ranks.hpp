// A system that ranks share, as it is read.
#pragma once

#include <optional>

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "io/npz_rows.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// What a rank knows before rank 0 shares a system that it alone has read. Checks the options.
ChosenSystem system_of_others(const SolveOptions& options, const Device& device);

/// None where one rank's rows have no Jacobi, after each chose by its own. Collective.
void agree_on_preconditioner(ChosenSystem& system, Communicator& ranks);

/// Each rank gets its rows, and what rank 0 has chosen: `system` is `choose_on_ranks` there,
/// and `system_of_others` elsewhere. `partition` is that of rank 0. Collective.
void share_system(const MatrixOptions& options, ChosenSystem& system,
                  std::optional<Partition>& partition, Communicator& ranks);

/// The entry that is named, or that of the matrix that rank 0 has read. Collective.
AnyEntry entry_of_first(const MatrixOptions& options, const AnyMatrix& matrix, Communicator& ranks);

/// The file, if each rank can read its rows of it: where the method is named, which is chosen by
/// all entries otherwise, and rows of entries are rows of the file. Checks the options before it
/// reads the file's sizes.
std::optional<NpzRows> file_by_rows(const SolveOptions& options, const Device& device);

/// The rows of this rank, which calls no other. Checks the options. Rank 0 reads where all entries
/// lie, too, if a plan is to be chosen; the plan of others is to be that of rank 0.
ChosenSystem read_own_rows(const SolveOptions& options, const NpzRows& file,
                           const Partition& partition, int rank, const Device& device,
                           NpzRows::Sums& sums);
/// Throws `Error` (malformed_file) on all ranks unless what they have read is what was written.
/// Collective.
void check_sums(const NpzRows& file, const NpzRows::Sums& mine, Communicator& ranks);

}  // namespace heddle::cli
