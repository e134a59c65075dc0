// The walk of a solve through its decisions, played on runs from a script.
#include "solvers/stopping/solve_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heddle/vector_operations.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;
using Values = std::vector<double>;

constexpr Index rows = 5;

/// The x that a run leaves, and how the run says that it ended.
struct ScriptedRun {
  int end = device::loop_reached;
  long long iterations = 1;
  Values x;
  double p_q = 0;  // along the next direction, where p* A p was not positive
};

Values randomized(Values x) {
  randomize<double>({x.data(), rows}, 1, Device::cpu().stream());
  return x;
}

using State = detail::SolveState<double>;
using Goal = detail::SolveGoal<double>;

double squared(const Values& v) {
  double sum = 0;
  for (const double c : v) sum += c * c;
  return sum;
}
void multiply(Values& v, double factor) {
  for (double& c : v) c *= factor;
}

/// A solve of the identity from x, as an executor of solve_walk.hpp.
struct ScriptedSolve {
  using Sum = double;
  Goal goal;
  Values b;
  Values& x;
  State state{};
  Values kept = {};
  double p_q = 0;  // p* A p of the run

  template <detail::Decision decision>
  void decide() {
    detail::take_decision<decision>(state, goal);
  }
  template <class Body>
  void when(int State::* question, const Body& body) {
    if (state.*question != 0) body(*this);
  }
  void renew_residual() {
    Values r(b);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= x[i];
    state.squared_residual = squared(r);
  }
  void find_largest() {
    state.largest_b = 0;
    for (const double c : b) state.largest_b = std::max(state.largest_b, std::abs(c));
  }
  void scale_right_hand_side() {
    multiply(b, state.scale);
    multiply(x, state.scale);
    state.squared_b = squared(b);
  }
  void look_at_direction() {
    state.p_q = p_q;
    state.squared_p = 1;
    state.squared_image = rows;
  }
  static bool takes_earlier_iterate() { return false; }
  void take_kept() {
    x = kept;
    renew_residual();
  }
  void look_at_rounding() { state.squared_rounding = squared(randomized(x)); }
  void unscale_solution() {
    multiply(x, state.unscale);
    kept = x;
    multiply(x, state.scale);
    renew_residual();
    x = kept;
  }
  void forget_solution() { x.assign(x.size(), 0.0); }
  void unscale_residual() {}
};

/// The runs may read a copy of the matrix first: what that does to a run is in the script.
DeviceReport play(const SolverOptions& options, const std::vector<ScriptedRun>& runs, bool on_copy,
                  const Values& b, Values& x, Values& history) {
  using namespace heddle::detail;
  ScriptedSolve solve{
      goal_of<double>(options, rows, on_copy ? StoredScalar::single : StoredScalar::own), b, x};
  Goal& goal = solve.goal;
  State& state = solve.state;
  goal.keeps_all = goal.looks_at_direction = true;
  history.assign(static_cast<std::size_t>(goal.history_capacity) + 1, -1);
  device::LoopWatch watch{};
  device::LoopState loop{};

  decisions::begin(state, goal, rows, 1);
  state.squared_b = squared(b);
  decisions::look_at_right_hand_side(state, goal);
  if (state.out_of_range != 0) walk::scale(solve);
  if (state.zero != 0) x.assign(x.size(), 0.0);
  solve.renew_residual();
  decisions::judge_guess(state, goal, rows, history.data(), false);
  std::size_t next = 0;
  const auto play_round = [&] {
    if (state.keep_iterate != 0) solve.kept = x;
    decisions::begin_run(state, goal, history.data(), &watch, loop);
    if (next == runs.size()) {
      loop.end = device::loop_cancelled;
    } else {
      const ScriptedRun& run = runs[next];
      x = run.x;
      multiply(x, state.scale);
      solve.p_q = run.p_q;
      loop.end = run.end;
      loop.iteration = std::min(run.iterations, loop.limits.iterations);
      for (long long i = 0; i < loop.iteration; ++i) loop.history[i] = state.scale * state.scale;
    }
    decisions::take_run(state, goal, loop.end, loop.iteration);
    solve.renew_residual();
    walk::judge_run(solve);
    ++next;
  };
  while (state.end == 0) play_round();
  if (on_copy) {
    decisions::begin_on_matrix(state, goal);
    while (state.end == 0) play_round();
  }
  if (state.scaled != 0) walk::unscale(solve);
  DeviceReport report;
  decisions::report(state, rows, report);
  history.resize(static_cast<std::size_t>(state.has_history * (1 + state.iterations)));
  for (double& value : history) {
    value = std::sqrt(value) / (state.baseline > 0 ? state.baseline : 1);
  }
  return report;
}

Values random_values(double scale, Generator& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Values values(rows);
  for (double& value : values) value = scale * uniform(generator);
  return values;
}

double norm_of_residual(const Values& b, const Values& x) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (b[i] - x[i]) * (b[i] - x[i]);
  return std::sqrt(sum);
}

/// Plays a script, and checks that the report is true of the final x.
DeviceReport played(const SolverOptions& options, const std::vector<ScriptedRun>& runs,
                    bool on_copy, const Values& b, const Values& guess) {
  Values x = guess, history;
  const DeviceReport report = play(options, runs, on_copy, b, x, history);
  EXPECT_LE(report.iterations, options.max_iterations);
  EXPECT_EQ(report.singular_row, -1);
  if (report.status == Status::not_finite) return report;
  EXPECT_EQ(history.size(), static_cast<std::size_t>(report.iterations) + 1);
  if (report.status == Status::converged) {
    EXPECT_LE(report.residual_norm, report.target_norm);
  }
  if (report.status == Status::stagnated || report.status == Status::breakdown ||
      report.status == Status::accuracy_limit) {
    EXPECT_FALSE(report.residual_norm <= report.target_norm) << name(report.status);
  }
  const double in_range = norm_of_residual(b, x), at_first = norm_of_residual(b, guess);
  if (std::isnormal(in_range) && in_range > 1e-150 && in_range < 1e150) {
    EXPECT_NEAR(report.residual_norm / in_range, 1, 1e-12);
  }
  const bool is_stopped = report.status == Status::iteration_limit ||
                          report.status == Status::time_limit || report.status == Status::cancelled;
  const bool has_empty_run =
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.iterations == 0; });
  const bool is_last = report.returned == Returned::last || has_empty_run;
  if (is_stopped && options.keep == Keep::last && is_last) return report;
  if (report.status != Status::out_of_range && std::isfinite(at_first)) {
    EXPECT_LE(in_range, (1 + 1e-12) * at_first) << "no worse than the guess";
  }
  if (report.returned == Returned::guess && !has_empty_run &&
      report.status != Status::out_of_range) {
    EXPECT_EQ(x, guess);
  }
  return report;
}

void play_at_random(bool on_copy) {
  std::vector<int> met(10), met_on_matrix(10);
  int refined = 0;
  for (unsigned number = 1; number <= 8000; ++number) {
    Seed seed(number);
    Generator& generator = seed.generator;
    const double size = number % 7 == 0 ? 1e-210 : number % 7 == 1 ? 1e210 : 1;
    const Values b = random_values(size, generator);
    Values guess = random_values(number % 3 == 0 ? 0 : size, generator);
    if (number % 97 == 0) guess[2] = std::numeric_limits<double>::quiet_NaN();
    SolverOptions options;
    options.tolerance = 1e-6;
    options.max_iterations = random_between(0, 40, generator);
    options.record_history = true;
    if (number % 5 == 0) options.baseline = Baseline::initial_residual;
    if (number % 2 == 0) options.keep = Keep::best;
    if (number % 11 == 0) options.absolute_tolerance = 1e-3 * size;
    std::vector<ScriptedRun> runs(static_cast<std::size_t>(random_between(1, 12, generator)));
    double error = 1;
    if (number % 4 == 0) {  // more than rounding allows
      options.tolerance = 1e-18;
      error = 1e-13;
    }
    for (ScriptedRun& run : runs) {
      // Ends after which the decisions continue are more likely.
      constexpr int ends[] = {
          device::loop_reached,    device::loop_grew,         device::loop_lost,
          device::loop_orthogonal, device::loop_not_positive, device::loop_reached,
          device::loop_lost,       device::loop_not_positive, device::loop_time,
          device::loop_not_finite, device::loop_cancelled,    device::loop_not_definite};
      run.end = ends[random_between(0, random_between(0, 4, generator) == 0 ? 11 : 7, generator)];
      run.iterations = random_between(0, 9, generator);
      run.p_q = std::array{1.0, 0.0, -1.0, -1e-20}[generator() % 4];
      // On a copy, only a large reduction leads to the next run.
      constexpr double steps[] = {0.01, 0.3, 0.45, 0.9, 1, 3}, long_steps[] = {1e-4, 1e-2, 0.05};
      const bool is_long = on_copy && generator() % 4 != 0;
      error *= is_long ? long_steps[generator() % std::size(long_steps)]
                       : steps[generator() % std::size(steps)];
      run.x = random_values(error * size, generator);
      for (std::size_t i = 0; i < run.x.size(); ++i) run.x[i] += b[i];
      if (generator() % 20 == 0) run.x[1] = std::numeric_limits<double>::quiet_NaN();
    }
    const DeviceReport report = played(options, runs, on_copy, b, guess);
    const bool ended_on_copy = on_copy && report.stored == StoredScalar::single;
    ++(ended_on_copy ? met : met_on_matrix)[static_cast<std::size_t>(report.status)];
    if (ended_on_copy && report.restarts >= 2) ++refined;
    if (testing::Test::HasFailure()) return;
  }
  for (std::size_t i = 0; i < met.size(); ++i) {
    const auto status = static_cast<Status>(i);
    if (status == Status::out_of_range) continue;  // b is a solution
    SCOPED_TRACE(name(status));
    EXPECT_GE(met_on_matrix[i], 20);
    // If a copy fails, the matrix decides.
    const bool is_failure =
        status == Status::stagnated || status == Status::breakdown || status == Status::indefinite;
    EXPECT_GE(met[i], on_copy && !is_failure ? 20 : 0);
    EXPECT_LE(met[i], on_copy && !is_failure ? 8000 : 0);
  }
  EXPECT_GE(refined, on_copy ? 20 : 0);
}

TEST(SolveDecisions, TellTheTruth) { play_at_random(false); }

TEST(SolveDecisions, TellTheTruthWhereRunsReadACopy) { play_at_random(true); }

TEST(SolveDecisions, OfRightHandSidesWithoutASize) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const Values guess(rows, 3);
  for (const bool on_copy : {false, true}) {
    const auto status_of = [&](double value) {
      return played({}, {}, on_copy, Values(rows, value), guess).status;
    };
    EXPECT_EQ(status_of(0), Status::converged);
    EXPECT_EQ(status_of(infinity), Status::not_finite);
    EXPECT_EQ(status_of(not_a_number), Status::not_finite);
  }
}

/// A solution out of the range of the caller's scale is not reported as one.
TEST(SolveDecisions, OfSolutionsOutOfRange) {
  SolverOptions options;
  options.tolerance = 1e-6;
  options.max_iterations = 9;
  const Values guess(rows, 0.0);
  for (const double size : {1e300, 4e-324}) {
    const Values b(rows, size);
    // b is near 1 in units of its scale, and the run's x may be any multiple of it.
    for (const double x : {size, 1e200 * size, 0.6 * size}) {
      const auto report =
          played(options, {{device::loop_reached, 3, Values(rows, x)}}, false, b, guess);
      EXPECT_EQ(report.status == Status::converged, x == size) << name(report.status);
    }
  }
}

/// After a run that is too short to learn from, the next one uses the matrix itself; a run that
/// ends by another limit than its own target may have arrived.
TEST(SolveDecisions, OnACopy) {
  const Values b(rows, 1.0), zero(rows, 0.0);
  SolverOptions options;
  options.tolerance = 1e-6;
  options.record_history = true;
  const auto off_by = [](double error) { return Values(rows, 1.0 + error); };
  DeviceReport found = played(
      options, {{device::loop_reached, 3, off_by(1e-4)}, {device::loop_reached, 4, off_by(1e-7)}},
      true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.stored, StoredScalar::single);
  EXPECT_EQ(found.restarts, 1);
  found = played(options,
                 {{device::loop_reached, 3, off_by(0.5)}, {device::loop_reached, 4, off_by(1e-7)}},
                 true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.stored, StoredScalar::own);
  EXPECT_EQ(found.iterations, 7);
  found = played(options, {{device::loop_time, 3, off_by(1e-7)}}, true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  found = played(options, {{device::loop_time, 3, off_by(1e-7)}}, false, b, zero);
  EXPECT_EQ(found.status, Status::time_limit);
  options.max_iterations = 3;
  found = played(options, {{device::loop_not_finite, 3, off_by(1e300)}}, true, b, zero);
  EXPECT_EQ(found.status, Status::iteration_limit);
  EXPECT_EQ(found.stored, StoredScalar::own);
}

TEST(SolveDecisions, SingularDiagonalsEndASolveThatIsNotDone) {
  Goal goal;
  goal.tolerance = 1e-6;
  goal.max_iterations = goal.history_capacity = 10;
  for (const double squared_residual : {1.0, 0.0}) {
    State state;
    double history[11];
    detail::decisions::begin(state, goal, rows, 1);
    state.first_singular = 3;
    state.squared_b = 1;
    state.squared_residual = squared_residual;
    detail::decisions::judge_guess(state, goal, rows, history, false);
    DeviceReport report;
    detail::decisions::report(state, rows, report);
    EXPECT_EQ(report.status, squared_residual > 0 ? Status::breakdown : Status::converged);
    EXPECT_EQ(report.singular_row, squared_residual > 0 ? 3 : -1);
  }
}

TEST(SolveDecisions, LimitsOfARun) {
  Goal goal;
  goal.tolerance = 1e-6;
  goal.max_iterations = 100;
  goal.history_capacity = 30;
  goal.has_time_limit = true;
  goal.nanoseconds = 500;
  goal.epsilon = 1e-16;
  State state;
  std::vector<double> history(31);
  device::LoopWatch watch{};
  device::LoopState run{};
  detail::decisions::begin(state, goal, rows, 1000);
  state.squared_b = state.squared_residual = 4;
  detail::decisions::judge_guess(state, goal, rows, history.data(), false);
  const auto expect_limit = [&](long long limit) {
    detail::decisions::begin_run(state, goal, history.data(), &watch, run);
    EXPECT_EQ(run.limits.iterations, limit);
    EXPECT_EQ(run.history, history.data() + 1);
    EXPECT_EQ(run.limits.deadline, 1500u);
    EXPECT_EQ(run.limits.squared_norm, state.squared_norm);
  };
  // When one run has used its room, the next one continues from the same x.
  for (const long long limit : {30, 30, 30, 10}) {
    expect_limit(limit);
    run.iteration = run.limits.iterations;
    run.end = device::loop_limit;
    detail::decisions::take_run(state, goal, run.end, run.iteration);
    state.squared_residual = 9;
    detail::decisions::choose_iterate(state);
    EXPECT_EQ(state.take_kept, 0);
    EXPECT_EQ(state.returned, Returned::last);
    detail::decisions::judge_iterate(state, goal);
    EXPECT_EQ(state.keep_iterate, 0);
    EXPECT_EQ(state.squared_norm, 9);
  }
  EXPECT_EQ(state.end, 1);
  EXPECT_EQ(state.status, Status::iteration_limit);
  EXPECT_EQ(state.restarts, 0);
  // The same end if the best x is requested: that is the guess.
  state.keeps_best = true;
  detail::decisions::choose_iterate(state);
  EXPECT_EQ(state.take_kept, 1);
  EXPECT_EQ(state.returned, Returned::guess);
}

TEST(SolveDecisions, CountNoRestartAfterTheLastIteration) {
  // Each run says that it arrived, and is off by more than it gains: the second one at the limit.
  SolverOptions options;
  options.tolerance = 1e-6;
  options.max_iterations = 8;
  const Values b(rows, 1.0), guess(rows, 0.0);
  const auto off_by = [&](double error) {
    return ScriptedRun{.end = device::loop_reached, .iterations = 4, .x = Values(rows, 1 - error)};
  };
  Values x = guess, history;
  const std::vector<ScriptedRun> runs{off_by(1e-2), off_by(1e-3)};
  const DeviceReport found = play(options, runs, false, b, x, history);
  EXPECT_EQ(found.status, Status::iteration_limit);
  EXPECT_EQ(found.iterations, 8);
  EXPECT_EQ(found.restarts, 1) << "between the runs, and none after the last";
  EXPECT_GT(found.backward_error, 0) << "of the x that is returned";
}

/// An x whose rounding hides that it solves nothing is at no accuracy limit.
TEST(SolveDecisions, SeeAnXThatGrowsInVain) {
  using Growth = detail::GrowthInVain<double>;
  const double b = 1;
  // The residual is hardly smaller than that of zero.
  EXPECT_TRUE(Growth{}.is_seen(0.2, 1e13, b));
  EXPECT_FALSE(Growth{}.is_seen(0.05, 1e13, b));
  EXPECT_FALSE(Growth{}.is_seen(0.2, 1e2, b)) << "it has not grown";
  // x contains nothing of b except in what is left of it.
  EXPECT_TRUE((Growth{.x_b = 1, .x_x = 1e12}.is_seen(1e-6, 1e9, b)));
  EXPECT_FALSE((Growth{.x_b = 100, .x_x = 1e12}.is_seen(1e-6, 1e9, b)));
  for (const bool grew : {false, true}) {
    Goal goal;
    goal.max_iterations = goal.history_capacity = 100;
    goal.epsilon = std::numeric_limits<double>::epsilon();
    goal.tolerance = 1e-15;
    State state;
    double history[101];
    detail::decisions::begin(state, goal, rows, 0);
    state.squared_b = state.squared_residual = 1;
    detail::decisions::judge_guess(state, goal, rows, history, false);
    detail::decisions::take_run(state, goal, device::loop_reached, 3);
    state.squared_residual = 1e-12;
    detail::decisions::choose_iterate(state);
    detail::decisions::look_at_iterate(state, goal);
    ASSERT_EQ(state.in_doubt, 1);
    state.squared_rounding = 1e20;
    state.growth.x_x = 1e20;
    state.growth.x_b = grew ? 1e-3 : 1e9;
    detail::decisions::judge_iterate(state, goal);
    EXPECT_EQ(state.status, grew ? Status::stagnated : Status::accuracy_limit);
    EXPECT_EQ(state.in_vain, grew);
  }
}

}  // namespace
