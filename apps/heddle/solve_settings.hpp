// What a solve makes of its options, however its matrix is stored.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solve_options.hpp"
#include "solve_report.hpp"
#include "solve_watch.hpp"

namespace heddle::cli {

/// The options' text, which may be auto.
std::string preconditioner_of(const SolveOptions& options);

/// What is wrong with the options is said before a long read and a longer solve.
void check(const SolveOptions& options, const Device& device);
/// Throws `Error` (usage) where the solver that is named does not take so many.
void check_block_columns(const SolveOptions& options, std::size_t right_hand_sides);
void check_square(const AnyMatrix& matrix, const SolveOptions& options);

double tolerance_of(const SolveOptions& options, Precision precision);
SolverOptions settings_of(const SolveOptions& options, SolveWatch& watch);

/// The plan of the text. Iterations of a shifted matrix, and of methods without a listing, read the
/// matrix itself: a copy in floats would serve nobody.
PlanChoice choose(const SolveOptions& options, const AnyMatrix& matrix, const MethodInfo& method,
                  const Device& device, const Profiles& profiles);
PlanChoice choose(const SolveOptions& options, const PlanSubject& matrix, const MethodInfo& method,
                  const Device& device, const Profiles& profiles);

/// What is known of a solve before it has a method.
SolveOutcome outcome_of(const SolveOptions& options, const AnyMatrix& matrix,
                        const ChosenPreconditioner& preconditioner);

/// Solves as often as the options say, each time from the guess; `outcome` gets the reports, and of
/// the one that it tells most of the median time. `solver` is asked for each time; where
/// `gives_way` says that another method is to solve, it has made another solver.
std::vector<AnyField> solve_repeatedly(const SolveOptions& options, SolveWatch& watch,
                                       const std::vector<AnyField>& b,
                                       const std::vector<AnyField>& guess,
                                       const std::function<AnySolver&()>& solver,
                                       const std::function<bool()>& gives_way,
                                       SolveOutcome& outcome);

/// The picture and the table that the options ask for. `residuals`: of the system of the report.
void write_history(const SolveOptions& options, const SolveOutcome& outcome,
                   const std::vector<double>& residuals);

/// Prints the report. Returns the exit status.
int tell(const SolveOptions& options, const SolveOutcome& outcome, const Device& device);

}  // namespace heddle::cli
