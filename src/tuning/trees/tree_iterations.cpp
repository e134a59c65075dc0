#include "tree_iterations.hpp"

#include <utility>

#include "heddle/error.hpp"
#include "stored_tree.hpp"
#include "tuning/planning/method_choice.hpp"
#include "tuning/search/random_numbers.hpp"
#include "tuning/search/timed_iterations.hpp"

namespace heddle {

namespace {

std::shared_ptr<IterationWork> solver_over(const AnyLinearOperator& tree, const AnyMatrix& matrix,
                                           const Device& device) {
  const ComposedChoice preconditioner =
      choose_preconditioner(PreconditionerKind::automatic, matrix, 0, device).choice;
  MethodChoice method = choose_method("auto", matrix, preconditioner, device);
  method.looks_ahead(matrix, tree, preconditioner, 0);
  SolverOptions options;
  options.tolerance = 0;
  options.checks = false;
  return iteration_work(tree, *method.method, preconditioner, options,
                        with_random_numbers(tree.row_field()));
}

}  // namespace

std::unique_ptr<PreparedPlan> TreeIterations::prepare(const NodeLayout& nodes,
                                                      NodeSchedule schedule) {
  if (matrix_.rows() != matrix_.columns()) return nullptr;
  try {
    const AnyLinearOperator tree = stored_tree(matrix_, nodes, schedule, device_).matrix;
    auto solver = solver_over(tree, matrix_, device_);
    if (solver->run(1).iterations == 0) return nullptr;
    if (iterations_ == 0) iterations_ = iterations_worth_timing(*solver, device_);
    const long long bytes = tree.visit([](const auto& A) { return A->bytes_of_product(); });
    return timed_iterations(std::move(solver), iterations_, bytes, device_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  }
  return nullptr;
}

}  // namespace heddle
