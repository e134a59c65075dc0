// Pieces of a schedule, as a GPU's blocks of threads meet them, played on the CPU.
#include "hierarchical/tree_pieces.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hierarchical/trees.hpp"

namespace hierarchical_pieces {
namespace {

using namespace heddle;
using namespace heddle::test;
using E = block<float, 2, 2>;

/// Calls `body(block of y, row, column of the matrix, payload)` with the entries of all pieces, and
/// checks what kernels rely on.
template <class Body>
void play(const detail::Tree& tree, const detail::LeafSchedule& schedule,
          const cuda::TreePieces& cut, bool by_columns, const Body& body) {
  const Index blocks = schedule.blocks();
  std::vector<int> of_block(static_cast<std::size_t>(blocks));
  std::vector<Offset> next_leaf(schedule.places->first.begin(), schedule.places->first.end());
  int next_place = 0, next_counter = 0;
  bool has_short = false;
  for (const device::TreePiece& piece : cut.pieces) {
    const auto block = static_cast<std::size_t>(piece.block);
    ASSERT_EQ(piece.first, next_leaf[block]);
    next_leaf[block] += piece.leaves;
    int& number = of_block[block];
    ASSERT_EQ(piece.number, number++);
    if (piece.pieces > 1) {
      ASSERT_FALSE(has_short) << "a long block behind a short one";
      ASSERT_EQ(piece.place, next_place);
      ASSERT_EQ(piece.counter, next_counter);
      if (piece.number + 1 == piece.pieces) {
        next_place += piece.pieces;
        next_counter += device::counters_of_pieces(piece.pieces);
      }
    } else {
      has_short = true;
    }
    int begin = 0;
    for (Offset i = piece.first; i < piece.first + piece.leaves; ++i) {
      const device::TreeLeaf& leaf = cut.leaves[static_cast<std::size_t>(i)];
      const auto kind = static_cast<NodeKind>(leaf.node & 3);
      const NodeView node{reinterpret_cast<const unsigned char*>(leaf.node & ~3ULL), kind,
                          tree.leaf};
      const auto slots = kind == NodeKind::dense ? tree.leaf.positions() : node.count();
      ASSERT_EQ(leaf.end - begin, slots);
      begin = leaf.end;
      node.for_each([&](LocalPlace place, int payload) {
        const Index first_row = (by_columns ? leaf.block : piece.block) << tree.leaf.log2_size;
        const Index first_column = (by_columns ? piece.block : leaf.block) << tree.leaf.log2_size;
        body(first_row + place.row, first_column + place.column,
             node.payloads() + payload * Offset{sizeof(E)});
      });
    }
  }
  for (std::size_t block = 0; block < of_block.size(); ++block) {
    EXPECT_EQ(next_leaf[block], schedule.places->first[block + 1]);
    EXPECT_GE(of_block[block], 1);
  }
  EXPECT_EQ(next_place, cut.places);
  EXPECT_EQ(next_counter, cut.counters);
}

TEST(TreePieces, HoldEveryEntryOnce) {
  Seed seed(61);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    const auto expected = map_of(matrix);
    for (const int log2_size : {2, 5, 8}) {
      const detail::Tree tree = detail::tree_of(
          matrix.view().pattern(), {log2_size, sizeof(E)},
          reinterpret_cast<const std::byte*>(matrix.values().data()), Device::cpu(), {});
      std::vector<unsigned long long> pools;
      for (const auto& share : tree.pools) {
        pools.push_back(reinterpret_cast<unsigned long long>(share.pool->data()));
      }
      for (const bool by_columns : {false, true}) {
        const auto schedule = detail::leaf_schedule(tree, by_columns, Device::cpu());
        for (const long long bytes : {1LL, 300LL, cuda::bytes_of_piece(tree)}) {
          const auto cut = cuda::tree_pieces(tree, schedule, pools, bytes, Device::cpu());
          EntryMapOf<E> found;
          play(tree, schedule, cut, by_columns,
               [&](Index row, Index column, const unsigned char* payload) {
                 E entry;
                 std::memcpy(&entry, payload, sizeof entry);
                 EXPECT_TRUE(found.emplace(std::pair{row, column}, entry).second);
               });
          ASSERT_EQ(found.size(), expected.size());
          for (const auto& [place, entry] : found) {
            EXPECT_EQ(std::memcmp(&entry, &expected.at(place), sizeof entry), 0);
          }
        }
      }
    }
  }
}

TEST(TreePieces, EndAfterSoManyBytesOrSlots) {
  // One row of 40000 entries: 313 leaves of 128 slots, of which eight make a piece.
  Pattern pattern{1, 40000, {0, 40000}, {}};
  for (Index column = 0; column < 40000; ++column) pattern.column.push_back(column);
  Seed seed(62);
  const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
  const detail::Tree tree = detail::tree_of(
      matrix.view().pattern(), {7, sizeof(E)},
      reinterpret_cast<const std::byte*>(matrix.values().data()), Device::cpu(), {});
  const std::vector<unsigned long long> pools = {0};
  const auto schedule = detail::leaf_schedule(tree, false, Device::cpu());
  const auto cut = cuda::tree_pieces(tree, schedule, pools, 1 << 20, Device::cpu());
  EXPECT_EQ(cut.pieces.size(), 40U);
  EXPECT_EQ(cut.places, 40);
  EXPECT_EQ(cut.counters, 1 + 3);
  EXPECT_EQ(cuda::bytes_of_piece(tree), 1 << 14);
}

}  // namespace
}  // namespace hierarchical_pieces
