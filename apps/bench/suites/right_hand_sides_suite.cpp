// Several right-hand sides: side by side and in a block, compared with one after the other.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "heddle/runtime/any_solver.hpp"
#include "solve_times.hpp"

namespace heddle::bench {

namespace side_by_side {
namespace {

constexpr long long max_iterations = 10000;

/// The outcome of solving several systems.
struct SystemsSolve {
  std::vector<Report> reports;
  double seconds = 0;  // for all systems
  std::vector<AnyField> x;

  long long iterations() const {
    return std::max_element(
               reports.begin(), reports.end(),
               [](const Report& a, const Report& b) { return a.iterations < b.iterations; })
        ->iterations;
  }
  /// The status of the first system that has not converged, or "converged".
  std::string status() const {
    const auto failed = std::find_if(reports.begin(), reports.end(),
                                     [](const Report& report) { return !report.converged(); });
    return std::string(name(failed == reports.end() ? Status::converged : failed->status));
  }
};

/// The systems of a problem: right-hand sides, one field after the other.
struct Systems {
  const Problem& problem;
  AnyOperator A;
  std::vector<std::vector<double>> numbers;  // numbers of b
  std::vector<AnyField> b;

  Systems(const Problem& of, const Plan& plan, const Device& device, std::size_t most)
      : problem(of), A(of.matrix, plan, device) {
    // The problem's numbers, rotated by a different amount for each system.
    for (std::size_t k = 0; k < most; ++k) {
      std::vector<double>& rotated = numbers.emplace_back(of.x);
      const std::size_t by = k * (of.x.size() / most) + (k * k) % std::max<std::size_t>(1, most);
      std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(by % of.x.size()),
                  rotated.end());
      AnyField& field = b.emplace_back(A.row_field());
      for (std::size_t i = 0; i < rotated.size(); ++i) {
        field.set(static_cast<Offset>(i), rotated[i]);
      }
    }
  }

  double residual(std::size_t system, const AnyField& x) const {
    std::vector<double> solution(problem.x.size());
    for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = x.get(static_cast<Offset>(i));
    return true_residual(problem, numbers[system], solution);
  }
};

/// A way of solving the first few systems.
struct Way {
  Candidate candidate;
  std::function<SystemsSolve(double tolerance, long long most)> solve;
  double seconds = 0;  // approximate time of an iteration of all systems
};

SolverOptions options_for(double tolerance, long long most) {
  SolverOptions options;
  options.tolerance = tolerance;
  options.max_iterations = most;
  options.checks = tolerance > 0;  // otherwise only iterations are counted
  return options;
}

/// `act(solver, b, solve)` solves all systems.
template <class Act>
Way way_of(Role role, const std::string& method, const Systems& systems, std::size_t count,
           std::shared_ptr<AnySolver> solver, const Act& act) {
  Way way;
  way.candidate.role = role;
  way.candidate.library = "Heddle";
  way.candidate.method = method;
  way.solve = [=, &systems](double tolerance, long long most) {
    solver->set_options(options_for(tolerance, most));
    SystemsSolve solve;
    solve.x.assign(count, systems.A.column_field());
    act(*solver, std::span(systems.b).first(count), solve);
    return solve;
  };
  return way;
}

/// `at_once`: number of systems that share a loop; the longest of their times counts.
void solve_together(auto& solver, std::size_t at_once, std::span<const AnyField> b,
                    SystemsSolve& solve) {
  solve.reports = solver.solve(b, solve.x);
  for (std::size_t first = 0; first < b.size(); first += at_once) {
    double longest = 0;
    for (std::size_t k = first; k < std::min(first + at_once, b.size()); ++k) {
      longest = std::max(longest, solve.reports[k].iterate_seconds);
    }
    solve.seconds += longest;
  }
}

/// `single` solves the systems one by one and in one call.
std::vector<Way> ways_of(const Systems& systems, std::size_t count,
                         const std::shared_ptr<AnySolver>& single) {
  const auto one_by_one = [](AnySolver& solver, std::span<const AnyField> b, SystemsSolve& solve) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      solve.reports.push_back(solver.solve(b[k], solve.x[k]));
      solve.seconds += solve.reports.back().iterate_seconds;
    }
  };
  const auto side_by_side = [&systems](AnySolver& solver, std::span<const AnyField> b,
                                       SystemsSolve& solve) {
    const std::size_t at_once = systems.A.precision() == Precision::single_precision
                                    ? solver.solver<float>().systems_at_once(b.size())
                                    : solver.solver<double>().systems_at_once(b.size());
    solve_together(solver, at_once, b, solve);
  };
  const auto as_block = [](AnySolver& solver, std::span<const AnyField> b, SystemsSolve& solve) {
    solve_together(solver, b.size(), b, solve);
  };
  const auto block = std::make_shared<AnySolver>(systems.A, block_conjugate_gradient_info,
                                                 PreconditionerKind::none, SolverOptions());
  return {way_of(Role::natural, "cg, one after the other", systems, count, single, one_by_one),
          way_of(Role::chosen, "cg, side by side", systems, count, single, side_by_side),
          way_of(Role::tried, "block-cg", systems, count, block, as_block)};
}

/// Bytes for one system, with as many side by side as possible.
long long bytes_of_iteration(const Systems& systems, std::size_t count, AnySolver& solver) {
  const std::size_t together = std::min<std::size_t>(count, Reduction<double>::width);
  return systems.A.precision() == Precision::single_precision
             ? solver.solver<float>().bytes_per_iteration(together)
             : solver.solver<double>().bytes_per_iteration(together);
}

/// The tolerance, or where one solve would exceed its time, the residual reached, rounded up.
double affordable_tolerance(const Session& session, const Systems& systems) {
  const double tolerance = tolerance_for(systems.problem, session.settings());
  SolverOptions options = options_for(tolerance, max_iterations);
  constexpr double share = 1 / 4.0;  // up to 16 of them follow, in three ways
  options.time_limit = share * session.seconds_of_a_solve();
  AnySolver solver(systems.A, find_method("cg"), PreconditionerKind::none, options);
  AnyField x = systems.A.column_field();
  const Report report = solver.solve(systems.b.front(), x);
  if (report.status != Status::time_limit || !(report.residual > tolerance)) return tolerance;
  return rounded_up(report.residual);
}

/// One complete solve, judged by the residuals of its results. A preceding solve of one iteration
/// allocates memory and compiles kernels.
void check(Way& way, const Systems& systems, double tolerance) {
  or_failure(way.candidate, [&] {
    static_cast<void>(way.solve(tolerance, 1));
    const SystemsSolve solve = way.solve(tolerance, max_iterations);
    Candidate& candidate = way.candidate;
    candidate.iterations = solve.iterations();
    candidate.status = solve.status();
    candidate.memory_bytes = systems.A.memory().product();
    double worst = 0;
    for (std::size_t k = 0; k < solve.x.size(); ++k) {
      const double residual = systems.residual(k, solve.x[k]);
      worst = residual <= worst ? worst : residual;  // NaN is the worst
    }
    if (std::isfinite(worst)) candidate.residual = worst;
    constexpr double times_as_large = 100;
    const bool converged = candidate.status == "converged";
    if (converged && !(worst <= times_as_large * tolerance)) {
      candidate.failure =
          "wrong result: it reports converged, but a residual is far above the tolerance";
    }
    if (converged) candidate.solve_seconds = solve.seconds;
    way.seconds = solve.seconds / static_cast<double>(std::max(1LL, solve.iterations()));
  });
}

/// Times of each way's solves, to a tolerance or for a number of iterations, in turns; ways that
/// throw become failures.
std::vector<std::vector<Interleaved>> in_turns(
    Session& session, const std::vector<Way*>& ways,
    const std::vector<std::pair<double, long long>>& solves) {
  std::vector<TimedRun> runs;
  for (Way* const way : ways) {
    for (const auto& [tolerance, most] : solves) {
      runs.emplace_back([way, tolerance = tolerance, most = most] {
        return way->solve(tolerance, most).seconds;
      });
    }
  }
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing();
  options.follows_itself = false;
  const std::vector<Interleaved> outcomes = interleave(runs, options);
  std::vector<std::vector<Interleaved>> found(ways.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::size_t way = i / solves.size();
    found[way].push_back(outcomes[i]);
    if (!outcomes[i].failure.empty()) ways[way]->candidate.failure = one_line(outcomes[i].failure);
  }
  return found;
}

/// Medians of complete solves, where there is time for more solves than the checked one.
void time_solves(Session& session, const std::vector<Way*>& ways, double tolerance) {
  double seconds = 0;
  std::vector<Way*> timed;
  for (Way* const way : ways) {
    if (!way->candidate.solve_seconds) continue;
    seconds += *way->candidate.solve_seconds;
    timed.push_back(way);
  }
  constexpr double rounds = 4;  // one of them warms up
  if (rounds * seconds > session.seconds_for_timing()) return;
  const auto outcomes = in_turns(session, timed, {{tolerance, max_iterations}});
  for (std::size_t i = 0; i < timed.size(); ++i) {
    Candidate& candidate = timed[i]->candidate;
    if (!candidate.failure) candidate.solve_seconds = outcomes[i].front().timing.median;
  }
}

/// Time for one system: the difference between solves of few and of many iterations, over the
/// difference in iterations.
void time_iterations(Session& session, const std::vector<Way*>& ways, std::size_t count) {
  const bool on_gpu = session.device().on_gpu();
  constexpr double rounds = 5;
  double seconds = 0;
  for (const Way* const way : ways) seconds += way->seconds;
  const long long most = on_gpu ? 90 : 40, least = on_gpu ? 90 : 8;
  const double affordable = session.seconds_for_timing() / (rounds * seconds);
  const long long many = affordable < static_cast<double>(most)
                             ? std::max(least, static_cast<long long>(affordable))
                             : most;
  const long long few = on_gpu ? 40 : many / 4;
  const auto outcomes = in_turns(session, ways, {{0, few}, {0, many}});
  const double between = static_cast<double>(many - few) * static_cast<double>(count);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Candidate& candidate = ways[i]->candidate;
    if (candidate.failure) continue;
    take_difference(outcomes[i][0], outcomes[i][1], between, candidate);
  }
}

}  // namespace
}  // namespace side_by_side

void right_hand_sides_suite(Session& session, const Problem& problem) {
  using namespace side_by_side;
  if (!problem.hermitian_positive_definite) return;
  session.doing("building");
  constexpr std::size_t counts[] = {1, 2, 4, 8, 16};
  const PlanChoice choice =
      session.settings().profiles.choose(problem.matrix, session.device(), {&find_method("cg")});
  const Systems systems(problem, choice.plan, session.device(), std::end(counts)[-1]);
  session.doing("solving one");
  const double tolerance = affordable_tolerance(session, systems);
  const auto single = std::make_shared<AnySolver>(systems.A, find_method("cg"),
                                                  PreconditionerKind::none, SolverOptions());
  for (const std::size_t count : counts) {
    const std::string quantity =
        "cg, " + std::to_string(count) + (count == 1 ? " right-hand side" : " right-hand sides");
    Record record = record_of("right-hand-sides", problem, quantity);
    if (tolerance != session.settings().tolerance) record.tolerance = tolerance;
    record.compulsory_bytes = bytes_of_iteration(systems, count, *single);
    std::vector<Way> ways = ways_of(systems, count, single);
    for (Way& way : ways) {
      session.doing(quantity + ", solving by " + way.candidate.method);
      check(way, systems, tolerance);
    }
    session.doing(quantity + ", timing");
    std::vector<Way*> timed;
    for (Way& way : ways) {
      if (!way.candidate.failure) timed.push_back(&way);
    }
    time_solves(session, timed, tolerance);
    std::erase_if(timed, [](const Way* way) { return way->candidate.failure.has_value(); });
    time_iterations(session, timed, count);
    for (Way& way : ways) record.candidates.push_back(std::move(way.candidate));
    session.add(std::move(record));
  }
}

}  // namespace heddle::bench
