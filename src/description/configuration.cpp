#include "configuration.hpp"

#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/device_cuda.hpp"
#include "base/proc_value.hpp"
#include "base/shared_library.hpp"
#include "distributed/communicators/nccl_library.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/instruction_sets.hpp"
#include "heddle/error.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/version.hpp"
#include "spmv/device_linker.hpp"
#include "spmv/kernel_cache.hpp"
#include "spmv/nvrtc.hpp"
#include "tuning/planning/device_properties_cuda.hpp"

namespace heddle::detail {

namespace {

using Json = nlohmann::ordered_json;

/// The result of `value`, or the reason why it throws.
template <class F>
Json or_why_not(const F& value) {
  try {
    return value();
  } catch (const Error& error) {
    return error.what();
  }
}

Json instructions() {
  Json compiled = Json::array();
  if constexpr (has_baseline_copies) compiled.push_back("x86-64");
  if constexpr (has_avx2_copies) compiled.push_back("AVX2 and FMA");
  return {{"compiled", compiled}, {"avx2_here", machine_has_avx2()}};
}

Json gpus() {
  Json all = Json::array();
  if constexpr (has_cuda) {
    const int count = cuda::number_of_gpus();
    for (int gpu = 0; gpu < count; ++gpu) {
      const DeviceProperties p = cuda::properties_of({1, gpu, nullptr, nullptr});
      all.push_back({{"name", p.name},
                     {"compute_capability", p.architecture / 10.0},
                     {"memory", p.memory},
                     {"driver", p.driver}});
    }
  }
  return all;
}

Json cuda_parts() {
  if (!has_cuda) return nullptr;
  Json parts;
  if constexpr (has_cuda) parts["toolkit"] = cuda::toolkit_version();
  parts["gpus"] = or_why_not(gpus);
  parts["nvrtc"] = or_why_not([] {
    const cuda::Nvrtc& n = cuda::nvrtc();
    return std::to_string(n.major) + "." + std::to_string(n.minor) + " in " +
           file_of(reinterpret_cast<const void*>(n.create_program));
  });
  parts["linker"] = or_why_not([] { return cuda::linked_with(); });
  parts["nccl"] =
      or_why_not([] { return file_of(reinterpret_cast<const void*>(cuda::nccl().get_unique_id)); });
  return parts;
}

Json folders() {
  const std::string cache = cuda::kernel_cache_folder().string();
  return {{"kernels", cache},
          {"kernels_unused", cuda::KernelCache(cache).why_unsafe()},
          {"profiles", profile_folder()},
          {"profiles_found", profiles_in_folders()}};
}

Json environment_used() {
  Json used = Json::object();
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    constexpr std::string_view others[] = {"CUDA_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"};
    if (!name.starts_with("HEDDLE_") && std::ranges::count(others, name) == 0) continue;
    used[std::string(name)] = text.substr(std::min(name.size() + 1, text.size()));
  }
  return used;
}

}  // namespace

std::string configuration() {
  const Json all = {{"version", version},
                    {"library", file_of(reinterpret_cast<const void*>(&configuration))},
                    {"processor", proc_value("/proc/cpuinfo", "model name")},
                    {"threads", default_threads()},
                    {"instructions", instructions()},
                    {"cuda", cuda_parts()},
                    {"partitions", {{"metis", HEDDLE_HAS_METIS}, {"scotch", HEDDLE_HAS_SCOTCH}}},
                    {"libraries", {{"libzip", zip_libzip_version()}, {"zlib", zlibVersion()}}},
                    {"folders", folders()},
                    {"environment", environment_used()}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heddle::detail
