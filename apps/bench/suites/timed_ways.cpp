#include "timed_ways.hpp"

#include <chrono>
#include <utility>

#include "heddle/tuning/measure.hpp"
#include "interleave.hpp"

namespace heddle::bench {

namespace timed_ways {
namespace {

double seconds_of(const Device& device, const Queue& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work(device.stream());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void run_once(const TimedWay& way, const Device& device) {
  if (way.prepare) way.prepare(device.stream());
  way.queue(device.stream());
  device.synchronize();
}

/// True if further runs leave the bits of the last one; numbers are compared, so -0 is 0.
bool leaves_same_bits(const TimedWay& way, const Device& device) {
  constexpr int further_runs = 3;
  const std::vector<double> first = way.result();
  for (int run = 0; run < further_runs; ++run) {
    run_once(way, device);
    if (way.result() != first) return false;
  }
  return true;
}

void take(const Interleaved& outcome, Candidate& candidate) {
  if (outcome.failure.empty()) {
    candidate.seconds = outcome.timing;
  } else {
    candidate.failure = one_line(outcome.failure);
  }
}

}  // namespace
}  // namespace timed_ways

Record measured(Session& session, Record record, const std::vector<TimedWay>& ways) {
  using namespace timed_ways;
  const Device& device = session.device();
  session.doing(record.quantity);
  std::vector<std::size_t> timed;
  std::vector<TimedRun> runs;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Candidate candidate;
    candidate.role = ways[i].role;
    candidate.library = ways[i].library;
    candidate.method = ways[i].method;
    const bool works = or_failure(candidate, [&] {
      run_once(ways[i], device);
      if (ways[i].error) candidate.error = ways[i].error();
      if (!is_right(record, candidate)) throw Error(ErrorKind::internal, "wrong result");
      if (ways[i].result) candidate.repeats = leaves_same_bits(ways[i], device);
    });
    record.candidates.push_back(std::move(candidate));
    if (!works) continue;
    timed.push_back(i);
    runs.emplace_back([&device, queue = ways[i].queue] { return seconds_of(device, queue); });
  }
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing() * 3;
  if (!device.on_gpu()) {
    const std::vector<Interleaved> outcomes = interleave(runs, options);
    for (std::size_t k = 0; k < timed.size(); ++k) {
      take(outcomes[k], record.candidates[timed[k]]);
    }
    return record;
  }
  for (std::size_t k = 0; k < timed.size(); ++k) {
    const TimedWay& way = ways[timed[k]];
    Candidate& candidate = record.candidates[timed[k]];
    or_failure(candidate, [&] {
      if (way.on_host) {
        take(interleave({runs[k]}, options)[0], candidate);
      } else {
        const std::vector<Queue> work = {way.queue};
        candidate.seconds = measure(work, session.settings().repetitions, device)[0];
      }
      if (way.scheduled) candidate.queues = way.scheduled->statistics(device.stream());
    });
  }
  return record;
}

}  // namespace heddle::bench
