#include "cores.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "base/text/environment.hpp"
#include "control_groups.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#include "openmp_places.hpp"

namespace heddle {

namespace {

int cores_of_affinity() {
  if (const Processors team = processors_of_team(); !team.empty()) {
    return static_cast<int>(team.size());
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// The whole number that a variable begins with; 0 if it begins with none above 0.
int threads_of(const char* variable) {
  const std::string text = environment(variable);
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size() || *end == ',';
  if (error != std::errc() || !whole || number < 1) return 0;
  return static_cast<int>(std::min<long long>(number, max_threads));
}

std::atomic<int> threads_set{0};

}  // namespace

double cores_of_control_groups(const std::string& root) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [version, folder] : control_groups("cpu", root)) {
    double quota = 0, period = 0;
    bool is_limited = false;
    if (version == 2) {
      std::ifstream file(folder / "cpu.max");  // "max" instead of a quota: none
      is_limited = static_cast<bool>(file >> quota >> period);
    } else {
      std::ifstream quota_file(folder / "cpu.cfs_quota_us");  // -1: none
      std::ifstream period_file(folder / "cpu.cfs_period_us");
      is_limited = quota_file >> quota && period_file >> period;
    }
    if (is_limited && quota > 0 && period > 0) least = std::min(least, quota / period);
  }
  return least;
}

int usable_cores() {
  thread_local const int cores = static_cast<int>(
      std::max(1.0, std::min<double>(cores_of_affinity(), std::ceil(cores_of_control_groups()))));
  return cores;
}

int processors_of(const Device& device) {
  return device.on_gpu() ? 0 : std::min(device.threads(), usable_cores());
}

int default_threads() {
  if (const int set = threads_set.load(std::memory_order_relaxed); set > 0) return set;
  for (const char* variable : {"HEDDLE_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const int threads = threads_of(variable); threads > 0) return threads;
  }
  return std::min(usable_cores(), max_threads);
}

void set_default_threads(int threads) {
  if (threads < 0 || threads > max_threads) {
    throw Error(ErrorKind::usage, "a loop runs on 1 to " + std::to_string(max_threads) +
                                      " threads, not on " + std::to_string(threads));
  }
  threads_set.store(threads, std::memory_order_relaxed);
}

}  // namespace heddle
