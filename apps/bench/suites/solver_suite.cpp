// Solves by all libraries: time of an iteration, and time to the same true residual.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "own_plans.hpp"
#include "peers/own_solver.hpp"
#include "solve_times.hpp"

namespace heddle::bench {

namespace {

constexpr long long max_iterations = 10000;

struct Quantity {
  std::string name;  // "cg", "cg+jacobi"
  const MethodInfo& method;
  PreconditionerKind preconditioner;
};

struct SolverContender {
  Candidate candidate;
  PeerSolver solver;

  bool is_running() const { return !candidate.failure; }
};

/// Keeps at most about 200 points, including the first and the last.
void keep_history(Candidate& candidate, const std::vector<double>& history) {
  constexpr std::size_t most = 200;
  if (history.empty()) return;
  const std::size_t step = (history.size() + most - 1) / most;
  for (std::size_t i = 0; i < history.size(); i += step) {
    candidate.history.push_back(history[i]);
    candidate.history_at.push_back(static_cast<double>(i));
  }
  const std::size_t last = history.size() - 1;
  if (last % step == 0) return;
  candidate.history.push_back(history[last]);
  candidate.history_at.push_back(static_cast<double>(last));
}

std::string with_number(const char* format, double number) {
  char text[120];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

/// One complete solve, judged by the residual of its result; returns the seconds it took.
double check(SolverContender& contender, const Problem& problem, double tolerance,
             long long max_of_it) {
  double seconds = 0;
  or_failure(contender.candidate, [&] {
    Candidate& candidate = contender.candidate;
    const PeerSolve solve = contender.solver.solve(tolerance, max_of_it);
    seconds = solve.seconds;
    candidate.iterations = solve.iterations;
    candidate.status = solve.status;
    keep_history(candidate, solve.history);
    const double residual = true_residual(problem, problem.x, solve.x);
    if (std::isfinite(residual)) candidate.residual = residual;
    // The last digits of a tolerance are those of the norm that it is compared with. Where the
    // tolerance is large, x = 0 would be within a factor of a hundred of it.
    constexpr double rounding = 1.001;
    const double wrong = std::min(100 * tolerance, 0.5);
    if (solve.status != "converged") {
      if (!std::isfinite(residual)) candidate.failure = solve.status + ", x is not finite";
    } else if (!(residual <= wrong)) {
      candidate.failure =
          with_number("wrong result: it reports converged, but |b - A x| / |b| = %.2e", residual);
    } else if (residual > rounding * tolerance) {
      candidate.status = with_number(
          "its recurrence converged, but |b - A x| / |b| is above the tolerance: %.2e", residual);
    }
    if (candidate.status == "converged") candidate.solve_seconds = seconds;
  });
  return seconds;
}

/// Limit for another library: some iterate up to their limit with numbers that are not finite.
long long max_iterations_of_others(const std::vector<SolverContender>& solved) {
  constexpr long long few = 500, times_as_many = 5;
  long long most = 0;
  for (const SolverContender& contender : solved) {
    const Candidate& candidate = contender.candidate;
    if (candidate.status == "converged" && candidate.iterations) {
      most = std::max(most, *candidate.iterations);
    }
  }
  if (most == 0) return max_iterations;
  return std::clamp(times_as_many * most, few, max_iterations);
}

/// Limits of a solve.
struct Extent {
  double tolerance;
  long long max_iterations = bench::max_iterations;
  double seconds = 0;  // for an iteration of Heddle; 0 if unknown
};

/// The tolerance itself, where Heddle reaches it in the time that a complete solve may take, or
/// ends for a reason of its own; otherwise the residual reached by then, rounded up. Slower
/// libraries may take longer in proportion; solves that do not converge end after a multiple of the
/// iterations. The solver from `make` serves one kind of solve and is then released. Methods for a
/// fixed number of steps run a hundred, or until a tenth is left, whatever the time.
Extent affordable_extent(const Session& session, const std::function<PeerSolver()>& make,
                         const Problem& problem, const MethodInfo& method, double tolerance) {
  constexpr long long trial = 20, least = 100, times_as_many = 5;
  constexpr double little = 0.1;  // less than a tenth of b must be left
  Extent extent{tolerance};
  {
    const PeerSolver timed = make();
    timed.solve(0, trial);  // includes setup done by the first solve
    const PeerSolve few = timed.solve(0, trial);
    if (few.iterations > 0) extent.seconds = few.seconds / static_cast<double>(few.iterations);
  }
  if (!(extent.seconds > 0)) return extent;
  const double affordable = method.takes_interval ? static_cast<double>(least)
                                                  : session.seconds_of_a_solve() / extent.seconds;
  if (affordable >= static_cast<double>(max_iterations)) return extent;
  long long iterations = std::max(least, static_cast<long long>(affordable));
  extent.max_iterations =
      method.takes_interval ? max_iterations : std::min(max_iterations, times_as_many * iterations);
  for (; iterations <= extent.max_iterations; iterations *= 2) {
    const PeerSolve solve = make().solve(tolerance, iterations);
    if (solve.status == "converged" || solve.iterations < iterations) return extent;
    const double residual = true_residual(problem, problem.x, solve.x);
    if (residual > tolerance && residual < little) {
      extent.tolerance = rounded_up(residual);
      return extent;
    }
  }
  return extent;
}

using SolverContenders = std::vector<SolverContender*>;

/// Medians of complete solves, where there is time for more solves than the checked one.
void time_solves(Session& session, const SolverContenders& contenders, double tolerance,
                 double seconds_of_all) {
  constexpr int most = 5;
  const double budget = session.seconds_for_timing();
  if (2 * seconds_of_all > budget) return;
  SolverContenders timed;
  std::vector<TimedRun> runs;
  for (SolverContender* contender : contenders) {
    if (!contender->candidate.solve_seconds) continue;
    timed.push_back(contender);
    runs.emplace_back([contender, tolerance] {
      return contender->solver.solve(tolerance, max_iterations).seconds;
    });
  }
  InterleaveOptions options;
  options.repetitions = std::min(most, session.settings().repetitions);
  options.seconds_in_all = budget;
  options.min_repetitions = 1;
  options.follows_itself = false;
  const std::vector<Interleaved> outcomes = interleave(runs, options);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    Candidate& candidate = timed[i]->candidate;
    if (outcomes[i].failure.empty()) {
      candidate.solve_seconds = outcomes[i].timing.median;
    } else {
      candidate.failure = one_line(outcomes[i].failure);
    }
  }
}

/// Time of an iteration: the difference between the medians of solves of few and of many
/// iterations, over the difference in iterations; its quartiles are those of the pairs.
void time_iterations(Session& session, const SolverContenders& contenders, double seconds) {
  const bool on_gpu = session.device().on_gpu();
  // Fewer if slow: five rounds of all contenders, at a guess twice as slow as Heddle, must fit.
  constexpr double rounds = 5, as_slow = 2;
  const long long most = on_gpu ? 90 : 40, least = on_gpu ? 90 : 8;
  const double a_round = rounds * as_slow * seconds * static_cast<double>(contenders.size());
  const long long many =
      a_round > 0
          ? std::clamp(static_cast<long long>(session.seconds_for_timing() / a_round), least, most)
          : most;
  const long long few = on_gpu ? 40 : many / 4;
  struct Counted {
    long long few = 0, many = 0;
  };
  std::vector<Counted> counted(contenders.size());
  std::vector<TimedRun> runs;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const PeerSolver& solver = contenders[i]->solver;
    const auto add = [&](long long iterations, long long& count) {
      runs.emplace_back([&solver, iterations, &count] {
        const PeerSolve solve = solver.solve(0, iterations);
        count = solve.iterations;
        return solve.seconds;
      });
    };
    add(few, counted[i].few);
    add(many, counted[i].many);
  }
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing();
  options.follows_itself = false;
  const std::vector<Interleaved> outcomes = interleave(runs, options);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Candidate& candidate = contenders[i]->candidate;
    const Interleaved& short_ones = outcomes[2 * i];
    const Interleaved& long_ones = outcomes[2 * i + 1];
    if (!short_ones.failure.empty() || !long_ones.failure.empty()) {
      candidate.failure =
          one_line(short_ones.failure.empty() ? long_ones.failure : short_ones.failure);
      continue;
    }
    const auto difference = static_cast<double>(counted[i].many - counted[i].few);
    if (!(difference > 0)) {
      candidate.failure = "it ended after " + std::to_string(counted[i].many) +
                          " iterations by itself: none could be timed";
      continue;
    }
    take_difference(short_ones, long_ones, difference, candidate);
  }
}

std::vector<SolverContender> contenders_of(Peer& peer, const Problem& problem,
                                           const Quantity& quantity, const Device& device) {
  std::vector<SolverContender> contenders;
  const std::string library = peer.presence().name;
  Candidate refusal;
  refusal.library = library;
  const bool prepared = or_failure(refusal, [&] {
    for (PeerSolver& solver :
         peer.solvers(problem, quantity.method, quantity.preconditioner, device)) {
      Candidate candidate;
      candidate.library = library;
      candidate.method = solver.method;
      contenders.push_back({std::move(candidate), std::move(solver)});
    }
  });
  if (!prepared) contenders.push_back({std::move(refusal), {}});
  return contenders;
}

/// An operator under each plan, or the reason why there is none.
struct OwnSystems {
  std::vector<OwnPlan> plans;
  std::vector<std::optional<OwnSystem>> systems;
  std::vector<Candidate> candidates;
};

OwnSystems own_systems(const Session& session, const Problem& problem) {
  std::vector<std::string> texts;
  if (problem.matrix.precision() == Precision::double_precision) {
    texts.emplace_back("chosen,iteration-precision=single");
  }
  const std::vector<std::string>& asked_for = session.settings().plans;
  texts.insert(texts.end(), asked_for.begin(), asked_for.end());
  for (const MethodInfo& method : method_table()) {
    add_tuned_plan(problem.matrix, session, {&method}, texts);
  }
  OwnSystems own;
  own.plans = own_plans(problem.matrix, session.device(), {}, texts);
  for (const OwnPlan& plan : own.plans) {
    Candidate candidate;
    std::optional<OwnSystem> system;
    if (plan.plan) {
      or_failure(candidate, [&] {
        system.emplace(problem, *plan.plan, session.device());
        candidate.memory_bytes = system->memory_bytes();
      });
    } else {
      candidate.failure = one_line(plan.failure);
    }
    own.systems.push_back(std::move(system));
    own.candidates.push_back(std::move(candidate));
  }
  return own;
}

void measure(Session& session, const Problem& problem, const OwnSystems& own,
             const Quantity& quantity) {
  Record record = record_of("solver", problem, quantity.name);
  std::vector<SolverContender> contenders;
  for (std::size_t i = 0; i < own.plans.size(); ++i) {
    SolverContender contender{own.candidates[i], {}};
    if (own.systems[i]) {
      or_failure(contender.candidate, [&] {
        contender.solver = own.systems[i]->solver(quantity.method, quantity.preconditioner);
      });
    }
    contenders.push_back(std::move(contender));
  }
  for (const auto& peer : session.peers()) {
    if (!peer->presence().present) continue;
    session.doing(quantity.name + ", building for " + peer->presence().name);
    for (SolverContender& contender : contenders_of(*peer, problem, quantity, session.device())) {
      contenders.push_back(std::move(contender));
    }
  }

  Extent extent{tolerance_for(problem, session.settings())};
  if (SolverContender& first = contenders.front(); first.is_running()) {
    session.doing(quantity.name + ", solving by Heddle");
    or_failure(first.candidate, [&] {
      const auto make = [&] {
        return own.systems.front()->solver(quantity.method, quantity.preconditioner);
      };
      extent = affordable_extent(session, make, problem, quantity.method, extent.tolerance);
    });
  }
  const double tolerance = extent.tolerance;
  if (tolerance != session.settings().tolerance) record.tolerance = tolerance;
  SolverContenders right;
  double seconds_of_all = 0;
  long long most = extent.max_iterations;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    SolverContender& contender = contenders[i];
    if (i == own.plans.size()) most = std::min(most, max_iterations_of_others(contenders));
    if (!contender.is_running()) continue;
    session.doing(quantity.name + ", solving by " +
                  (i < own.plans.size() ? "Heddle" : contender.candidate.library));
    seconds_of_all += check(contender, problem, tolerance, most);
    if (contender.is_running()) right.push_back(&contender);
    if (i < own.plans.size() && own.plans[i].natural && own.systems[i]) {
      const long long bytes = own.systems[i]->bytes_per_iteration();
      if (bytes > 0) record.compulsory_bytes = bytes;
    }
  }
  session.doing(quantity.name + ", timing");
  time_solves(session, right, tolerance, seconds_of_all);
  std::erase_if(right, [](const SolverContender* contender) { return !contender->is_running(); });
  time_iterations(session, right, extent.seconds);

  std::vector<Candidate> measured;
  measured.reserve(own.plans.size());
  for (std::size_t i = 0; i < own.plans.size(); ++i) measured.push_back(contenders[i].candidate);
  add_own_candidates(record, own.plans, measured,
                     [](const Candidate& candidate) -> std::optional<double> {
                       if (candidate.failure) return {};
                       return candidate.solve_seconds;
                     });
  for (std::size_t i = own.plans.size(); i < contenders.size(); ++i) {
    record.candidates.push_back(std::move(contenders[i].candidate));
  }
  session.add(std::move(record));
}

}  // namespace

void solver_suite(Session& session, const Problem& problem) {
  if (problem.matrix.rows() != problem.matrix.columns()) return;
  session.doing("building");
  const OwnSystems own = own_systems(session, problem);
  for (const MethodInfo& method : method_table()) {
    if (method.needs_hermitian && !problem.hermitian_positive_definite) continue;
    if (method.needs_symmetric && !problem.complex_symmetric) continue;
    const std::string name(method.name);
    measure(session, problem, own, {name, method, PreconditionerKind::none});
    measure(session, problem, own, {name + "+jacobi", method, PreconditionerKind::jacobi});
  }
}

}  // namespace heddle::bench
