#include "walked_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "base/unset_array.hpp"
#include "heddle/detail/trees/task_team.hpp"
#include "heddle/error.hpp"
#include "heddle/kernels/trees/tree_sum_operation.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

constexpr int column_bits = 32;

Index row_of(unsigned long long place) { return static_cast<Index>(place >> column_bits); }

/// Sorts the numbers of records by their places; `leaves` gets its offsets.
std::vector<std::size_t> sorted(std::span<const unsigned long long> place, NodeLevel& leaves,
                                int team) {
  const auto row_end = [&](unsigned long long of) {
    return static_cast<std::size_t>(row_of(of)) + 1;
  };
  for (const unsigned long long here : place) ++leaves.offsets[row_end(here)];
  for (std::size_t row = 1; row < leaves.offsets.size(); ++row) {
    leaves.offsets[row] += leaves.offsets[row - 1];
  }
  std::vector<Offset> next(leaves.offsets.begin(), leaves.offsets.end());
  std::vector<std::size_t> order(place.size());
  for (std::size_t record = place.size(); record-- > 0;) {
    order[static_cast<std::size_t>(--next[row_end(place[record])])] = record;
  }
  parallel_for(team, leaves.rows, [&](Index row) {
    const auto at = static_cast<std::size_t>(row);
    std::sort(order.begin() + leaves.offsets[at], order.begin() + leaves.offsets[at + 1],
              [&](std::size_t i, std::size_t j) { return place[i] < place[j]; });
  });
  return order;
}

}  // namespace

std::size_t max_walked_pairs(const Tree& a, const Tree& b) {
  const long long most = a.memory.leaves.nodes() + b.memory.leaves.nodes();
  if (most > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported,
                "schedule=tree adds only trees of fewer than 2^31 leaves; use larger nodes");
  }
  return static_cast<std::size_t>(most);
}

PairedLeaves walked_pairs(const Tree& a, const Tree& b, bool transposes_b, const Device& device) {
  const std::size_t most = max_walked_pairs(a, b);
  UnsetArray<device::TreeLeaf> of_a(most, device), of_b(most, device);
  UnsetArray<unsigned long long> place(most, device);
  Array<int> held(most, device);
  unsigned found = 0;
  const auto pools_of_a = addresses_of_pools(a), pools_of_b = addresses_of_pools(b);
  TreeSumOperation walk{};
  walk.pools = pools_of_a.data();
  walk.shape = a.leaf;
  walk.pools_of_b = pools_of_b.data();
  walk.records = {of_a.data(), of_b.data(), place.data(), held.data(), &found, column_bits};
  walk.transposes_b = transposes_b;
  const int team = team_size(device.stream(), a.entries + b.entries);
  if (most > 0) run_tasks(walk, {root_task(a, pools_of_a), root_task(b, pools_of_b)}, team);

  PairedLeaves pairs;
  NodeLevel& leaves = pairs.leaves;
  leaves.rows = static_cast<Index>(a.leaf.blocks_of(a.rows));
  leaves.columns = static_cast<Index>(a.leaf.blocks_of(a.columns));
  leaves.offsets = Array<Offset>(static_cast<std::size_t>(leaves.rows) + 1, device);
  const auto order = sorted(place.span().first(found), leaves, team);
  leaves.column = Array<Index>(found, device);
  leaves.held = Array<int>(found, device);
  pairs.sources.resize(found);
  parallel_for(team, order.size(), [&](std::size_t leaf) {
    const std::size_t record = order[leaf];
    leaves.column[leaf] = static_cast<Index>(place[record]);
    leaves.held[leaf] = held[record];
    pairs.sources[leaf] = {of_a[record].node, of_b[record].node};
  });
  return pairs;
}

}  // namespace heddle::detail
