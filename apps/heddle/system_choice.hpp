// The choice of what solves a system, and under which plan, where the options leave it open.
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
  double seconds = 0;  // that reading took
};

/// The matrix of checked options; method and plan are chosen by the rest.
struct ReadSystem {
  ReadMatrix read;
  ComposedChoice preconditioner;
  Profiles profiles;
};

/// Rows of a matrix, for the choice of what solves with all of them.
struct RowsOnRanks {
  Index first_row = 0;
  Index of_all;
  /// The subject of all rows, too; null where another rank chooses the plan.
  const PlanSubject* subject = nullptr;
};

/// A system before it is stored.
struct ChosenSystem {
  AnyMatrix matrix;  // all of its rows, or those of a rank
  bool has_all_rows = true;
  ComposedChoice preconditioner;
  Device device;         // of all ranks on a CPU, or of the first one
  SolveOutcome outcome;  // as far as it is known
  /// The plan is chosen for this method, before a look at the diagonal. Null for least squares.
  const MethodInfo* planned_for = nullptr;
  /// Why least squares solve it; none where they do not, and where there is a method.
  std::optional<std::string> least_squares = {};
  std::optional<RightHandSide> right_hand_side = {};  // where its number counts for the plan
};

/// The options' text, which may be auto.
std::string preconditioner_of(const SolveOptions& options);
/// Checks the options. `on_ranks`: for ranks, too; throws `Error` (unsupported) for what these do
/// not take.
ComposedChoice checked_preconditioner(const SolveOptions& options, const Device& device,
                                      bool on_ranks);
void check_for_ranks(const SolveOptions& options);
void check_storage_for_ranks(const StorageOption& storage);

/// The matrix by `read`, after the options are checked.
ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks,
                       const std::function<AnyMatrix(Progress*)>& read);
/// All rows of the file.
ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks);

/// The facts that are known of a solve before it has a method.
SolveOutcome outcome_of(const SolveOptions& options, const AnyMatrix& matrix,
                        const ComposedChoice& preconditioner, const std::string& reason);

/// For one process; reads right-hand sides. `options` then says how many there are.
ChosenSystem choose_alone(SolveOptions& options, ReadSystem given, const Device& device,
                          Progress* progress);
/// For ranks. Throws `Error` (unsupported) unless the matrix is square.
ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const RowsOnRanks& rows,
                             const Device& device);
/// The same of all rows.
ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const Device& device);

/// The plan of the options. Iterations of a shifted matrix, of least squares, and of methods
/// without a listing, read the matrix itself: a copy in floats would serve nobody. `method`: null
/// for least squares.
PlanChoice choose_plan(const SolveOptions& options, const PlanSubject& matrix,
                       const MethodInfo* method, const Device& device, const Profiles& profiles);

}  // namespace heddle::cli
