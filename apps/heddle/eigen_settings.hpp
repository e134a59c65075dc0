// What `heddle eigen` makes of its options, on ranks or without them.
#pragma once

#include "eigen_report.hpp"
#include "heddle/communicator.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle::cli {

/// What is wrong with the options is said before a long read and a longer solve.
void check(const EigenCommand& options, const Device& device);
/// `progress` may be null, and must outlive the solver.
EigenOptions settings_of(const EigenCommand& options, Progress* progress);
/// Throws `Error` (size_mismatch) for a matrix that is not square.
AnyMatrix read_square(const EigenCommand& options, const std::string& path, Progress* progress);
Objective product_objective(const EigenCommand& options);

/// Facts known before the solve: the matrix, and the preconditioner that it is to have.
FoundPairs found_in(const EigenCommand& options, const AnyMatrix& matrix, const Device& device);
/// Of the vectors over the entry's ring; at least 1.
int dimensions_of(const AnyLinearOperator& matrix);

/// Vectors of all rows into files, and the report. `progress` may be null.
void write_and_tell(const EigenCommand& options, std::vector<AnyField>& x, const Device& device,
                    TerminalProgress* progress, FoundPairs& found);

/// On ranks that are threads of this process.
int eigen_on_ranks(const EigenCommand& options);
/// On ranks that are there. Collective.
int eigen_on_ranks(const EigenCommand& options, Communicator& ranks);

}  // namespace heddle::cli
