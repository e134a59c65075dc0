#include "mesh_order.hpp"

#include <algorithm>
#include <limits>
#include "heddle/tools/team.hpp"

namespace heddle::problems {

namespace {

constexpr int levels = 20;  // bits per coordinate

/// Position of a cell of the 2^20-cube on Hilbert's curve (Skilling 2004, "Programming the Hilbert
/// curve"): from the coarsest level down, turn the finer levels into the frame of the octant
/// entered, then read the octants' Gray codes.
std::uint64_t hilbert_key(std::array<std::uint32_t, 3> cell) {
  for (int level = levels - 1; level > 0; --level) {
    const std::uint32_t bit = 1u << level, finer = bit - 1;
    for (std::uint32_t& c : cell) {
      if ((c & bit) != 0) {
        cell[0] ^= finer;
      } else {
        const std::uint32_t differ = (cell[0] ^ c) & finer;
        cell[0] ^= differ;
        c ^= differ;
      }
    }
  }
  std::uint64_t key = 0;
  std::uint32_t parity = 0;
  for (int level = levels - 1; level >= 0; --level) {
    for (const std::uint32_t c : cell) {
      parity ^= (c >> level) & 1u;
      key = (key << 1) | parity;
    }
  }
  return key;
}

struct Keyed {
  std::uint64_t key;
  Index vertex;
};

}  // namespace

Array<Index> hilbert_ranks(std::span<const Point> points) {
  const auto count = static_cast<Offset>(points.size());
  Point low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const Point& p : points) {
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  double extent = 0;
  for (int d = 0; d < 3; ++d) extent = std::max(extent, high[d] - low[d]);
  const double scale = extent > 0 ? ((1u << levels) - 1) / extent : 0;

  Array<Keyed> order(points.size());
  parallel_for(default_threads(), count, [&](Offset i) {
    std::array<std::uint32_t, 3> cell;
    for (int d = 0; d < 3; ++d) {
      cell[d] = static_cast<std::uint32_t>((points[i][d] - low[d]) * scale);
    }
    order[i] = {hilbert_key(cell), static_cast<Index>(i)};
  });
  std::sort(order.begin(), order.end(), [](const Keyed& a, const Keyed& b) {
    return a.key != b.key ? a.key < b.key : a.vertex < b.vertex;
  });
  Array<Index> rank(points.size());
  parallel_for(default_threads(), count,
               [&](Offset i) { rank[order[i].vertex] = static_cast<Index>(i); });
  return rank;
}

}  // namespace heddle::problems
