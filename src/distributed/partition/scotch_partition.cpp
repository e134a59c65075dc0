// Partitions by SCOTCH. A separate file: a program that asks for none needs no SCOTCH.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "group_graph.hpp"

#ifdef HEDDLE_SCOTCH
#include <scotch.h>
#endif

namespace heddle {

#ifdef HEDDLE_SCOTCH

namespace {

void check_status(int status) {
  if (status != 0) throw Error(ErrorKind::internal, "SCOTCH failed; it wrote the reason to stderr");
}

/// The storage of SCOTCH for a graph.
struct Graph {
  SCOTCH_Graph it;
  Graph() { check_status(SCOTCH_graphInit(&it)); }
  ~Graph() { SCOTCH_graphExit(&it); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
};
struct Strategy {
  SCOTCH_Strat it;
  Strategy() { check_status(SCOTCH_stratInit(&it)); }
  ~Strategy() { SCOTCH_stratExit(&it); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
};
/// One thread with its own random numbers: the same partition each time.
struct Context {
  SCOTCH_Context it;
  Context() {
    check_status(SCOTCH_contextInit(&it));
    check_status(SCOTCH_contextThreadSpawn(&it, 1, nullptr));
    check_status(SCOTCH_contextOptionSetNum(&it, SCOTCH_OPTIONNUMDETERMINISTIC, 1));
    check_status(SCOTCH_contextRandomClone(&it));
    SCOTCH_contextRandomSeed(&it, 1);
    SCOTCH_contextRandomReset(&it);
  }
  ~Context() { SCOTCH_contextExit(&it); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

}  // namespace

Partition Partition::by_scotch(const PatternView& pattern, int ranks) {
  detail::check_partition(pattern, ranks, "SCOTCH");
  const SCOTCH_Num groups = groups_of(pattern.rows);
  const SCOTCH_Num parts = std::min<SCOTCH_Num>(ranks, groups);
  std::vector<SCOTCH_Num> part(static_cast<std::size_t>(groups), 0);
  if (parts > 1) {
    const auto graph = detail::graph_of<SCOTCH_Num>(pattern);
    const double imbalance = 0.03;  // same as in METIS
    Context context;
    Graph groups_and_edges, in_context;
    Strategy strategy;
    check_status(SCOTCH_graphBuild(&groups_and_edges.it, 0, groups, graph.first.data(), nullptr,
                                   graph.weight.data(), nullptr,
                                   static_cast<SCOTCH_Num>(graph.neighbour.size()),
                                   graph.neighbour.data(), graph.edge_weight.data()));
    check_status(SCOTCH_contextBindGraph(&context.it, &groups_and_edges.it, &in_context.it));
    check_status(SCOTCH_stratGraphMapBuild(&strategy.it, SCOTCH_STRATBALANCE, parts, imbalance));
    check_status(SCOTCH_graphPart(&in_context.it, parts, &strategy.it, part.data()));
  }
  const std::vector<int> owners(part.begin(), part.end());
  return by_owner(pattern.rows, ranks, owners);
}

#else

Partition Partition::by_scotch(const PatternView&, int) {
  throw Error(ErrorKind::unsupported,
              "this heddle was built without SCOTCH (Debian: apt-get install libscotch-dev)");
}

#endif

}  // namespace heddle
