// Optimised in full.
#include "heddle/tuning/measure.hpp"

#include <algorithm>
#include <chrono>

#include "cache_eviction.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/tuning/statistics.hpp"
#include "measure_cuda.hpp"

namespace heddle {

namespace {

double seconds_of(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::vector<Timing> detail::timings_of(std::vector<std::vector<double>>& seconds) {
  std::vector<Timing> timings;
  timings.reserve(seconds.size());
  for (auto& times : seconds) {
    std::sort(times.begin(), times.end());
    timings.push_back(
        times.empty() ? Timing{}
                      : Timing{quantile(times, 0.25), quantile(times, 0.5), quantile(times, 0.75)});
  }
  return timings;
}

std::vector<Timing> detail::timings_in_turn(const std::vector<std::function<double()>>& works,
                                            int repetitions) {
  std::vector<std::vector<double>> seconds(works.size());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) seconds[w].push_back(works[w]());
  }
  return timings_of(seconds);
}

std::vector<Timing> measure(const std::vector<std::function<void()>>& works, int repetitions) {
  std::vector<std::function<double()>> timed;
  for (const auto& work : works) {
    work();
    timed.emplace_back([&] {
      if (works.size() > 1) work();
      return seconds_of(work);
    });
  }
  return detail::timings_in_turn(timed, repetitions);
}

std::vector<Timing> measure(const std::vector<std::function<void(const Stream&)>>& works,
                            int repetitions, const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::measure(works, repetitions, device);
  }
  std::vector<std::function<void()>> run;
  run.reserve(works.size());
  for (const auto& work : works) {
    run.emplace_back([&work, &device] { work(device.stream()); });
  }
  return measure(run, repetitions);
}

std::vector<Timing> measure_cold(const std::vector<std::function<void(const Stream&)>>& works,
                                 int repetitions, const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::measure_cold(works, repetitions, device);
  }
  CacheEviction eviction(device);
  std::vector<std::function<double()>> timed;
  for (const auto& work : works) {
    work(device.stream());
    timed.emplace_back([&] {
      eviction.run(device.stream());
      return seconds_of([&] { work(device.stream()); });
    });
  }
  return detail::timings_in_turn(timed, repetitions);
}

void run_nothing(const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::empty_kernel(stream);
  }
  parallel_for(stream.threads, stream.threads, [](int) {});
}

Triad::Triad(const Device& device, long long elements)
    : on_gpu_(device.on_gpu()),
      a_(static_cast<std::size_t>(elements), device),
      b_(a_.size(), device),
      c_(on_gpu_ ? 0 : a_.size(), device) {}

void Triad::run(const Stream& stream) {
  double* a = a_.data();
  const double* b = b_.data();
  if constexpr (has_cuda) {
    if (on_gpu_) return cuda::copy_kernel(b, a, a_.size() * sizeof(double), stream);
  }
  const double* c = c_.data();
  parallel_for(stream.threads, static_cast<long long>(a_.size()),
               [&](long long i) { a[i] = b[i] + 3.0 * c[i]; });
}

long long Triad::bytes() const {
  return (on_gpu_ ? 16LL : 24LL) * static_cast<long long>(a_.size());
}

std::string_view Triad::name() const { return on_gpu_ ? "copy" : "triad"; }

}  // namespace heddle
