#include "heddle/measure.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "heddle/array.hpp"

namespace heddle {

namespace {

/// Linear between the neighbouring order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<Timing> measure(const std::vector<std::function<void()>>& works, int repetitions) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> seconds(works.size());
  for (const auto& work : works) work();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      const auto start = Clock::now();
      works[w]();
      seconds[w].push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  }
  std::vector<Timing> timings;
  for (auto& times : seconds) {
    std::sort(times.begin(), times.end());
    timings.push_back(
        times.empty() ? Timing{}
                      : Timing{quantile(times, 0.25), quantile(times, 0.5), quantile(times, 0.75)});
  }
  return timings;
}

struct Triad::Arrays {
  Arrays(std::size_t elements, const Device& device)
      : stream(device.stream()), a(elements, device), b(elements, device), c(elements, device) {}
  Stream stream;
  Array<double> a, b, c;
};

Triad::Triad(const Device& device, long long elements)
    : arrays_(std::make_unique<Arrays>(static_cast<std::size_t>(elements), device)) {}
Triad::~Triad() = default;

void Triad::run() {
  double* a = arrays_->a.data();
  const double* b = arrays_->b.data();
  const double* c = arrays_->c.data();
  const auto n = static_cast<long long>(arrays_->a.size());
#pragma omp parallel for schedule(static) num_threads(arrays_->stream.threads)
  for (long long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

long long Triad::bytes() const { return 24LL * static_cast<long long>(arrays_->a.size()); }

}  // namespace heddle
