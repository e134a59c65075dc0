#include "gathered_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::cli {

namespace {

template <class S>
std::span<std::byte> bytes_of(S* data, long long scalars) {
  return std::as_writable_bytes(std::span(data, static_cast<std::size_t>(scalars)));
}

/// Sends rows in parts, because a message takes less than 2^31 bytes.
template <class S>
void gather_scalars(Communicator& ranks, const Partition& partition, int width, S* from, S* to) {
  constexpr long long max_bytes = 1LL << 28;
  const auto row_bytes = static_cast<long long>(static_cast<std::size_t>(width) * sizeof(S));
  const long long at_once = std::max(1LL, max_bytes / (row_bytes * ranks.size()));
  const auto rows_of = [&](int rank, long long done) {
    return std::clamp(partition.rows_of(rank) - done, 0LL, at_once);
  };
  std::vector<S> gathered;
  std::vector<int> sizes(static_cast<std::size_t>(ranks.size()));
  for (long long done = 0, rows = 1; rows > 0; done += at_once) {
    rows = 0;
    for (int r = 0; r < ranks.size(); ++r) {
      sizes[static_cast<std::size_t>(r)] = static_cast<int>(rows_of(r, done) * row_bytes);
      rows += rows_of(r, done);
    }
    gathered.resize(static_cast<std::size_t>(rows * width));
    const long long mine = rows_of(ranks.rank(), done) * width;
    ranks.all_gather(bytes_of(mine > 0 ? from + done * width : from, mine),
                     std::as_writable_bytes(std::span(gathered)), sizes);
    const S* next = gathered.data();
    for (int r = 0; r < ranks.size(); ++r) {
      for (long long i = 0; i < rows_of(r, done); ++i, next += width) {
        std::copy_n(next, width, to + partition.row(partition.first_row(r) + done + i) * width);
      }
    }
  }
}

}  // namespace

void gather_rows(Communicator& ranks, const Partition& partition, AnyField& part, AnyField& all) {
  const auto gather = [&]<class S>(S) {
    gather_scalars(ranks, partition, part.components(), part.view<S>().data, all.view<S>().data);
  };
  if (part.precision() == Precision::single_precision) {
    gather(float());
  } else {
    gather(double());
  }
}

}  // namespace heddle::cli
