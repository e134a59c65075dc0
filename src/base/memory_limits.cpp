#include "memory_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "control_groups.hpp"
#include "proc_value.hpp"

namespace heddle {

namespace {

constexpr long long no_limit = std::numeric_limits<long long>::max();

/// The files of one version of control groups.
struct Files {
  const char* limit;
  const char* usage;
  std::vector<std::string> reclaimable;  // in memory.stat
};
const Files version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
const Files version_2{
    "memory.max", "memory.current", {"inactive_file", "active_file", "slab_reclaimable"}};

/// The number that a file holds; the largest if it holds none ("max") or does not exist.
long long number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  long long number = 0;
  return file >> number ? number : no_limit;
}

long long left_in(const ControlGroup& group) {
  const Files& files = group.version == 1 ? version_1 : version_2;
  const long long limit = number_in(group.folder / files.limit);
  const long long usage = number_in(group.folder / files.usage);
  if (limit == no_limit || usage == no_limit) return no_limit;
  long long reclaimable = 0;
  std::ifstream statistics(group.folder / "memory.stat");
  std::string name;
  for (long long bytes = 0; statistics >> name >> bytes;) {
    const auto& names = files.reclaimable;
    if (std::find(names.begin(), names.end(), name) != names.end()) reclaimable += bytes;
  }
  return std::max(0LL, limit - std::max(0LL, usage - reclaimable));
}

}  // namespace

long long control_groups_leave(const std::string& root) {
  long long least = no_limit;
  for (const ControlGroup& group : control_groups("memory", root)) {
    least = std::min(least, left_in(group));
  }
  return least;
}

long long available_host_memory() {
  const auto kibibytes = [](const char* path, const char* key) {
    std::istringstream text(proc_value(path, key));
    long long amount = 0;
    return text >> amount ? amount * 1024 : -1;
  };
  long long available = kibibytes("/proc/meminfo", "MemAvailable");
  if (available < 0) {
    available = static_cast<long long>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  }
  const auto apply_limit = [&](auto resource, const char* used) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const long long left = static_cast<long long>(limit.rlim_cur) -
                           std::max(0LL, kibibytes("/proc/self/status", used));
    available = std::min(available, std::max(0LL, left));
  };
  apply_limit(RLIMIT_AS, "VmSize");
  apply_limit(RLIMIT_DATA, "VmData");
  return std::min(available, control_groups_leave());
}

}  // namespace heddle
