// What a solve makes of its options, however its matrix is stored.
#pragma once

#include <string>
#include <vector>

#include "solve_options.hpp"
#include "solve_report.hpp"
#include "solve_watch.hpp"

namespace heddle::cli {

std::string preconditioner_of(const SolveOptions& options);

/// What is wrong with the options is said before a long read and a longer solve.
void check(const SolveOptions& options, const Device& device);
void check_square(const AnyMatrix& matrix, const SolveOptions& options);

double tolerance_of(const SolveOptions& options, Precision precision);
SolverOptions settings_of(const SolveOptions& options, SolveWatch& watch);

/// The plan of the text. Iterations of a shifted matrix, and of methods without a listing, read the
/// matrix itself: a copy in floats would serve nobody.
PlanChoice choose(const SolveOptions& options, const AnyMatrix& matrix, const MethodInfo& method,
                  const Device& device, const Profiles& profiles);

/// The picture and the table that the options ask for. `residuals`: of the system of the report.
void write_history(const SolveOptions& options, const SolveOutcome& outcome,
                   const std::vector<double>& residuals);
/// One behind the other.
void write_fields(const std::string& path, const std::vector<AnyField>& fields,
                  const AnyEntry& entry, const Device& device, Progress* progress);

/// Prints the report. Returns the exit status.
int tell(const SolveOptions& options, const SolveOutcome& outcome, const Device& device);

}  // namespace heddle::cli
