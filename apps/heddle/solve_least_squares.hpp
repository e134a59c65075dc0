// `heddle solve --solver lsmr`: least squares, of matrices of any shape.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"
#include "heddle/tools/progress.hpp"
#include "matrix_of_rank.hpp"
#include "plan_text.hpp"
#include "solve_options.hpp"

namespace heddle::cli {

/// Throws `Error` (usage) for options that go with other solvers only, or with this one only.
void check_least_squares(const SolveOptions& options);

/// Why this matrix is solved so; none where it is not. Throws as `check_least_squares`.
std::optional<std::string> reason_for_least_squares(const SolveOptions& options,
                                                    const AnyMatrix& matrix);

/// Of ranks that share the rows.
struct OnRank {
  const MatrixOfRank& rows;  // with an adjoint
  const PlanChoice& choice;  // of its storage
  Index rows_of_all;
  Offset entries_of_all;
};

struct LeastSquaresProblem {
  const AnyMatrix& matrix;
  std::string reason;
  const Device& device;
  const Profiles& profiles;
  TerminalProgress* progress;  // may be null
  double read_seconds;
  std::string rank_choice;          // as in `SolveOutcome`
  const OnRank* on_rank = nullptr;  // where ranks share the rows, of which `matrix` may have some

  Index rows() const { return on_rank != nullptr ? on_rank->rows_of_all : matrix.rows(); }
  Offset entries() const { return on_rank != nullptr ? on_rank->entries_of_all : matrix.entries(); }
};

/// Solves, writes and reports; the exit status. Collective on ranks, of which the first one writes.
int solve_least_squares(const SolveOptions& options, const LeastSquaresProblem& problem);

}  // namespace heddle::cli
