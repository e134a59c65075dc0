// Partitions by METIS. A separate file: a program that asks for none needs no METIS.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "group_graph.hpp"

#ifdef HEDDLE_METIS
#include <metis.h>
#endif

namespace heddle {

#ifdef HEDDLE_METIS

Partition Partition::by_metis(const PatternView& pattern, int ranks) {
  detail::check_partition(pattern, ranks, "METIS");
  idx_t groups = groups_of(pattern.rows);
  // METIS leaves ranks without groups only where it must.
  idx_t parts = std::min<idx_t>(ranks, groups);
  std::vector<idx_t> part(static_cast<std::size_t>(groups), 0);
  if (parts > 1) {
    detail::GroupGraph<idx_t> graph = detail::graph_of<idx_t>(pattern);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t constraints = 1, cut = 0;
    // METIS has one random state per process: ranks that are threads would get other partitions.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const int status = METIS_PartGraphKway(
        &groups, &constraints, graph.first.data(), graph.neighbour.data(), graph.weight.data(),
        nullptr, graph.edge_weight.data(), &parts, nullptr, nullptr, options, &cut, part.data());
    if (status == METIS_ERROR_MEMORY) {
      throw Error(ErrorKind::memory, "METIS ran out of memory for a partition");
    }
    if (status != METIS_OK) {
      throw Error(ErrorKind::internal, "METIS failed with status " + std::to_string(status));
    }
  }
  const std::vector<int> owners(part.begin(), part.end());
  return by_owner(pattern.rows, ranks, owners);
}

#else

Partition Partition::by_metis(const PatternView&, int) {
  throw Error(ErrorKind::unsupported,
              "this heddle was built without METIS (Debian: apt-get install libmetis-dev)");
}

#endif

}  // namespace heddle
