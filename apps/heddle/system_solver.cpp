#include "system_solver.hpp"

namespace heddle::cli {

SystemSolver::Solver SystemSolver::make(const AnyOperator& matrix, const MethodInfo& method,
                                        const ComposedChoice& preconditioner,
                                        const SolverOptions& options, double shift,
                                        bool fields_in_single) {
  if (fields_in_single) return AnyRefinedSolver(matrix, method, preconditioner, options);
  if (is_listed(method)) return AnySolver(matrix, method, preconditioner, options, shift);
  return AnyBlockConjugateGradient(matrix, preconditioner, options, shift);
}

SystemSolver::Solver SystemSolver::make(const StoredTree& tree, const MethodInfo& method,
                                        const ComposedChoice& preconditioner,
                                        const SolverOptions& options, double shift) {
  if (is_listed(method)) {
    return AnySolver(tree.matrix, tree.entries, method, preconditioner, options, shift);
  }
  return AnyBlockConjugateGradient(tree.matrix, tree.entries, preconditioner, options, shift);
}

const std::vector<double>& SystemSolver::history_of_progress() const {
  std::size_t told = 0;
  const bool is_block = std::holds_alternative<AnyBlockConjugateGradient>(solver_);
  for (std::size_t k = 1; is_block && k < systems_; ++k) {
    const std::vector<double>&best = history(told), &other = history(k);
    const bool has_more = other.size() != best.size() ? other.size() > best.size()
                                                      : !other.empty() && other[0] > best[0];
    if (has_more) told = k;
  }
  return history(told);
}

}  // namespace heddle::cli
