#include "interleave.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stopwatch.hpp"

namespace heddle::bench {

namespace {

struct Turn {
  const TimedRun* run;
  int runs = 1;  // timed runs per turn
  std::vector<double> seconds;
  Interleaved outcome;

  bool is_alive() const { return outcome.failure.empty(); }
};

double timed(const TimedRun& run) {
  const double seconds = run();
  if (!std::isfinite(seconds) || seconds < 0) {
    throw std::runtime_error("it reported a time of " + std::to_string(seconds) + " s");
  }
  return seconds;
}

/// Takes one turn; returns the mean of its timed runs.
double take(const Turn& turn, const InterleaveOptions& options) {
  if (options.follows_itself) (*turn.run)();
  double sum = 0;
  for (int i = 0; i < turn.runs; ++i) {
    if (options.before) options.before();
    sum += timed(*turn.run);
  }
  return sum / turn.runs;
}

template <class F>
void or_failure(Turn& turn, F&& act) {
  try {
    act();
  } catch (const std::exception& error) {
    turn.outcome.failure = error.what();
    if (turn.outcome.failure.empty()) turn.outcome.failure = "it failed without a message";
  }
}

}  // namespace

std::vector<Interleaved> interleave(const std::vector<TimedRun>& works,
                                    const InterleaveOptions& options) {
  constexpr double turn_seconds = 1e-3;
  constexpr int max_runs = 1000;
  std::vector<Turn> turns;
  turns.reserve(works.size());
  for (const TimedRun& work : works) turns.push_back({&work, 1, {}, {}});
  double round_seconds = 0;
  for (Turn& turn : turns) {
    or_failure(turn, [&] {
      timed(*turn.run);
      const cli::Stopwatch watch;
      const double seconds = take(turn, options);
      const double wall = watch.seconds();
      if (options.follows_itself && seconds > 0) {
        turn.runs = std::clamp(static_cast<int>(turn_seconds / seconds), 1, max_runs);
      }
      round_seconds += std::max(wall, seconds * (turn.runs + (options.follows_itself ? 1 : 0)));
    });
  }
  int repetitions = options.repetitions;
  if (round_seconds > 0 && round_seconds * repetitions > options.seconds_in_all) {
    const int affordable = static_cast<int>(options.seconds_in_all / round_seconds);
    repetitions = std::min(repetitions, std::max(options.min_repetitions, affordable));
  }
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (Turn& turn : turns) {
      if (!turn.is_alive()) continue;
      or_failure(turn, [&] { turn.seconds.push_back(take(turn, options)); });
    }
  }
  std::vector<Interleaved> outcomes;
  for (Turn& turn : turns) {
    if (turn.is_alive()) {
      turn.outcome.seconds = turn.seconds;
      std::vector<std::vector<double>> seconds = {std::move(turn.seconds)};
      turn.outcome.timing = detail::timings_of(seconds)[0];
    }
    outcomes.push_back(std::move(turn.outcome));
  }
  return outcomes;
}

}  // namespace heddle::bench
