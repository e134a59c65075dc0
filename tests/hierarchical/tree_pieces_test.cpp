// Pieces of a schedule, as a GPU's blocks of threads process them, played on the CPU.
#include "hierarchical/tree_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "hierarchical/trees.hpp"

namespace hierarchical_pieces {
namespace {

using namespace heddle;
using namespace heddle::test;

/// Calls `body(row, column of the matrix, payload)` with the entries of all pieces, and checks the
/// conditions that kernels rely on.
template <class E, class Body>
class Player {
 public:
  Player(const detail::Tree& tree, const cuda::TreePieces& cut, bool by_columns, const Body& body)
      : tree_(tree), cut_(cut), by_columns_(by_columns), body_(body), run_(cuda::run_of(tree)) {}

  void play_leaves(const device::TreePiece& piece) const {
    unsigned begin = piece.before;
    for (Offset i = piece.first; i < piece.first + piece.leaves; ++i) {
      const device::TreeLeaf& leaf = cut_.leaves[static_cast<std::size_t>(i)];
      const NodeView node{reinterpret_cast<const unsigned char*>(leaf.address()), leaf.kind(),
                          tree_.leaf};
      if (leaf.kind() == NodeKind::dense) {
        ASSERT_EQ(leaf.end, begin);
        play_rows(piece, leaf, node, i == piece.first ? piece.top : 0,
                  i + 1 == piece.first + piece.leaves ? piece.bottom : tree_.leaf.size());
      } else {
        const int runs = (node.count() + run_ - 1) / run_;
        ASSERT_EQ(leaf.end - begin, static_cast<unsigned>(runs));
        ASSERT_EQ(runs * run_ - leaf.lacks(), node.count());
        play_runs(piece, leaf, node, begin);
      }
      begin = leaf.end;
    }
  }

 private:
  void play_runs(const device::TreePiece& piece, const device::TreeLeaf& leaf, const NodeView& node,
                 unsigned begin) const {
    ASSERT_LT(std::max(begin, piece.begin), std::min(leaf.end, piece.end));
    for (unsigned at = std::max(begin, piece.begin); at < std::min(leaf.end, piece.end); ++at) {
      const int first = static_cast<int>(at - begin) * run_;
      for (int i = first; i < std::min(first + run_, node.count()); ++i) {
        tell(piece, leaf, node.places()[i], node, i);
      }
    }
  }
  void play_rows(const device::TreePiece& piece, const device::TreeLeaf& leaf, const NodeView& node,
                 int top, int bottom) const {
    // A warp takes this number of rows at once.
    const int rows = std::max(1, 32 * run_ / tree_.leaf.size());
    ASSERT_LT(top, bottom);
    ASSERT_EQ(top % rows, 0);
    ASSERT_TRUE(bottom % rows == 0 || bottom == tree_.leaf.size());
    node.for_each([&](LocalPlace place, int payload) {
      if (place.row >= top && place.row < bottom) tell(piece, leaf, place, node, payload);
    });
  }
  void tell(const device::TreePiece& piece, const device::TreeLeaf& leaf, LocalPlace place,
            const NodeView& node, int payload) const {
    const Index first_row = (by_columns_ ? leaf.block : piece.block) << tree_.leaf.log2_size;
    const Index first_column = (by_columns_ ? piece.block : leaf.block) << tree_.leaf.log2_size;
    body_(first_row + place.row, first_column + place.column,
          node.payloads() + payload * Offset{sizeof(E)});
  }

  const detail::Tree& tree_;
  const cuda::TreePieces& cut_;
  bool by_columns_;
  const Body& body_;
  int run_;
};

template <class E, class Body>
void play(const detail::Tree& tree, const detail::LeafSchedule& schedule,
          const cuda::TreePieces& cut, bool by_columns, const Body& body) {
  const Player<E, Body> player(tree, cut, by_columns, body);
  const Index blocks = schedule.blocks();
  std::vector<int> of_block(static_cast<std::size_t>(blocks));
  int next_place = 0, next_counter = 0;
  bool has_short = false;
  for (const device::TreePiece& piece : cut.pieces) {
    const auto block = static_cast<std::size_t>(piece.block);
    ASSERT_GE(piece.first, schedule.places->first[block]);
    ASSERT_LE(piece.first + piece.leaves, schedule.places->first[block + 1]);
    ASSERT_EQ(piece.number, of_block[block]++);
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
    player.play_leaves(piece);
  }
  for (const int pieces : of_block) EXPECT_GE(pieces, 1);
  EXPECT_EQ(next_place, cut.places);
  EXPECT_EQ(next_counter, cut.counters);
}

/// Every entry occurs once, by rows and by columns, for pieces of several lengths.
template <class E>
void expect_every_entry_once(const Pattern& pattern, Generator& generator) {
  const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, generator);
  const auto expected = map_of(matrix);
  for (const int log2_size : {2, 5, 7, 8}) {
    detail::Tree tree = detail::tree_of(matrix.view().pattern(), {log2_size, sizeof(E)},
                                        reinterpret_cast<const std::byte*>(matrix.values().data()),
                                        Device::cpu(), {});
    tree.launch.run = log2_size == 5 ? 2 : log2_size == 7 ? 4 : 0;
    for (const bool by_columns : {false, true}) {
      const auto schedule = detail::leaf_schedule(tree, by_columns, Device::cpu());
      for (const int entries : {1, 100, cuda::entries_of_piece(tree.leaf)}) {
        const auto cut = cuda::tree_pieces(tree, schedule, Device::cpu(), entries);
        EntryMapOf<E> found;
        play<E>(tree, schedule, cut, by_columns,
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

TEST(TreePieces, HoldEveryEntryOnce) {
  Seed seed(61);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    expect_every_entry_once<real<float>>(pattern, seed.generator);
    expect_every_entry_once<block<float, 2, 2>>(pattern, seed.generator);
    expect_every_entry_once<block<double, 3, 3>>(pattern, seed.generator);
  }
}

TEST(TreePieces, CutLongRowsAndDenseLeavesEvenly) {
  using E = block<float, 2, 2>;
  // One row of 40000 entries: 313 leaves of 128 entries, each entry a run.
  Pattern row{1, 40000, {0, 40000}, {}};
  for (Index column = 0; column < 40000; ++column) row.column.push_back(column);
  // A dense leaf of 128 rows with 64 runs each.
  Pattern full{128, 128, {0}, {}};
  for (Index i = 0; i < 128; ++i) {
    for (Index column = 0; column < 128; ++column) full.column.push_back(column);
    full.offsets.push_back(static_cast<Offset>(full.column.size()));
  }
  Seed seed(62);
  const auto cut_of = [&](const Pattern& pattern) {
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    const detail::Tree tree = detail::tree_of(
        matrix.view().pattern(), {7, sizeof(E)},
        reinterpret_cast<const std::byte*>(matrix.values().data()), Device::cpu(), {});
    return cuda::tree_pieces(tree, detail::leaf_schedule(tree, false, Device::cpu()),
                             Device::cpu());
  };
  const auto of_row = cut_of(row);
  EXPECT_EQ(of_row.pieces.size(), 70U);
  EXPECT_EQ(of_row.places, 70);
  EXPECT_EQ(of_row.counters, 1 + 5);
  const auto of_full = cut_of(full);
  ASSERT_EQ(of_full.pieces.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(of_full.pieces[static_cast<std::size_t>(i)].top, 16 * i);
    EXPECT_EQ(of_full.pieces[static_cast<std::size_t>(i)].bottom, 16 * (i + 1));
  }
}

/// The work of a piece, in halves of an entry of a sparse leaf, the unit in which pieces are cut.
long long work_of(const detail::Tree& tree, const cuda::TreePieces& cut,
                  const device::TreePiece& piece) {
  const int run = cuda::run_of(tree);
  long long work = 2LL * run * (piece.end - piece.begin);
  for (Offset i = piece.first; i < piece.first + piece.leaves; ++i) {
    if (cut.leaves[static_cast<std::size_t>(i)].kind() != NodeKind::dense) continue;
    const int top = i == piece.first ? piece.top : 0;
    const int bottom = i + 1 == piece.first + piece.leaves ? piece.bottom : tree.leaf.size();
    work += static_cast<long long>(bottom - top) * tree.leaf.size();
  }
  return work;
}

/// Rows of blocks with sparse and dense leaves in random order.
template <class E>
void expect_even_pieces(Generator& generator) {
  constexpr int d = 64, blocks = 30;
  EntryMapOf<E> map;
  for (int of_row = 0; of_row < 4; ++of_row) {
    for (int of_column = 0; of_column < blocks; ++of_column) {
      const int percent =
          random_between(0, 2, generator) == 0 ? 95 : random_between(1, 8, generator);
      for (Index row = 0; row < d; ++row) {
        for (Index column = 0; column < d; ++column) {
          if (random_between(0, 99, generator) >= percent) continue;
          map[{of_row * d + row, of_column * d + column}] = random_components<E>(generator);
        }
      }
    }
  }
  const CsrMatrix<E> matrix = matrix_of(4 * d, blocks * d, map);
  const detail::Tree tree = detail::tree_of(
      matrix.view().pattern(), {6, sizeof(E)},
      reinterpret_cast<const std::byte*>(matrix.values().data()), Device::cpu(), {});
  for (const bool by_columns : {false, true}) {
    const auto cut = cuda::tree_pieces(tree, detail::leaf_schedule(tree, by_columns, Device::cpu()),
                                       Device::cpu());
    // One step of two warps with windows of 32 runs.
    const long long step = 128LL * cuda::run_of(tree),
                    planned = 2LL * cuda::entries_of_piece(tree.leaf);
    long long all = 0, least = 0, most = 0;
    for (const device::TreePiece& piece : cut.pieces) {
      if (piece.number == 0) all = 0, most = 0, least = std::numeric_limits<long long>::max();
      const long long work = work_of(tree, cut, piece);
      all += work;
      most = std::max(most, work);
      const bool is_last = piece.number + 1 == piece.pieces;
      if (!is_last) least = std::min(least, work);
      if (!is_last || piece.pieces == 1) continue;
      EXPECT_LE(most, planned * 5 / 4 + step);
      EXPECT_LE(most - least, step);
      EXPECT_LE(piece.pieces, all / std::max(1LL, least) + 1);
      EXPECT_LE(work, most);
    }
  }
}

TEST(TreePieces, OfMixedBlocksAreEven) {
  Seed seed(63);
  expect_even_pieces<real<float>>(seed.generator);
  expect_even_pieces<complex<double>>(seed.generator);
  expect_even_pieces<block<double, 3, 3>>(seed.generator);
}

}  // namespace
}  // namespace hierarchical_pieces
