// y = A x by all libraries.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "interleave.hpp"
#include "own_plans.hpp"
#include "peers/own_product.hpp"
#include "suite.hpp"
#include "tuning/search/cache_eviction.hpp"

namespace heddle::bench {

namespace {

/// A candidate with the functions that run it; one with a failure has none.
struct ProductContender {
  Candidate candidate;
  std::function<double()> run;               // on the CPU
  std::function<void(const Stream&)> queue;  // on a GPU
  std::function<std::vector<double>()> result;

  bool is_running() const { return !candidate.failure; }
};

double seconds_of(const std::function<void(const Stream&)>& work, const Stream& stream) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work(stream);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ProductContender own_contender(const Problem& problem, const OwnPlan& plan, const Device& device) {
  ProductContender contender;
  if (!plan.plan) {
    contender.candidate.failure = one_line(plan.failure);
    return contender;
  }
  or_failure(contender.candidate, [&] {
    if (plan.plan->layout.stored != StoredScalar::own) {
      throw Error(ErrorKind::unsupported,
                  "iteration-precision=" + std::string(name(plan.plan->layout.stored)) +
                      " multiplies by rounded entries in a solver's "
                      "iterations only; the suite solver measures it");
    }
    OwnProduct product = own_product(problem, *plan.plan, device);
    contender.candidate.memory_bytes = product.memory_bytes;
    contender.queue = product.queue;
    contender.run = [queue = product.queue, device] { return seconds_of(queue, device.stream()); };
    contender.result = std::move(product.result);
  });
  return contender;
}

/// All ways of a library; where it refuses, one candidate with the reason.
std::vector<ProductContender> contenders_of(Peer& peer, const Problem& problem,
                                            const Device& device) {
  std::vector<ProductContender> contenders;
  const std::string library = peer.presence().name;
  Candidate refusal;
  refusal.library = library;
  const bool prepared = or_failure(refusal, [&] {
    for (PeerProduct& product : peer.products(problem, device)) {
      ProductContender contender;
      contender.candidate.library = library;
      contender.candidate.method = product.method;
      contender.candidate.memory_bytes = product.memory_bytes;
      contender.run = std::move(product.run);
      contender.queue = std::move(product.queue);
      contender.result = std::move(product.result);
      contenders.push_back(std::move(contender));
    }
  });
  if (!prepared) contenders.push_back({std::move(refusal), {}, {}, {}});
  return contenders;
}

/// Runs the contender and compares its result with the reference; NaN is wrong.
void check(ProductContender& contender, const std::vector<double>& reference, double max_error,
           const Device& device) {
  or_failure(contender.candidate, [&] {
    if (device.on_gpu()) {
      contender.queue(device.stream());
      device.synchronize();
    } else {
      contender.run();
    }
    const double error = relative_difference(contender.result(), reference);
    if (std::isfinite(error)) contender.candidate.error = error;
    if (error <= max_error) return;
    char text[80];
    std::snprintf(text, sizeof text, "wrong result: |y - reference| / |reference| = %.2e", error);
    contender.candidate.failure = text;
  });
}

using Contenders = std::vector<ProductContender*>;

/// Times works that a GPU's graph can hold: each was captured once by itself.
void time_on_gpu(Session& session, const Contenders& contenders, bool cold) {
  const Device& device = session.device();
  std::vector<std::function<void(const Stream&)>> works = {
      [&session](const Stream& stream) { session.triad().run(stream); }};
  Contenders timed;
  for (ProductContender* contender : contenders) {
    const bool captured = or_failure(contender->candidate, [&] {
      const std::vector<std::function<void(const Stream&)>> alone = {contender->queue};
      measure(alone, 1, device);
    });
    if (!captured) continue;
    works.push_back(contender->queue);
    timed.push_back(contender);
  }
  const std::vector<Timing> warm = measure(works, session.settings().repetitions, device);
  session.saw_bandwidth(warm[0]);
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i]->candidate.seconds = warm[i + 1];
  if (!cold) return;
  works[0] = run_nothing;
  const std::vector<Timing> after_eviction =
      measure_cold(works, session.settings().repetitions, device);
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i]->candidate.cold = after_eviction[i + 1];
}

void time_on_cpu(Session& session, const Contenders& contenders, bool cold) {
  const Stream stream = session.device().stream();
  std::vector<TimedRun> runs = {
      [&] { return seconds_of([&](const Stream& on) { session.triad().run(on); }, stream); }};
  runs.reserve(contenders.size() + 1);
  for (const ProductContender* contender : contenders) runs.push_back(contender->run);
  const auto put = [&](std::optional<Timing> Candidate::* into,
                       const std::vector<Interleaved>& outcomes, std::size_t first) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Candidate& candidate = contenders[i]->candidate;
      const Interleaved& outcome = outcomes[i + first];
      if (outcome.failure.empty()) {
        candidate.*into = outcome.timing;
      } else {
        candidate.failure = one_line(outcome.failure);
      }
    }
  };
  InterleaveOptions options;
  options.repetitions = session.settings().repetitions;
  options.seconds_in_all = session.seconds_for_timing();
  const std::vector<Interleaved> warm = interleave(runs, options);
  session.saw_bandwidth(warm[0].timing);
  put(&Candidate::seconds, warm, 1);
  if (!cold) return;
  CacheEviction eviction(session.device());
  options.follows_itself = false;
  options.before = [&] { eviction.run(stream); };
  runs.erase(runs.begin());
  put(&Candidate::cold, interleave(runs, options), 0);
}

}  // namespace

void measure_products(Session& session, const Problem& problem, Record record, bool cold,
                      const std::vector<std::string>& texts) {
  const Device& device = session.device();
  record.compulsory_bytes = compulsory_bytes(problem.matrix);
  session.doing("the reference");
  const std::vector<double> reference = reference_product(problem, problem.x);
  const bool single = problem.matrix.precision() == Precision::single_precision;
  const double max_error = single ? max_error_single : max_error_double;

  session.doing("building");
  const std::vector<OwnPlan> plans = own_plans(problem.matrix, device, Objective::product(), texts);
  std::vector<ProductContender> contenders;
  contenders.reserve(plans.size());
  for (const OwnPlan& plan : plans) contenders.push_back(own_contender(problem, plan, device));
  for (const auto& peer : session.peers()) {
    if (!peer->presence().present) continue;
    session.doing("building for " + peer->presence().name);
    for (ProductContender& contender : contenders_of(*peer, problem, device)) {
      contenders.push_back(std::move(contender));
    }
  }

  session.doing("checking");
  Contenders right;
  const double csr = static_cast<double>(csr_bytes(problem.matrix));
  for (ProductContender& contender : contenders) {
    if (contender.is_running()) check(contender, reference, max_error, device);
    if (const auto bytes = contender.candidate.memory_bytes; bytes && *bytes > 0) {
      contender.candidate.memory_ratio = static_cast<double>(*bytes) / csr;
    } else {
      contender.candidate.memory_bytes.reset();
    }
    if (contender.is_running()) right.push_back(&contender);
  }
  session.doing("timing");
  if (device.on_gpu()) {
    time_on_gpu(session, right, cold);
  } else {
    time_on_cpu(session, right, cold);
  }

  std::vector<Candidate> own;
  own.reserve(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) own.push_back(contenders[i].candidate);
  add_own_candidates(record, plans, own, [](const Candidate& candidate) -> std::optional<double> {
    if (candidate.failure || !candidate.seconds) return {};
    return candidate.seconds->median;
  });
  for (std::size_t i = plans.size(); i < contenders.size(); ++i) {
    record.candidates.push_back(std::move(contenders[i].candidate));
  }
  session.add(std::move(record));
}

namespace {

/// Plans that the problem knows, fewer in a quick run, and those that were asked for.
std::vector<std::string> plans_of(const Session& session, const Problem& problem) {
  constexpr std::size_t in_a_hurry = 2;
  std::vector<std::string> plans = problem.plans;
  if (session.settings().quick && plans.size() > in_a_hurry) plans.resize(in_a_hurry);
  plans.insert(plans.end(), session.settings().plans.begin(), session.settings().plans.end());
  add_tuned_plan(problem.matrix, session, Objective::product(), plans);
  return plans;
}

}  // namespace

void product_suite(Session& session, const Problem& problem) {
  measure_products(session, problem, record_of("product", problem, "product"), true,
                   plans_of(session, problem));
}

}  // namespace heddle::bench
