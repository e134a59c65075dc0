// The decisions of a solve without a host, played against SolveControl on runs from a script.
#include "../../src/solvers/solve_decisions.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../../src/solvers/solve_control.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;
using Values = std::vector<double>;

constexpr Index rows = 5;

/// What a run does to x, and how it says that it ended.
struct ScriptedRun {
  int end = device::loop_reached;
  long long iterations = 1;
  Values x;
  double p_q = 0;  // along the next direction, where p* A p was not positive
};

/// Iterations may be told to read a copy, which is another operator of the same numbers: what it
/// does to a run is in the script.
class Identity final : public LinearOperator<double> {
 public:
  explicit Identity(const Identity* copy = nullptr) : copy_(copy) {}
  Index rows() const override { return ::rows; }
  const LinearOperator<double>& iterated() const override {
    return copy_ != nullptr ? *copy_ : *this;
  }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    for (Index i = 0; i < ::rows; ++i) {
      y.data[i] = alpha * x.data[i] + (beta == 0 ? 0 : beta * y.data[i]);
    }
  }

 private:
  const Identity* copy_;
};

/// What `solve` multiplies a right-hand side with whose squares leave the range of a double.
double scale_of(const Values& b) {
  double squared = 0, largest = 0;
  for (const double c : b) {
    squared += c * c;
    largest = std::max(largest, std::abs(c));
  }
  const auto range = detail::scale_range<double, double>();
  return range.holds(squared) || !(largest > 0) ? 1 : std::exp2(-range.exponent(largest));
}

/// As the methods of heddle deal with their loops on a GPU.
class Scripted final : public KrylovSolver<double> {
 public:
  Scripted(const LinearOperator<double>& matrix, SolverOptions options,
           std::vector<ScriptedRun> runs, double scale)
      : KrylovSolver(matrix, nullptr, std::move(options), Ring::real, {}),
        runs_(std::move(runs)),
        scale_(scale) {}

 private:
  void iterate(detail::SolveControl<double>& control) override {
    while (next_ < runs_.size()) {
      if (control.ended()) return;
      const ScriptedRun& next = runs_[next_++];
      for (std::size_t i = 0; i < next.x.size(); ++i) control.x().data[i] = scale_ * next.x[i];
      const Values history(static_cast<std::size_t>(next.iterations), 1.0);
      cuda::RunResult run;
      run.end = next.end;
      run.iterations = std::min(next.iterations, control.run_limits().iterations);
      run.squared_norm = 1;
      run.history = std::span(history).first(static_cast<std::size_t>(run.iterations));
      if (!control.take_run(run)) return;
      if (run.end == device::loop_not_definite) control.end(Status::indefinite, "");
      if (run.end == device::loop_lost || run.end == device::loop_orthogonal) {
        if (!control.verify(Status::breakdown, "")) return;
      }
      if (run.end == device::loop_not_positive) {
        if (next.p_q > 0) {
          if (!control.verify(Status::stagnated, "")) return;
        } else if (next.p_q < -1e-6) {
          control.end(Status::indefinite, "");
        } else if (!control.verify(Status::breakdown, "")) {
          return;
        }
      }
    }
    if (!control.ended()) control.end(Status::cancelled, "");
  }
  Cost cost() const override { return {0, 0}; }

  std::vector<ScriptedRun> runs_;
  std::size_t next_ = 0;
  double scale_;
};

Values randomized(Values x) {
  randomize<double>({x.data(), rows}, 1, Device::cpu().stream());
  return x;
}

/// The walk of enqueued_solve_cuda.cu over vectors of the host.
DeviceReport play(const SolverOptions& options, const std::vector<ScriptedRun>& runs, bool on_copy,
                  Values b, Values& x, Values& history) {
  cuda::SolveGoal goal;
  goal.tolerance = options.tolerance;
  goal.absolute_tolerance = options.absolute_tolerance;
  goal.baseline = options.baseline;
  goal.max_iterations = goal.room = options.max_iterations;
  goal.keeps_all = true;
  goal.epsilon = std::numeric_limits<double>::epsilon();
  goal.scalars = rows;
  goal.has_copy = on_copy;
  goal.checks = options.checks;
  goal.range = detail::scale_range<double, double>();
  history.assign(static_cast<std::size_t>(goal.room) + 1, -1);
  cuda::SolveState state;
  device::LoopWatch watch{};
  device::LoopState loop{};
  Values kept;
  const auto squared = [](const Values& v) {
    double sum = 0;
    for (const double c : v) sum += c * c;
    return sum;
  };
  const auto squared_residual = [&] {
    Values r(b);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= x[i];
    return squared(r);
  };
  const auto scale = [](Values& v, double factor) {
    for (double& c : v) c *= factor;
  };

  using namespace heddle::cuda::decisions;
  begin(state, goal, rows, 1);
  state.squared_b = squared(b);
  look_at_right_hand_side(state, goal);
  if (state.out_of_range != 0) {
    state.largest_b = 0;
    for (const double c : b) state.largest_b = std::max(state.largest_b, std::abs(c));
    choose_scale(state, goal);
    scale(b, state.scale);
    scale(x, state.scale);
    state.squared_b = squared(b);
    look_at_scaled_right_hand_side(state);
    if (state.zero != 0) x.assign(x.size(), 0.0);
  }
  state.squared_residual = squared_residual();
  judge_guess(state, goal, rows, history.data(), false);
  std::size_t next = 0;
  const auto play_round = [&] {
    if (state.keep_iterate != 0) kept = x;
    begin_run(state, goal, history.data(), &watch, loop);
    if (next == runs.size()) {
      loop.end = device::loop_cancelled;
    } else {
      const ScriptedRun& run = runs[next];
      x = run.x;
      scale(x, state.scale);
      loop.end = run.end;
      loop.iteration = std::min(run.iterations, loop.limits.iterations);
      for (long long i = 0; i < loop.iteration; ++i) loop.history[i] = state.scale * state.scale;
    }
    take_run(state, goal, loop);
    if (state.not_positive != 0) {
      state.p_q = runs[next].p_q;
      state.squared_p = 1;
      state.squared_image = rows;
      judge_direction(state, goal);
    }
    state.squared_residual = squared_residual();
    choose_iterate(state);
    if (state.take_kept != 0) {
      x = kept;
      state.squared_residual = squared_residual();
    }
    look_at_iterate(state, goal);
    if (state.in_doubt != 0) state.squared_rounding = squared(randomized(x));
    judge_iterate(state, goal);
    ++next;
  };
  while (state.end == 0) play_round();
  if (on_copy) {
    begin_on_matrix(state, goal);
    while (state.end == 0) play_round();
  }
  if (state.scaled != 0) {
    scale(x, state.unscale);
    kept = x;
    scale(x, state.scale);
    state.squared_residual = squared_residual();
    judge_unscaled(state);
    x = state.lost != 0 ? Values(rows, 0.0) : kept;
  }
  DeviceReport report;
  cuda::decisions::report(state, rows, report);
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

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-12 * std::abs(b);
}

/// Plays one script both ways, of runs that read the matrix or first a copy of it.
DeviceReport expect_alike(const SolverOptions& options, const std::vector<ScriptedRun>& runs,
                          bool on_copy, const Values& b, const Values& guess) {
  const Identity copy, matrix(on_copy ? &copy : nullptr);
  Scripted solver(matrix, options, runs, scale_of(b));
  Values expected = guess;
  const Report report = solver.solve({b.data(), rows}, {expected.data(), rows});
  Values x = guess, history;
  const DeviceReport played = play(options, runs, on_copy, b, x, history);
  EXPECT_EQ(name(played.status), name(report.status)) << report;
  EXPECT_EQ(played.stored, report.stored == "float" ? StoredScalar::single : StoredScalar::own);
  EXPECT_EQ(played.iterations, report.iterations);
  EXPECT_EQ(played.restarts, report.restarts);
  EXPECT_PRED2(same, played.residual, report.residual);
  EXPECT_PRED2(same, played.residual_norm, report.residual_norm);
  EXPECT_PRED2(same, played.baseline_norm, report.baseline_norm);
  EXPECT_PRED2(same, played.target_norm, report.target_norm);
  EXPECT_PRED2(same, played.backward_error, report.backward_error);
  EXPECT_EQ(played.singular_row, -1);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_PRED2(same, x[i], expected[i]) << i;
  if (options.record_history && report.status != Status::not_finite) {
    EXPECT_EQ(history.size(), solver.history().size());
  }
  return played;
}

void expect_those_of_solve_control(bool on_copy) {
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
    if (number % 11 == 0) options.absolute_tolerance = 1e-3 * size;
    std::vector<ScriptedRun> runs(static_cast<std::size_t>(random_between(1, 12, generator)));
    double error = 1;
    if (number % 4 == 0) {  // more than rounding allows
      options.tolerance = 1e-18;
      error = 1e-13;
    }
    for (ScriptedRun& run : runs) {
      // Ends that the decisions continue from are the likelier ones.
      constexpr int ends[] = {
          device::loop_reached,    device::loop_grew,         device::loop_lost,
          device::loop_orthogonal, device::loop_not_positive, device::loop_reached,
          device::loop_lost,       device::loop_not_positive, device::loop_time,
          device::loop_not_finite, device::loop_cancelled,    device::loop_not_definite};
      run.end = ends[random_between(0, random_between(0, 4, generator) == 0 ? 11 : 7, generator)];
      run.iterations = random_between(0, 9, generator);
      run.p_q = std::array{1.0, 0.0, -1.0, -1e-20}[generator() % 4];
      // On a copy only long steps lead to the next one.
      constexpr double steps[] = {0.01, 0.3, 0.45, 0.9, 1, 3}, long_steps[] = {1e-4, 1e-2, 0.05};
      const bool is_long = on_copy && generator() % 4 != 0;
      error *= is_long ? long_steps[generator() % std::size(long_steps)]
                       : steps[generator() % std::size(steps)];
      run.x = random_values(error * size, generator);
      for (std::size_t i = 0; i < run.x.size(); ++i) run.x[i] += b[i];
      if (generator() % 20 == 0) run.x[1] = std::numeric_limits<double>::quiet_NaN();
    }
    const DeviceReport played = expect_alike(options, runs, on_copy, b, guess);
    const bool ended_on_copy = on_copy && played.stored == StoredScalar::single;
    ++(ended_on_copy ? met : met_on_matrix)[static_cast<std::size_t>(played.status)];
    if (ended_on_copy && played.restarts >= 2) ++refined;
    if (testing::Test::HasFailure()) return;
  }
  for (std::size_t i = 0; i < met.size(); ++i) {
    const auto status = static_cast<Status>(i);
    if (status == Status::out_of_range) continue;  // b is a solution
    SCOPED_TRACE(name(status));
    EXPECT_GE(met_on_matrix[i], 20);
    // What a copy fails, the matrix decides.
    const bool is_failure =
        status == Status::stagnated || status == Status::breakdown || status == Status::indefinite;
    EXPECT_GE(met[i], on_copy && !is_failure ? 20 : 0);
    EXPECT_LE(met[i], on_copy && !is_failure ? 8000 : 0);
  }
  EXPECT_GE(refined, on_copy ? 20 : 0);
}

TEST(SolveDecisions, AreThoseOfSolveControl) { expect_those_of_solve_control(false); }

TEST(SolveDecisions, AreThoseOfSolveControlWhereRunsReadACopy) {
  expect_those_of_solve_control(true);
}

TEST(SolveDecisions, OfRightHandSidesWithoutASize) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const Values guess(rows, 3);
  for (const bool on_copy : {false, true}) {
    const auto status_of = [&](double value) {
      return expect_alike({}, {}, on_copy, Values(rows, value), guess).status;
    };
    EXPECT_EQ(status_of(0), Status::converged);
    EXPECT_EQ(status_of(infinity), Status::not_finite);
    EXPECT_EQ(status_of(not_a_number), Status::not_finite);
  }
}

/// A solution that the caller's scale does not hold is said not to be one.
TEST(SolveDecisions, OfSolutionsOutOfRange) {
  SolverOptions options;
  options.tolerance = 1e-6;
  options.max_iterations = 9;
  const Values guess(rows, 0.0);
  for (const double size : {1e300, 4e-324}) {
    const Values b(rows, size);
    // b in units of the scale is near 1, and the run's x may be any multiple of it.
    for (const double x : {size, 1e200 * size, 0.6 * size}) {
      expect_alike(options, {{device::loop_reached, 3, Values(rows, x)}}, false, b, guess);
    }
  }
}

/// Too short a run to learn from is followed by one on the matrix itself; a run that another limit
/// than its own aim ends may have arrived.
TEST(SolveDecisions, OnACopy) {
  const Values b(rows, 1.0), zero(rows, 0.0);
  SolverOptions options;
  options.tolerance = 1e-6;
  options.record_history = true;
  const auto off_by = [](double error) { return Values(rows, 1.0 + error); };
  DeviceReport found = expect_alike(
      options, {{device::loop_reached, 3, off_by(1e-4)}, {device::loop_reached, 4, off_by(1e-7)}},
      true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.stored, StoredScalar::single);
  EXPECT_EQ(found.restarts, 1);
  found = expect_alike(
      options, {{device::loop_reached, 3, off_by(0.5)}, {device::loop_reached, 4, off_by(1e-7)}},
      true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  EXPECT_EQ(found.stored, StoredScalar::own);
  EXPECT_EQ(found.iterations, 7);
  found = expect_alike(options, {{device::loop_time, 3, off_by(1e-7)}}, true, b, zero);
  EXPECT_EQ(found.status, Status::converged);
  found = expect_alike(options, {{device::loop_time, 3, off_by(1e-7)}}, false, b, zero);
  EXPECT_EQ(found.status, Status::time_limit);
  options.max_iterations = 3;
  found = expect_alike(options, {{device::loop_not_finite, 3, off_by(1e300)}}, true, b, zero);
  EXPECT_EQ(found.status, Status::iteration_limit);
  EXPECT_EQ(found.stored, StoredScalar::own);
}

TEST(SolveDecisions, SingularDiagonalsEndASolveThatIsNotDone) {
  cuda::SolveGoal goal;
  goal.tolerance = 1e-6;
  goal.max_iterations = goal.room = 10;
  for (const double squared_residual : {1.0, 0.0}) {
    cuda::SolveState state;
    double history[11];
    cuda::decisions::begin(state, goal, rows, 1);
    state.first_singular = 3;
    state.squared_b = 1;
    state.squared_residual = squared_residual;
    cuda::decisions::judge_guess(state, goal, rows, history, false);
    DeviceReport report;
    cuda::decisions::report(state, rows, report);
    EXPECT_EQ(report.status, squared_residual > 0 ? Status::breakdown : Status::converged);
    EXPECT_EQ(report.singular_row, squared_residual > 0 ? 3 : -1);
  }
}

TEST(SolveDecisions, LimitsOfARun) {
  cuda::SolveGoal goal;
  goal.tolerance = 1e-6;
  goal.max_iterations = 100;
  goal.room = 30;
  goal.has_time_limit = true;
  goal.nanoseconds = 500;
  goal.epsilon = 1e-16;
  cuda::SolveState state;
  std::vector<double> history(31);
  device::LoopWatch watch{};
  device::LoopState run{};
  cuda::decisions::begin(state, goal, rows, 1000);
  state.squared_b = state.squared_residual = 4;
  cuda::decisions::judge_guess(state, goal, rows, history.data(), false);
  const auto expect_limit = [&](long long limit) {
    cuda::decisions::begin_run(state, goal, history.data(), &watch, run);
    EXPECT_EQ(run.limits.iterations, limit);
    EXPECT_EQ(run.history, history.data() + 1);
    EXPECT_EQ(run.limits.deadline, 1500u);
    EXPECT_EQ(run.rho[0], state.squared_norm);
  };
  // Where the room for one run is used up, the next goes on from x as it is.
  for (const long long limit : {30, 30, 30, 10}) {
    expect_limit(limit);
    run.iteration = run.limits.iterations;
    run.end = device::loop_limit;
    cuda::decisions::take_run(state, goal, run);
    state.squared_residual = 9;
    cuda::decisions::choose_iterate(state);
    EXPECT_EQ(state.take_kept, limit == 10 ? 1 : 0);
    cuda::decisions::judge_iterate(state, goal);
    EXPECT_EQ(state.keep_iterate, 0);
    EXPECT_EQ(state.squared_norm, 9);
  }
  EXPECT_EQ(state.end, 1);
  EXPECT_EQ(state.status, Status::iteration_limit);
  EXPECT_EQ(state.restarts, 0);
}

}  // namespace
