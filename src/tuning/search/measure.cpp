#include "heddle/tuning/measure.hpp"

#include <algorithm>
#include <chrono>

#include "cache_eviction.hpp"
#include "heddle/array.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "measure_cuda.hpp"
#include "tuning/planning/quantile.hpp"

namespace heddle {

namespace {

Timing timing_of(std::vector<double>& seconds) {
  std::sort(seconds.begin(), seconds.end());
  if (seconds.empty()) return {};
  return {detail::quantile(seconds, 0.25), detail::quantile(seconds, 0.5),
          detail::quantile(seconds, 0.75)};
}

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
  for (auto& times : seconds) timings.push_back(timing_of(times));
  return timings;
}

std::vector<Timing> measure(const std::vector<std::function<void()>>& works, int repetitions) {
  std::vector<std::vector<double>> seconds(works.size());
  for (const auto& work : works) work();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      if (works.size() > 1) works[w]();
      seconds[w].push_back(seconds_of(works[w]));
    }
  }
  return detail::timings_of(seconds);
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
  std::vector<std::vector<double>> seconds(works.size());
  for (const auto& work : works) work(device.stream());
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      eviction.run(device.stream());
      seconds[w].push_back(seconds_of([&] { works[w](device.stream()); }));
    }
  }
  return detail::timings_of(seconds);
}

void run_nothing(const Stream& stream) {
  if constexpr (has_cuda) {
    if (stream.on_gpu()) return cuda::empty_kernel(stream);
  }
  parallel_for(stream.threads, stream.threads, [](int) {});
}

struct Triad::Arrays {
  Arrays(std::size_t elements, const Device& device)
      : on_gpu(device.on_gpu()),
        a(elements, device),
        b(elements, device),
        c(on_gpu ? 0 : elements, device) {}
  bool on_gpu;
  Array<double> a, b, c;
};

Triad::Triad(const Device& device, long long elements)
    : arrays_(std::make_unique<Arrays>(static_cast<std::size_t>(elements), device)) {}
Triad::~Triad() = default;

void Triad::run(const Stream& stream) {
  double* a = arrays_->a.data();
  const double* b = arrays_->b.data();
  if constexpr (has_cuda) {
    if (arrays_->on_gpu) {
      return cuda::copy_kernel(b, a, arrays_->a.size() * sizeof(double), stream);
    }
  }
  const double* c = arrays_->c.data();
  const auto n = static_cast<long long>(arrays_->a.size());
  parallel_for(stream.threads, n, [&](long long i) { a[i] = b[i] + 3.0 * c[i]; });
}

long long Triad::bytes() const {
  return (arrays_->on_gpu ? 16LL : 24LL) * static_cast<long long>(arrays_->a.size());
}

std::string_view Triad::name() const { return arrays_->on_gpu ? "copy" : "triad"; }

}  // namespace heddle
