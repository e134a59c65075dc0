// Rows of matrices between neighbours: from the ranks that have them, or to them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "halo.hpp"
#include "heddle/rank_exchange.hpp"

namespace heddle::detail {

/// Each neighbour sends whole rows: their pattern once, their values as often as they change.
class RowExchange {
 public:
  /// `sends` are places in `sent_rows`, which are numbers of the rows passed below; `receives` are
  /// places in the rows that arrive.
  RowExchange(Communicator& ranks, std::vector<HaloPart> sends, std::vector<Index> sent_rows,
              std::vector<HaloPart> receives);

  /// The rows that arrive. `offsets` are those of this rank's rows, and `column(k)` is that of an
  /// entry. Called before any values. Collective.
  RankRows patterns(std::span<const Offset> offsets,
                    const std::function<long long(Offset)>& column);
  RankRows patterns(const RankRows& rows);
  /// The values of entries that arrive, from those of all entries that this rank has, `bytes` bytes
  /// each. Collective.
  std::vector<std::byte> values(std::span<const std::byte> own, std::size_t bytes) const;

 private:
  struct Run {
    Offset begin, count;
  };
  /// Items before each part, and after the last one.
  using Bounds = std::vector<std::size_t>;

  std::vector<std::byte> exchange(std::span<const std::byte> sent, const Bounds& sent_bounds,
                                  const Bounds& received_bounds, std::size_t bytes) const;

  Communicator& ranks_;
  std::vector<HaloPart> sends_, receives_;
  std::vector<Index> sent_rows_;
  std::vector<Run> sent_;  // entries of each row
  Bounds sent_entries_, received_entries_;
};

}  // namespace heddle::detail
