// Eigenpairs of a matrix that has been read: it is stored, solved, written and reported, wherever
// it is.
#pragma once

#include <functional>
#include <optional>

#include "eigen_report.hpp"
#include "heddle/communicator.hpp"
#include "placement.hpp"

namespace heddle::cli {

/// A matrix before it is stored.
struct EigenProblem {
  AnyMatrix matrix;  // all of its rows, or those of a rank
  std::optional<AnyMatrix> mass;
  bool has_all_rows = true;
  Device device;     // of all ranks on a CPU, or of the first one
  FoundPairs found;  // as far as it is known
};

/// Throws `Error` for options that are wrong, before a long read and a longer solve.
void check(const EigenCommand& options, const Device& device, bool on_ranks);

/// The plan for products with as many vectors as there are pairs.
PlanChoice choose_plan(const EigenCommand& options, const AnyMatrix& matrix, const Device& device,
                       const Profiles& profiles);

/// Checks the options, and chooses the plan.
EigenProblem read_problem(const EigenCommand& options, const Device& device, bool on_ranks);
/// The same where another rank reads.
EigenProblem problem_of_others(const EigenCommand& options, const Device& device);

/// Collective on ranks, which may share `problem`. `stored` as for `solve_system`. Returns the exit
/// status.
int find_pairs(const EigenCommand& options, const EigenProblem& problem, Placement& placement,
               const std::function<void()>& stored);

/// On ranks that are threads of this process.
int eigen_on_ranks(const EigenCommand& options);
/// On ranks that are there. Collective.
int eigen_on_ranks(const EigenCommand& options, Communicator& ranks);

}  // namespace heddle::cli
