#include "memory_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "proc_value.hpp"

namespace heddle {

namespace {

constexpr long long no_limit = std::numeric_limits<long long>::max();

/// Where one version of control groups keeps what.
struct Version {
  const char* file_system;
  const char* limit;
  const char* usage;
  std::vector<std::string> reclaimable;  // in memory.stat
};
const Version version_1{"cgroup",
                        "memory.limit_in_bytes",
                        "memory.usage_in_bytes",
                        {"total_inactive_file", "total_active_file"}};
const Version version_2{"cgroup2",
                        "memory.max",
                        "memory.current",
                        {"inactive_file", "active_file", "slab_reclaimable"}};

/// The number that a file holds; the largest where it holds none ("max") or is not there.
long long number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  long long number = 0;
  return file >> number ? number : no_limit;
}

long long left_in(const std::filesystem::path& group, const Version& version) {
  const long long limit = number_in(group / version.limit);
  const long long usage = number_in(group / version.usage);
  if (limit == no_limit || usage == no_limit) return no_limit;
  long long reclaimable = 0;
  std::ifstream statistics(group / "memory.stat");
  std::string name;
  for (long long bytes = 0; statistics >> name >> bytes;) {
    const auto& names = version.reclaimable;
    if (std::find(names.begin(), names.end(), name) != names.end()) reclaimable += bytes;
  }
  return std::max(0LL, limit - std::max(0LL, usage - reclaimable));
}

/// The group of the process below the mounted ones; empty where there is none.
std::string group_of_process(const std::string& root, const Version& version) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_it = &version == &version_2 ? controllers == ",,"
                                              : controllers.find(",memory,") != std::string::npos;
    if (is_it) return line.substr(second + 1);
  }
  return "";
}

/// Where the groups of a version that limits memory are mounted; empty where they are not.
std::string mount_of(const std::string& root, const Version& version) {
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, point, type, source, options;
    words >> word >> word >> word >> word >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    if (type != version.file_system) continue;
    if (&version == &version_2 || ("," + options + ",").find(",memory,") != std::string::npos) {
      return point;
    }
  }
  return "";
}

}  // namespace

long long control_groups_leave(const std::string& root) {
  long long least = no_limit;
  for (const Version* version : {&version_1, &version_2}) {
    const std::string mount = mount_of(root, *version);
    if (mount.empty()) continue;
    // In a container the path may begin at the machine's root, which is not what is mounted: then
    // its folders are not there, and the mounted one is the container's.
    std::filesystem::path below =
        std::filesystem::path(group_of_process(root, *version)).relative_path();
    const std::filesystem::path top = root + mount;
    for (; !below.empty(); below = below.parent_path()) {
      least = std::min(least, left_in(top / below, *version));
    }
    least = std::min(least, left_in(top, *version));
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
