// Optimised in full.
#include "cache_eviction.hpp"

#include "base/cache_size.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "measure_cuda.hpp"

namespace heddle {

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
  if (n > 0) data[0] = sum;  // makes sure that it is read
}

}  // namespace heddle
