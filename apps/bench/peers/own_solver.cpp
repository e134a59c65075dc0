#include "own_solver.hpp"

#include <map>
#include <utility>

namespace heddle::bench {

struct OwnSystem::State {
  AnyOperator A;
  AnyField b;
  long long bytes_per_iteration = 0;

  State(const Problem& problem, const Plan& plan, const Device& device)
      : A(problem.matrix, plan, device), b(A.row_field()) {
    for (std::size_t i = 0; i < problem.x.size(); ++i) {
      b.set(static_cast<Offset>(i), problem.x[i]);
    }
  }
};

OwnSystem::OwnSystem(const Problem& problem, const Plan& plan, const Device& device)
    : state_(std::make_shared<State>(problem, plan, device)) {}

long long OwnSystem::bytes_per_iteration() const { return state_->bytes_per_iteration; }
long long OwnSystem::memory_bytes() const { return state_->A.memory().product(); }

PeerSolver OwnSystem::solver(const MethodInfo& method, PreconditionerKind preconditioner) const {
  // A solver takes its stopping rule when made; each is kept for the solves that follow.
  using Stop = std::pair<double, long long>;
  struct Made {
    std::shared_ptr<State> system;
    std::map<Stop, std::unique_ptr<AnySolver>> solvers;
  };
  auto made = std::make_shared<Made>();
  made->system = state_;
  PeerSolver peer;
  peer.solve = [made, &method, preconditioner](double tolerance, long long max_iterations) {
    State& system = *made->system;
    std::unique_ptr<AnySolver>& solver = made->solvers[{tolerance, max_iterations}];
    if (!solver) {
      SolverOptions options;
      options.tolerance = tolerance;
      options.max_iterations = max_iterations;
      options.record_history = tolerance > 0;
      options.checks = tolerance > 0;  // otherwise only iterations are counted
      solver = std::make_unique<AnySolver>(system.A, method, preconditioner, options);
    }
    AnyField x = system.A.column_field();
    const Report report = solver->solve(system.b, x);
    system.bytes_per_iteration = report.bytes_per_iteration;
    PeerSolve solve;
    solve.iterations = report.iterations;
    solve.seconds = report.iterate_seconds;
    solve.status = name(report.status);
    if (!report.converged() && !report.detail.empty()) {
      solve.status += " (" + std::string(report.detail) + ")";
    }
    if (tolerance == 0) return solve;
    solve.history = solver->history();
    const Offset scalars = Offset(x.rows()) * x.components();
    solve.x.resize(static_cast<std::size_t>(scalars));
    for (Offset i = 0; i < scalars; ++i) solve.x[static_cast<std::size_t>(i)] = x.get(i);
    return solve;
  };
  return peer;
}

}  // namespace heddle::bench
