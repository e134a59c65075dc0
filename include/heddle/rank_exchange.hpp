// The rows that ranks have, and how products exchange those of x that other ranks have.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// When the parts of x that other ranks have are exchanged (Kreutzer et al. 2012, section 3.1):
/// before the product; by calls around the product of the rows that need none of them, during which
/// some communicators move nothing; or by a separate thread alongside that product.
enum class ExchangeMode { vector, naive, task };

HEDDLE_EXPORT std::string_view name(ExchangeMode mode);
/// Throws `Error` (usage) for another name.
HEDDLE_EXPORT ExchangeMode parse_exchange_mode(std::string_view name);

/// Rows of the boundary stored `whole`, with the bits of one process; or, as Kreutzer et al. store
/// them, `split` into entries of the rank's own columns, multiplied during the exchange, and those
/// of other ranks' columns, added after it. The sums of `split` rows depend on the partition.
enum class BoundaryStorage { whole, split };

HEDDLE_EXPORT std::string_view name(BoundaryStorage storage);
/// Throws `Error` (usage) for another name.
HEDDLE_EXPORT BoundaryStorage parse_boundary_storage(std::string_view name);

/// The rows of one rank in their order: `rows + 1` offsets from 0, and for each entry a column,
/// counted among those of all ranks.
struct RankRows {
  std::vector<Offset> offsets{0};
  std::vector<long long> columns;
};

/// Rows of one rank and the value of each entry, in their order.
struct RankEntries {
  RankRows rows;
  std::vector<std::byte> values;
};

/// Where the time of products and sums has gone, in seconds since the operator was made; for
/// products on a GPU, in that GPU's time.
struct RankTimes {
  double product = 0;   // whole products, including the part of the exchange that is not hidden
  double exchange = 0;  // in calls of the communicator for x, or in copies, hidden or not
  double waiting = 0;   // time that the product waits for the exchange
  double sums = 0;      // joining sums, including the wait for other ranks
};

}  // namespace heddle
