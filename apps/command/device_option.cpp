#include "device_option.hpp"

#include <charconv>
#include <string_view>

#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"
#include "message.hpp"
#include "spmv/kernel_cache.hpp"

namespace heddle::cli {

namespace {

/// Kernels that are compiled in each run are worth a word.
Device with_cache(Device gpu, bool quiet) {
  const std::string why = cuda::KernelCache(cuda::kernel_cache_folder()).why_unsafe();
  if (!quiet && !why.empty()) warn(why);
  return gpu;
}

}  // namespace

void DeviceOption::add_to(CLI::App& command) {
  command
      .add_option("--device", device,
                  "cpu, cuda or cuda:N for the GPU of that number, auto for a GPU where one works")
      ->capture_default_str()
      ->type_name("DEVICE");
  command.add_option("--threads", threads, "threads to use; 0 takes every core")
      ->capture_default_str()
      ->check(CLI::Range(0, most_threads))
      ->type_name("N");
}

Device DeviceOption::on(bool quiet) const {
  // Also of loops that are given no device.
  if (threads > 0) set_default_threads(threads);
  if (device == "cpu") return Device::cpu(threads);
  if (device == "cuda") return with_cache(Device::cuda(0), quiet);
  if (device == "auto") {
    const std::string why = Device::why_no_gpu();
    if (!quiet) {
      say("--device auto takes " +
          (why.empty() ? "the first GPU: " + Device::cuda(0).description() : "the CPU: " + why));
    }
    return why.empty() ? with_cache(Device::cuda(0), quiet) : Device::cpu(threads);
  }
  constexpr std::string_view prefix = "cuda:";
  if (device.starts_with(prefix)) {
    const char* begin = device.data() + prefix.size();
    const char* end = device.data() + device.size();
    int ordinal = 0;
    const auto [stop, failed] = std::from_chars(begin, end, ordinal);
    if (failed == std::errc() && stop == end && ordinal >= 0) {
      return with_cache(Device::cuda(ordinal), quiet);
    }
  }
  throw Error(ErrorKind::usage,
              "no device is named '" + device + "'; there are: cpu, cuda, cuda:N, auto");
}

}  // namespace heddle::cli
