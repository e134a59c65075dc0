#include "cache_eviction.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "heddle/config.hpp"
#include "heddle/team.hpp"
#include "measure_cuda.hpp"

namespace heddle {

namespace {

std::string first_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// "32768K", as Linux writes sizes of caches; 0 for anything else.
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
  return host_cache_bytes();
}

long long last_level_cache_bytes(const Device& device) {
  constexpr long long unknown = 64LL << 20;
  const long long bytes = known_cache_bytes(device);
  return bytes > 0 ? bytes : unknown;
}

CacheEviction::CacheEviction(const Device& device)
    : buffer_(static_cast<std::size_t>(3 * last_level_cache_bytes(device)) / 16 * 2, device) {}

void CacheEviction::run(const Stream& stream) {
  unsigned long long* const data = buffer_.data();
  if constexpr (has_cuda) {
    if (stream.on_gpu()) {
      return cuda::write_and_read(data, buffer_.size() * sizeof *data, stream);
    }
  }
  const auto n = static_cast<long long>(buffer_.size());
  parallel_for(stream.threads, n,
               [&](long long i) { data[i] += static_cast<unsigned long long>(i); });
  const auto sum = parallel_reduce(
      stream.threads, n, 0ULL, [&](long long i, unsigned long long& own) { own += data[i]; },
      [](unsigned long long& all, unsigned long long own) { all += own; });
  if (n > 0) data[0] = sum;  // so that it is read
}

}  // namespace heddle
