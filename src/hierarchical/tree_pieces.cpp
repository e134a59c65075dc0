#include "tree_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "heddle/tools/team.hpp"
#include "hierarchical/pools/piece_cutter.hpp"

namespace heddle::cuda {

using detail::LeafSchedule;
using detail::Tree;

int run_of(const Tree& tree) {
  const int longest = device::longest_run(tree.leaf.payload_bytes);
  if (tree.launch.run > 0) return std::min(tree.launch.run, longest);
  const Offset blocks = tree.leaf.blocks_of(std::max(tree.rows, tree.columns));
  const Offset leaves = tree.memory.leaves.nodes();
  return 2 * tree.entries < longest * leaves || tree.entries <= 64LL * longest * blocks ? 1
                                                                                        : longest;
}

TreePieces tree_pieces(const Tree& tree, const LeafSchedule& schedule, const Device& device,
                       const std::optional<int>& entries) {
  const int run = run_of(tree);
  const int team = team_size(device.stream(), tree.entries);
  const Index blocks = schedule.blocks();
  const Array<Offset>& first = schedule.places->first;
  TreePieces cut;
  cut.leaves = Array<device::TreeLeaf>(schedule.references->size(), device);
  parallel_for(team, blocks, [&](Index block) {
    unsigned sparse = 0;
    for (Offset i = first[static_cast<std::size_t>(block)];
         i < first[static_cast<std::size_t>(block) + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const NodeReference node = (*schedule.references)[at];
      cut.leaves[at] = scheduled_leaf(tree.node(node, 0), schedule.places->block[at], sparse, run);
      sparse = cut.leaves[at].end;
    }
  });
  const PieceCutter cutter(cut.leaves.data(), first.data(), tree.leaf, run,
                           entries.value_or(entries_of_piece(tree)));
  std::vector<Taken> taken(static_cast<std::size_t>(blocks));
  parallel_for(team, blocks, [&](Index block) {
    taken[static_cast<std::size_t>(block)] = cutter.taken_by(block);
  });
  std::vector<Taken> before(static_cast<std::size_t>(blocks) + 1);
  for (std::size_t block = 0; block < taken.size(); ++block) {
    const Taken &all = before[block], &more = taken[block];
    before[block + 1] = {all.pieces + more.pieces, all.places + more.places,
                         all.counters + more.counters};
  }
  const Taken& all = before.back();
  cut.pieces = Array<device::TreePiece>(static_cast<std::size_t>(all.pieces), device);
  cut.places = all.places;
  cut.counters = all.counters;
  parallel_for(team, blocks, [&](Index block) {
    const auto at = static_cast<std::size_t>(block);
    cutter.write(block, before[at], taken[at], all.places, cut.pieces.data());
  });
  return cut;
}

}  // namespace heddle::cuda
