#include "device_option.hpp"

#include <optional>

#include "any_case.hpp"
#include "base/device_name.hpp"
#include "heddle/tools/team.hpp"
#include "message.hpp"
#include "spmv/kernel_cache.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

/// Warns if kernels have to be compiled in each run.
Device with_cache(Device gpu, bool quiet) {
  const std::string why = cuda::KernelCache(cuda::kernel_cache_folder()).why_unsafe();
  if (!quiet && !why.empty()) warn(why);
  return gpu;
}

}  // namespace

void DeviceOption::add_to(CLI::App& command) {
  command
      .add_option("--device", device,
                  "cpu, cuda or cuda:N for GPU number N, or auto for a GPU if one works")
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("DEVICE");
  command.add_option("--threads", threads, "CPU threads; 0 uses every core")
      ->capture_default_str()
      ->transform(whole_number(0, max_threads))
      ->type_name("N");
}

Device DeviceOption::on(bool quiet) const {
  // This also holds for loops that are given no device.
  if (threads > 0) set_default_threads(threads);
  const std::optional<int> gpu = gpu_named(device);
  if (device == "auto" && !quiet) {
    say("--device auto uses " + (gpu ? "the first GPU: " + Device::cuda(0).description()
                                     : "the CPU: " + Device::why_no_gpu()));
  }
  return gpu ? with_cache(Device::cuda(*gpu), quiet) : Device::cpu(threads);
}

}  // namespace heddle::cli
