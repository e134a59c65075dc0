// Optimised in full.
// Upper limits of a device's speed: measured, or typical for devices of its kind.
#include <algorithm>

#include "base/cache_size.hpp"
#include "heddle/tuning/measure.hpp"
#include "heddle/tuning/predict.hpp"

namespace heddle {

namespace {

/// Bytes a second of the triad over arrays of `bytes` in all; the fastest quarter of its runs
/// bounds what is possible.
double bandwidth(const Device& device, long long bytes, int repetitions) {
  const long long bytes_of_element = device.on_gpu() ? 16 : 24;
  Triad triad(device, std::max(1LL, bytes / bytes_of_element));
  const std::vector<std::function<void(const Stream&)>> works = {
      [&](const Stream& stream) { triad.run(stream); }};
  const Timing timing = measure(works, repetitions, device).front();
  return static_cast<double>(triad.bytes()) / timing.lower_quartile;
}

}  // namespace

Ceilings measure_ceilings(const Device& device) {
  constexpr int few = 7, many = 41;
  constexpr long long least = 64LL << 20, most = 2LL << 30;
  const long long cache = last_level_cache_bytes(device);
  const long long far_larger =
      std::min(std::clamp(4 * cache, least, most), device.available_memory() / 4);
  Ceilings ceilings;
  ceilings.memory = bandwidth(device, far_larger, few);
  ceilings.cache = std::max(ceilings.memory, bandwidth(device, cache / 4, many));
  ceilings.start = measure({run_nothing}, many, device).front().lower_quartile;
  return ceilings;
}

// A GPU's bandwidth grows with its multiprocessors: 30 to 36 GB/s each where memory is stacked
// (data-centre architectures: 8.0, 9.0, 10.0), about 8 on others; twice and four times that from
// L2. A core of a CPU reaches about 10 GB/s, and some eight of them saturate a socket's memory.
Ceilings typical_ceilings(const DeviceProperties& device) {
  if (device.gpu) {
    const bool stacked = device.architecture % 10 == 0 && device.architecture <= 100;
    const double multiprocessors = std::max(1, device.multiprocessors);
    return stacked ? Ceilings{28e9 * multiprocessors, 56e9 * multiprocessors, 2e-6}
                   : Ceilings{8e9 * multiprocessors, 32e9 * multiprocessors, 2e-6};
  }
  const int threads = std::max(1, device.threads);
  constexpr int threads_of_memory = 8;
  return {10e9 * std::min(threads, threads_of_memory), 20e9 * threads, threads > 1 ? 5e-6 : 1e-7};
}

}  // namespace heddle
