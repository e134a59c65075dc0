#include "control_groups.hpp"

#include <fstream>
#include <sstream>

namespace heddle {

namespace {

/// The group of the process below the mounted ones; empty if there is none.
std::string group_of_process(const std::string& root, int version, const std::string& controller) {
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_it = version == 2 ? controllers == ",,"
                                    : controllers.find("," + controller + ",") != std::string::npos;
    if (is_it) return line.substr(second + 1);
  }
  return "";
}

/// Mount point of the groups of a version that limits the controller; empty if there is none.
std::string mount_of(const std::string& root, int version, const std::string& controller) {
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, point, type, source, options;
    words >> word >> word >> word >> word >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    if (type != (version == 2 ? "cgroup2" : "cgroup")) continue;
    if (version == 2 || ("," + options + ",").find("," + controller + ",") != std::string::npos) {
      return point;
    }
  }
  return "";
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& controller, const std::string& root) {
  std::vector<ControlGroup> groups;
  for (const int version : {1, 2}) {
    const std::string mount = mount_of(root, version, controller);
    if (mount.empty()) continue;
    // In a container the path may begin at the machine's root, which is not mounted there. Then its
    // folders do not exist, and the mounted one is the container's.
    std::filesystem::path below =
        std::filesystem::path(group_of_process(root, version, controller)).relative_path();
    const std::filesystem::path top = root + mount;
    for (; !below.empty(); below = below.parent_path()) groups.push_back({version, top / below});
    groups.push_back({version, top});
  }
  return groups;
}

}  // namespace heddle
