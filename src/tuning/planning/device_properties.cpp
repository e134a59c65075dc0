#include "heddle/tuning/device_properties.hpp"

#include <map>
#include <mutex>
#include <sstream>

#include "base/cache_size.hpp"
#include "base/proc_value.hpp"
#include "device_properties_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/instruction_sets.hpp"

namespace heddle {

namespace {

/// Properties of the host, except for the threads of a device.
DeviceProperties look_at_host() {
  DeviceProperties p;
  p.name = proc_value("/proc/cpuinfo", "model name");
  if (p.name.empty()) p.name = "CPU";
  std::istringstream kibibytes(proc_value("/proc/meminfo", "MemTotal"));
  if (kibibytes >> p.memory) p.memory *= 1024;
  p.last_cache = known_cache_bytes(Device::cpu(1));
  p.instructions = detail::has_avx2() ? "AVX2 and FMA" : "x86-64";
  return p;
}

DeviceProperties look_at(const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::properties_of(device.stream());
  }
  return look_at_host();
}

std::string in_words(int architecture) {
  return std::to_string(architecture / 10) + "." + std::to_string(architecture % 10);
}

}  // namespace

// Queried once a process: the kernel takes a millisecond to report many cores and their caches, the
// driver several to report a GPU.
DeviceProperties properties_of(const Device& device) {
  static std::mutex mutex;
  static auto& known = *new std::map<int, DeviceProperties>;  // by GPU, the host at -1; never freed
  const std::lock_guard lock(mutex);
  const int gpu = device.on_gpu() ? device.stream().gpu : -1;
  auto at = known.find(gpu);
  if (at == known.end()) at = known.emplace(gpu, look_at(device)).first;
  DeviceProperties properties = at->second;
  if (!device.on_gpu()) properties.threads = device.threads();
  return properties;
}

std::string why_another_class(const DeviceProperties& measured, const DeviceProperties& here) {
  if (measured.gpu != here.gpu) return measured.gpu ? "it is for a GPU" : "it is for a CPU";
  if (!here.gpu) {
    if (measured.instructions == here.instructions) return "";
    return "it is for products on CPUs with " + measured.instructions + ", these are for " +
           here.instructions;
  }
  if (measured.name != here.name) return "it is for " + measured.name + ", this is " + here.name;
  if (measured.architecture == here.architecture) return "";
  return "it is for compute capability " + in_words(measured.architecture) + ", this GPU has " +
         in_words(here.architecture);
}

}  // namespace heddle
