// The graph of groups of rows, as partitioners take it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

/// Groups of rows as a partitioner sees them: both directions of every edge, weighed by entries.
template <class Number>
struct GroupGraph {
  std::vector<Number> first, neighbour, edge_weight, weight;
};

/// Entries from one group's rows to another's columns.
struct Edge {
  Index from, to;
  long long entries;
};

/// A partitioner sums in its own integers, which may have 32 bits.
template <class Number>
Number scaled(long long weight, long long all) {
  constexpr long long most = 1 << 30;
  return static_cast<Number>(std::max(1LL, weight / std::max(1LL, (all + most - 1) / most)));
}

/// The edges of a symmetric graph, each once in either direction.
inline std::vector<Edge> edges_of(const PatternView& pattern) {
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
    for (std::size_t k = 0, next = 0; k < reached.size(); k = next) {
      while (next < reached.size() && reached[next] == reached[k]) ++next;
      const auto entries = static_cast<long long>(next - k);
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

template <class Number>
GroupGraph<Number> graph_of(const PatternView& pattern) {
  GroupGraph<Number> graph;
  const Index groups = groups_of(pattern.rows);
  const long long entries = pattern.entries();
  for (Index group = 0; group < groups; ++group) {
    const Offset end = std::min<Offset>(pattern.rows, Offset(group + 1) * rows_of_group);
    graph.weight.push_back(scaled<Number>(
        pattern.offsets[end] - pattern.offsets[Offset(group) * rows_of_group], entries));
  }
  graph.first.push_back(0);
  for (const Edge& edge : edges_of(pattern)) {
    while (static_cast<Index>(graph.first.size()) <= edge.from) {
      graph.first.push_back(static_cast<Number>(graph.neighbour.size()));
    }
    graph.neighbour.push_back(edge.to);
    graph.edge_weight.push_back(scaled<Number>(edge.entries, 2 * entries));
  }
  while (static_cast<Index>(graph.first.size()) <= groups) {
    graph.first.push_back(static_cast<Number>(graph.neighbour.size()));
  }
  return graph;
}

/// Throws `Error`: usage without ranks, size_mismatch unless the matrix is square.
inline void check_partition(const PatternView& pattern, int ranks, const char* partitioner) {
  if (ranks < 1) throw Error(ErrorKind::usage, "partition: at least one rank is needed");
  if (pattern.rows == pattern.columns) return;
  throw Error(ErrorKind::size_mismatch, std::string("partition: ") + partitioner +
                                            " takes square matrices, not one of " +
                                            std::to_string(pattern.rows) + " rows and " +
                                            std::to_string(pattern.columns) + " columns");
}

}  // namespace heddle::detail
