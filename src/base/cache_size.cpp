#include "cache_size.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "device_cuda.hpp"
#include "heddle/config.hpp"

namespace heddle {

namespace {

std::string first_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Bytes of "32768K", as Linux writes sizes of caches; 0 for anything else.
long long bytes_of(const std::string& size) {
  if (size.size() < 2 || size.find_first_not_of("0123456789") != size.size() - 1) return 0;
  const long long number = std::stoll(size.substr(0, size.size() - 1));
  return size.back() == 'K' ? number << 10 : size.back() == 'M' ? number << 20 : 0;
}

/// Cores share a cache in groups, each of which counts once.
long long host_cache_bytes() {
  namespace fs = std::filesystem;
  long long bytes = 0;
  int last_level = 0;
  std::set<std::string> groups;
  std::error_code error;
  for (const auto& core : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    for (const auto& cache : fs::directory_iterator(core.path() / "cache", error)) {
      const std::string level = first_word(cache.path() / "level");
      if (level.size() != 1 || level[0] - '0' < last_level) continue;
      if (level[0] - '0' > last_level) {
        last_level = level[0] - '0';
        bytes = 0;
        groups.clear();
      }
      if (!groups.insert(first_word(cache.path() / "shared_cpu_list")).second) continue;
      bytes += bytes_of(first_word(cache.path() / "size"));
    }
  }
  return bytes;
}

}  // namespace

long long known_cache_bytes(const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) return cuda::last_cache_bytes(device.stream());
  }
  static const long long bytes = host_cache_bytes();  // many files to read
  return bytes;
}

long long last_level_cache_bytes(const Device& device) {
  constexpr long long unknown = 64LL << 20;
  const long long bytes = known_cache_bytes(device);
  return bytes > 0 ? bytes : unknown;
}

}  // namespace heddle
