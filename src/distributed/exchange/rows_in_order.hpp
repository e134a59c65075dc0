// The rows of all ranks, as rank 0 walks over them.
#pragma once

#include <cstddef>

#include "heddle/partition.hpp"

namespace heddle::detail {

/// Calls `take(rank, row)` for the rows of each rank, in its order.
template <class Take>
void for_each_row(const Partition& partition, const Take& take) {
  for (int r = 0; r < partition.ranks(); ++r) {
    const long long first = partition.first_row(r);
    for (long long own = 0; own < partition.rows_of(r); ++own) {
      take(static_cast<std::size_t>(r), partition.row(first + own));
    }
  }
}

}  // namespace heddle::detail
