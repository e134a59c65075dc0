// Tunes multigrid settings: each is tried by a set-up and a solve.
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/choose_plan.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/random_field.hpp"
#include "tuned_matrix.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle {

namespace {

/// A point of the space.
struct Setting {
  Smoother smoother = Smoother::chebyshev;
  int degree = 1;
  double strength = MultigridOptions{}.strength;
  Cycle cycle = Cycle::v;
  StoredScalar level_precision = StoredScalar::own;

  bool operator==(const Setting&) const = default;
};

ComposedChoice choice_of(const Setting& setting, const MultigridChoice& candidates) {
  ComposedChoice choice(PreconditionerChoice(PreconditionerKind::multigrid, setting.degree));
  choice.multigrid = candidates;
  choice.multigrid.smoother = setting.smoother;
  choice.multigrid.cycle = setting.cycle;
  choice.multigrid.strength = setting.strength;
  choice.multigrid.level_precision = setting.level_precision;
  return choice;
}

struct TimedSetting {
  Setting setting;
  std::vector<double> seconds = {};
  long long iterations = 0;

  double median() const { return statistics_of(seconds).median; }
};

class MultigridSearch {
 public:
  MultigridSearch(const NamedMatrix& matrix, const MultigridChoice& candidates,
                  const Device& device, const TuneOptions& options)
      : candidates_(candidates),
        options_(options),
        A_(*matrix.matrix,
           choose_plan(*matrix.matrix, device, options.known, parse_objective(cg_.name)), device),
        b_(A_.row_field()) {
    AnyField exact = A_.column_field();
    const Offset scalars = Offset(exact.rows()) * exact.components();
    for (Offset i = 0; i < scalars; ++i) {
      exact.set(i, random_component(1, static_cast<std::uint64_t>(i)));
    }
    A_.apply(exact, b_);
  }

  /// The best setting, then the default.
  std::pair<TimedSetting, TimedSetting> run() {
    run_once(best_.setting, no_limit);  // compiles, and fills caches
    TimedSetting usual = best_ = measured({});
    if (usual.seconds.empty()) {
      throw Error(ErrorKind::usage,
                  "tuning: multigrid with the default settings does not solve this matrix");
    }
    for (const auto& [smoother, degree] : smoothers) {
      Setting setting = best_.setting;
      std::tie(setting.smoother, setting.degree) = std::pair(smoother, degree);
      try_out(setting);
    }
    for (const double strength : strengths) {
      Setting setting = best_.setting;
      setting.strength = strength;
      try_out(setting);
    }
    Setting setting = best_.setting;
    setting.cycle = Cycle::w;
    try_out(setting);
    if (A_.precision() == Precision::double_precision) {
      setting = best_.setting;
      setting.level_precision = StoredScalar::single;
      try_out(setting);
    }
    if (best_.setting == usual.setting) return {usual, usual};
    // Again, in turn: the fastest of many was also lucky.
    TimedSetting found{best_.setting, {}, best_.iterations}, again{usual.setting, {}, 0};
    for (int k = 0; k < std::max(runs(), 3) && (k == 0 || goes_on()); ++k) {
      for (TimedSetting* one : {&found, &again}) {
        if (const auto seconds = run_once(one->setting, no_limit)) {
          one->seconds.push_back(seconds->first);
          one->iterations = seconds->second;
        }
      }
    }
    if (!again.seconds.empty()) usual = again;
    const bool is_faster = !found.seconds.empty() && found.median() < clearly * usual.median();
    return {is_faster ? found : usual, usual};
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr double no_limit = std::numeric_limits<double>::infinity();
  static constexpr double clearly = 0.98;
  static constexpr std::pair<Smoother, int> smoothers[] = {
      {Smoother::chebyshev, 2}, {Smoother::chebyshev, 3},    {Smoother::jacobi, 1},
      {Smoother::jacobi, 2},    {Smoother::gauss_seidel, 1}, {Smoother::gauss_seidel, 2},
      {Smoother::l1_jacobi, 1}, {Smoother::l1_jacobi, 2}};
  static constexpr double strengths[] = {0, 0.02, 0.25, 0.5};
  static constexpr int number_of_settings = 15;

  int runs() const { return std::clamp(options_.max_runs, 1, 5); }

  bool goes_on() {
    TuneProgress progress;
    progress.tried = tried_;
    progress.expected = number_of_settings;
    progress.seconds = seconds_since(began_);
    if (tried_ > 0) {
      progress.seconds_left = progress.seconds / tried_ * (progress.expected - tried_);
      if (progress.seconds > options_.seconds_limit) stopped_ = true;
    }
    if (!stopped_ && options_.observer) stopped_ = !options_.observer(progress);
    return !stopped_;
  }

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// Seconds of set-up and solve, and iterations; none where it does not converge within the limit.
  /// A set-up is never cut short: it counts, and the solver gets the remaining time.
  std::optional<std::pair<double, long long>> run_once(const Setting& setting, double limit) {
    const auto begin = Clock::now();
    AnySolver solver(A_, cg_, choice_of(setting, candidates_), {});
    const auto leave = [&]<class S>(KrylovSolver<S>& of) {
      SolverOptions options = of.options();
      options.time_limit = std::max(0.0, limit - seconds_since(begin));
      of.set_options(std::move(options));
    };
    if (A_.precision() == Precision::single_precision) {
      leave(solver.solver<float>());
    } else {
      leave(solver.solver<double>());
    }
    AnyField x = A_.column_field();
    const Report report = solver.solve(b_, x);
    if (!report.converged()) return std::nullopt;
    return std::pair(seconds_since(begin), report.iterations);
  }

  /// Returns no times where the setting does not solve, or the search was cancelled.
  TimedSetting measured(const Setting& setting) {
    TimedSetting found{setting};
    constexpr double far_slower = 1.5, enough = 1;  // second
    const double limit = best_.seconds.empty() ? no_limit : far_slower * best_.median();
    for (int k = 0; k < runs() && (goes_on() || (tried_ == 0 && k == 0)); ++k) {
      const auto one = run_once(setting, limit);
      if (!one) return {setting};
      found.seconds.push_back(one->first);
      found.iterations = one->second;
      if (one->first > limit || one->first * (k + 1) > enough) break;
    }
    ++tried_;
    return found;
  }

  void try_out(const Setting& setting) {
    if (setting == best_.setting || !goes_on()) return;
    try {
      const TimedSetting found = measured(setting);
      if (!found.seconds.empty() && found.median() < best_.median()) best_ = found;
    } catch (const Error& error) {
      // The error is due to this setting: the default has been set up.
      const bool is_of_setting =
          error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::memory ||
          error.kind() == ErrorKind::singular || error.kind() == ErrorKind::not_finite;
      if (!is_of_setting) throw;
    }
  }

  const MethodInfo& cg_ = *parse_objective("cg").method;
  MultigridChoice candidates_;
  const TuneOptions& options_;
  AnyOperator A_;
  AnyField b_;
  TimedSetting best_;
  Clock::time_point began_ = Clock::now();
  int tried_ = 0;
  bool stopped_ = false;
};

}  // namespace

Profile tune_multigrid(const NamedMatrix& matrix, const MultigridChoice& candidates,
                       const Device& device, const TuneOptions& options) {
  detail::check_tuning(matrix, options);
  const AnyMatrix& tuned = *matrix.matrix;
  if (options.on_matrix) options.on_matrix(matrix.name);
  Profile profile = Profile::of(device);
  const auto [best, usual] = MultigridSearch(matrix, candidates, device, options).run();
  const Device host = Device::cpu(device.threads());
  profile.multigrids.push_back({.matrix = matrix.name,
                                .entry = std::string(tuned.entry().name()),
                                .precision = std::string(name(tuned.precision())),
                                .fingerprint = fingerprint(tuned.pattern(), host),
                                .features = pattern_features(tuned.pattern(), host),
                                .candidates = std::string(origin_of_candidates(candidates)),
                                .preconditioner = choice_of(best.setting, candidates).text(),
                                .strength = best.setting.strength,
                                .iterations = best.iterations,
                                .seconds = statistics_of(best.seconds),
                                .usual_seconds = statistics_of(usual.seconds),
                                .date = detail::today()});
  return profile;
}

}  // namespace heddle
