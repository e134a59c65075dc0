// Partitions by METIS. A file of its own: a program that asks for none needs no METIS.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"
#include "heddle/partition.hpp"

#ifdef HEDDLE_METIS
#include <metis.h>
#endif

namespace heddle {

#ifdef HEDDLE_METIS

namespace {

/// Groups of rows as METIS sees them: both directions of every edge, weighed by entries.
struct GroupGraph {
  std::vector<idx_t> first, neighbour, edge_weight, weight;
};

/// Entries from one group's rows to another's columns.
struct Edge {
  Index from, to;
  long long entries;
};

/// Sums of METIS's are in its integers, which may have 32 bits.
idx_t scaled(long long weight, long long all) {
  constexpr long long most = 1 << 30;
  return static_cast<idx_t>(std::max(1LL, weight / std::max(1LL, (all + most - 1) / most)));
}

/// The edges of a symmetric graph, each once in either direction.
std::vector<Edge> edges_of(const PatternView& pattern) {
  std::vector<Edge> edges;
  std::vector<Index> reached;
  const Index groups = groups_of(pattern.rows);
  for (Index group = 0; group < groups; ++group) {
    const Offset end = std::min<Offset>(pattern.rows, Offset(group + 1) * rows_of_group);
    reached.clear();
    for (Offset k = pattern.offsets[Offset(group) * rows_of_group]; k < pattern.offsets[end]; ++k) {
      const Index other = pattern.column[k] / rows_of_group;
      if (other != group) reached.push_back(other);
    }
    std::sort(reached.begin(), reached.end());
    for (std::size_t k = 0, behind = 0; k < reached.size(); k = behind) {
      while (behind < reached.size() && reached[behind] == reached[k]) ++behind;
      const auto entries = static_cast<long long>(behind - k);
      edges.push_back({group, reached[k], entries});
      edges.push_back({reached[k], group, entries});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  std::size_t kept = 0;
  for (const Edge& edge : edges) {
    if (kept > 0 && edges[kept - 1].from == edge.from && edges[kept - 1].to == edge.to) {
      edges[kept - 1].entries += edge.entries;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
  return edges;
}

GroupGraph graph_of(const PatternView& pattern) {
  GroupGraph graph;
  const Index groups = groups_of(pattern.rows);
  const long long entries = pattern.entries();
  for (Index group = 0; group < groups; ++group) {
    const Offset end = std::min<Offset>(pattern.rows, Offset(group + 1) * rows_of_group);
    graph.weight.push_back(
        scaled(pattern.offsets[end] - pattern.offsets[Offset(group) * rows_of_group], entries));
  }
  graph.first.push_back(0);
  for (const Edge& edge : edges_of(pattern)) {
    while (static_cast<Index>(graph.first.size()) <= edge.from) {
      graph.first.push_back(static_cast<idx_t>(graph.neighbour.size()));
    }
    graph.neighbour.push_back(edge.to);
    graph.edge_weight.push_back(scaled(edge.entries, 2 * entries));
  }
  while (static_cast<Index>(graph.first.size()) <= groups) {
    graph.first.push_back(static_cast<idx_t>(graph.neighbour.size()));
  }
  return graph;
}

}  // namespace

Partition Partition::by_metis(const PatternView& pattern, int ranks) {
  if (ranks < 1) throw Error(ErrorKind::usage, "partition: at least one rank");
  if (pattern.rows != pattern.columns) {
    throw Error(ErrorKind::size_mismatch, "partition: METIS takes square matrices, not one of " +
                                              std::to_string(pattern.rows) + " rows and " +
                                              std::to_string(pattern.columns) + " columns");
  }
  idx_t groups = groups_of(pattern.rows);
  // METIS leaves ranks without groups only where it must.
  idx_t parts = std::min<idx_t>(ranks, groups);
  std::vector<idx_t> part(static_cast<std::size_t>(groups), 0);
  if (parts > 1) {
    GroupGraph graph = graph_of(pattern);
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t constraints = 1, cut = 0;
    const int status = METIS_PartGraphKway(
        &groups, &constraints, graph.first.data(), graph.neighbour.data(), graph.weight.data(),
        nullptr, graph.edge_weight.data(), &parts, nullptr, nullptr, options, &cut, part.data());
    if (status == METIS_ERROR_MEMORY) {
      throw Error(ErrorKind::memory, "METIS has no memory for a partition");
    }
    if (status != METIS_OK) {
      throw Error(ErrorKind::internal, "METIS fails with status " + std::to_string(status));
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
