// The choice of the method and the plan that solve a system, where the options leave it open.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "right_hand_side.hpp"
#include "solve_options.hpp"
#include "solve_report.hpp"

namespace heddle::cli {

struct ReadMatrix {
  AnyMatrix matrix;
  double seconds = 0;  // time that reading took
};

/// The matrix read under checked options; the rest serves to choose method and plan.
struct ReadSystem {
  ReadMatrix read;
  ComposedChoice preconditioner;
  Profiles profiles;
};

/// A part of the rows of a matrix, used to choose how to solve with all of them.
struct RowsOnRanks {
  Index first_row = 0;
  Index of_all;
  /// Also describes all rows; null if another rank chooses the plan.
  const PlanSubject* subject = nullptr;
};

/// A system before it is stored.
struct ChosenSystem {
  AnyMatrix matrix;  // all of its rows, or a rank's
  bool has_all_rows = true;
  ComposedChoice preconditioner;
  Device device;         // shared by all ranks on a CPU, else the first rank's
  SolveOutcome outcome;  // facts known so far
  /// The method that the plan is chosen for, before the diagonal is looked at. Null for least
  /// squares.
  const MethodInfo* planned_for = nullptr;
  /// The reason why least squares solve the system; none if they do not, or if a method is named.
  std::optional<std::string> least_squares = {};
  std::optional<RightHandSide> right_hand_side = {};  // if its number matters to the plan
};

/// The text of the options, which may be auto.
std::string preconditioner_of(const SolveOptions& options);
/// Checks the options. `on_ranks`: checks them for ranks too, and throws `Error` (unsupported) for
/// options that ranks do not take.
ComposedChoice checked_preconditioner(const SolveOptions& options, const Device& device,
                                      bool on_ranks);
void check_for_ranks(const SolveOptions& options);
void check_storage_for_ranks(const StorageOption& storage);

/// Checks the options, then gets the matrix from `read`.
ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks,
                       const std::function<AnyMatrix(Progress*)>& read);
/// The same for all rows of the file.
ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks);

/// The facts that are known about a solve before it has a method.
SolveOutcome outcome_of(const SolveOptions& options, const AnyMatrix& matrix,
                        const ComposedChoice& preconditioner, const std::string& reason);

/// Chooses for one process, and reads right-hand sides. `options` then has their number.
ChosenSystem choose_alone(SolveOptions& options, ReadSystem given, const Device& device,
                          Progress* progress);
/// Chooses for ranks. Throws `Error` (unsupported) unless the matrix is square.
ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const RowsOnRanks& rows,
                             const Device& device);
/// The same for a system with all rows.
ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const Device& device);

/// The plan of the options. Iterations of a shifted matrix, of least squares, and of methods
/// without a listing read the matrix itself: they would not use a copy in floats. `method` is null
/// for least squares.
PlanChoice choose_solve_plan(const SolveOptions& options, const PlanSubject& matrix,
                             const MethodInfo* method, const Device& device,
                             const Profiles& profiles);

}  // namespace heddle::cli
