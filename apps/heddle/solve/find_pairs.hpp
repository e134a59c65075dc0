// Eigenpairs of a matrix that has been read: the matrix is stored and solved with, and the pairs
// are written and reported, wherever it is.
#pragma once

#include <functional>
#include <optional>

#include "eigen_report.hpp"
#include "heddle/communicator.hpp"
#include "placement.hpp"

namespace heddle::cli {

/// A matrix before it is stored.
struct EigenProblem {
  AnyMatrix matrix;  // all of its rows, or a rank's
  std::optional<AnyMatrix> mass;
  bool has_all_rows = true;
  Device device;     // shared by all ranks on a CPU, else the first rank's
  FoundPairs found;  // facts known so far
};

/// Throws `Error` for wrong options, before a long read and a longer solve.
void check(const EigenCommand& options, const Device& device, bool on_ranks);

/// The plan for products with as many vectors as there are pairs.
PlanChoice choose_eigen_plan(const EigenCommand& options, const AnyMatrix& matrix,
                             const Device& device, const Profiles& profiles);

/// Checks the options, and chooses the plan.
EigenProblem read_problem(const EigenCommand& options, const Device& device, bool on_ranks);
/// The same for a problem that another rank reads.
EigenProblem problem_of_others(const EigenCommand& options, const Device& device);

/// Collective on ranks, which may share `problem`. `stored` is the same as for `solve_system`.
/// Returns the exit status.
int find_pairs(const EigenCommand& options, const EigenProblem& problem, Placement& placement,
               const std::function<void()>& stored);

/// Uses ranks that are threads of this process.
int eigen_on_ranks(const EigenCommand& options);
/// Uses existing ranks. Collective.
int eigen_on_ranks(const EigenCommand& options, Communicator& ranks);

}  // namespace heddle::cli
