#include "counts_for_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace heddle::detail {

std::vector<CountForRank> counts_for_this(Communicator& ranks,
                                          const std::vector<CountForRank>& mine) {
  constexpr std::size_t max_at_once = 4096;  // over all ranks: 64 KiB
  const auto size = static_cast<std::size_t>(ranks.size());
  const std::size_t of_rank = std::max<std::size_t>(1, max_at_once / size);
  const std::vector<long long> lengths = gather(ranks, static_cast<long long>(mine.size()));
  const auto longest = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::vector<CountForRank> for_this, all;
  std::vector<int> sizes(size);
  for (std::size_t first = 0; first < longest; first += of_rank) {
    const auto part_of = [&](std::size_t length) {
      return length > first ? std::min(of_rank, length - first) : 0;
    };
    std::size_t together = 0;
    for (std::size_t r = 0; r < size; ++r) {
      const std::size_t count = part_of(static_cast<std::size_t>(lengths[r]));
      sizes[r] = static_cast<int>(count * sizeof(CountForRank));
      together += count;
    }
    all.resize(together);
    const std::size_t own = part_of(mine.size());
    ranks.all_gather(std::as_bytes(std::span(mine).subspan(own > 0 ? first : 0, own)),
                     std::as_writable_bytes(std::span(all)), sizes);
    std::size_t at = 0;
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t end = at + static_cast<std::size_t>(sizes[r]) / sizeof(CountForRank);
           at < end; ++at) {
        if (all[at].rank != ranks.rank()) continue;
        for_this.push_back({static_cast<long long>(r), all[at].count});
      }
    }
  }
  std::sort(for_this.begin(), for_this.end(),
            [](const CountForRank& a, const CountForRank& b) { return a.rank < b.rank; });
  return for_this;
}

}  // namespace heddle::detail
