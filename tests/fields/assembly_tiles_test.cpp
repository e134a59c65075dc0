// Tiles of a GPU's assembly, walked through on the CPU: they hold every entry once, and their sums
// have the same bits as the pass over slots.
#include "heddle/detail/assembly_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fields/assembly_sums.hpp"
#include "heddle/assembly.hpp"
#include "support/product_check.hpp"
#include "support/systems/element_meshes.hpp"

namespace assembly_tiles_check {
namespace {

using namespace heddle;
using namespace heddle::test;
using heddle::detail::AssemblyTileLists;
using heddle::detail::AssemblyTiles;
using heddle::detail::Placing;
using Real = real<double>;

struct Tiled {
  ElementPattern pattern;
  Assembly<Real> assembly;
  std::vector<unsigned> places;
  AssemblyTileLists lists;
  Array<double> values;

  Tiled(const ElementMesh& mesh, const Plan& plan)
      : pattern(element_pattern(mesh.view())),
        assembly(pattern, plan),
        places(heddle::detail::row_places(pattern, assembly.matrix().pattern())),
        lists(heddle::detail::assembly_tiles(
            pattern, assembly.matrix().pattern(),
            slots_of_entries(assembly.matrix().pattern()).to_host(), places)) {}

  /// Sums of element values, in the form of the library's own kernel.
  template <Placing P>
  heddle::detail::EntrySums<double, P> sums(const ElementMesh& mesh, ElementOrder order) {
    const Array<double> values_of(std::span<const double>(
        order == ElementOrder::by_row ? element_entries_by_row<double>(mesh, 1, places)
                                      : element_entries<double>(mesh, 1, order)));
    values = values_of;
    const SlicedPattern& matrix = assembly.matrix().pattern();
    heddle::detail::AssemblyLists made{};
    made.code = pattern.code;
    const heddle::detail::ElementNumbering numbering{
        mesh.elements(), pattern.max_corners, nullptr, nullptr, places.data(), order, 1};
    return {made,
            numbering,
            values.data(),
            slot_rule(InnerLayout::aos, 1, matrix.C, matrix.slots, sizeof(double)),
            assembly.matrix().values_in_basis().data(),
            order != ElementOrder::planes && pattern.max_corners % 2 == 0};
  }

  unsigned count() const { return static_cast<unsigned>(lists.first_piece.size()) - 1; }
  AssemblyTiles tiles() const {
    return {count(),
            lists.terms,
            static_cast<unsigned>(pattern.max_corners),
            AssemblyTiles::reciprocal_of(static_cast<unsigned>(pattern.max_corners)),
            pattern.code,
            lists.first_piece.data(),
            lists.first_entry.data(),
            lists.piece.data(),
            lists.place.data(),
            lists.slot.data(),
            lists.end.data()};
  }
};

/// Walks as the blocks of a GPU do, one thread after another.
template <class Sums>
void walk(const AssemblyTiles& tiles, const Sums& sums) {
  const heddle::detail::TileSums<Sums> work{tiles, sums};
  std::vector<typename Sums::Sum> shared(tiles.terms);
  for (unsigned tile = 0; tile < tiles.count; ++tile) {
    for (unsigned t = 0; t < AssemblyTiles::threads; ++t) work.fill(tile, t, shared.data());
    for (unsigned t = 0; t < AssemblyTiles::threads; ++t) {
      work.add(tile, t, work.entry(tile, t), shared.data());
    }
  }
}

std::vector<double> entries_of(Assembly<Real>& assembly) {
  std::vector<double> values;
  const EntryWriter<Real> entries = assembly.matrix().entry_writer();
  const Array<Offset> slots = slots_of_entries(assembly.matrix().pattern());
  for (const Offset slot : slots) values.push_back(entries.load(slot).component[0]);
  return values;
}

void expect_limits(const Tiled& tiled) {
  const AssemblyTileLists& lists = tiled.lists;
  for (unsigned t = 0; t < tiled.count(); ++t) {
    const unsigned pieces = lists.first_piece[t + 1] - lists.first_piece[t];
    ASSERT_LE(pieces * static_cast<unsigned>(tiled.pattern.max_corners), lists.terms);
    const auto first = lists.slot.begin() + lists.first_entry[t];
    ASSERT_TRUE(std::is_sorted(first, lists.slot.begin() + lists.first_entry[t + 1]));
  }
  std::vector<unsigned> slot = lists.slot;
  std::sort(slot.begin(), slot.end());
  ASSERT_EQ(std::adjacent_find(slot.begin(), slot.end()), slot.end());
  ASSERT_EQ(static_cast<Offset>(slot.size()), tiled.pattern.entries());
}

TEST(AssemblyTilesOnHost, SumAsThePassOverSlots) {
  Seed seed(706);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    if (mesh.name == "of 1 to 9 corners") continue;
    for (const char* plan :
         {"CSR", "ELL", "K1", "K2rs", "C=32,T=4,sigma=n", "C=8,use=scatter,order=rcm"}) {
      SCOPED_TRACE(plan);
      Tiled tiled(mesh, parse_plan(plan));
      expect_limits(tiled);
      if (HasFatalFailure()) return;
      const NumbersKernel<Real> kernel;
      assemble_with(tiled.assembly, kernel);
      const std::vector<double> expected = entries_of(tiled.assembly);
      tiled.assembly.assemble(std::vector<double>(tiled.pattern.term.size()));
      walk(tiled.tiles(), tiled.assembly.entry_pass(kernel));
      ASSERT_EQ(entries_of(tiled.assembly), expected);
      const auto expect_sums = [&](const auto& sums) {
        tiled.assembly.assemble(std::vector<double>(tiled.pattern.term.size()));
        walk(tiled.tiles(), sums);
        ASSERT_EQ(entries_of(tiled.assembly), expected);
      };
      expect_sums(tiled.sums<Placing::by_numbering>(mesh, ElementOrder::by_element));
      expect_sums(tiled.sums<Placing::by_numbering>(mesh, ElementOrder::planes));
      expect_sums(tiled.sums<Placing::by_row>(mesh, ElementOrder::by_row));
      if (tiled.pattern.max_corners == 1 << tiled.pattern.code.bits) {
        expect_sums(tiled.sums<Placing::by_code>(mesh, ElementOrder::by_element));
      }
    }
  }
}

TEST(AssemblyTilesOnHost, AreFullButForOneRow) {
  Seed seed(707);
  // A thousand tiles at most, but no fewer than 256 terms per tile and no more than 1024.
  for (const auto& [nodes, terms] : {std::pair(1000, 256U), {12000, 562U}, {30000, 1024U}}) {
    const Tiled tiled(random_elements("", nodes, 3 * nodes, 4, 4, seed.generator),
                      parse_plan("K1rs"));
    const AssemblyTileLists& lists = tiled.lists;
    ASSERT_EQ(lists.terms, terms);
    for (unsigned t = 0; t + 1 < tiled.count(); ++t) {
      // The next row did not fit: rows have up to 34 entries here.
      const unsigned found = 4 * (lists.first_piece[t + 1] - lists.first_piece[t]);
      const unsigned entries = lists.first_entry[t + 1] - lists.first_entry[t];
      EXPECT_TRUE(found > terms - 250 || entries > AssemblyTiles::threads - 35)
          << found << " terms, " << entries << " entries";
    }
  }
}

TEST(AssemblyTilesOnHost, AreNoneWhereARowIsTooLongOrElementsDiffer) {
  Seed seed(708);
  EXPECT_TRUE(Tiled(star(1025, 3), parse_plan("CSR")).lists.first_piece.empty());
  EXPECT_FALSE(Tiled(star(1024, 3), parse_plan("CSR")).lists.first_piece.empty());
  const ElementMesh mixed = random_elements("", 40, 60, 2, 5, seed.generator);
  EXPECT_TRUE(Tiled(mixed, parse_plan("CSR")).lists.first_piece.empty());
}

TEST(AssemblyTilesOnHost, DivideWithoutADivision) {
  AssemblyTiles tiles;
  std::vector<unsigned> piece(AssemblyTiles::max_terms);
  std::iota(piece.begin(), piece.end(), 0U);
  tiles.piece = piece.data();
  for (unsigned corners = 1; corners <= AssemblyTiles::max_terms; ++corners) {
    tiles.corners = corners;
    tiles.reciprocal = AssemblyTiles::reciprocal_of(corners);
    tiles.code.bits = 12;
    for (unsigned i = 0; i < AssemblyTiles::max_terms; ++i) {
      ASSERT_EQ(tiles.code_of({0, i}), (i / corners) << 12 | i % corners);
    }
  }
}

TEST(RowPlaces, CountThePairsOfAllCornersOnce) {
  Seed seed(709);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    const Tiled tiled(mesh, parse_plan("K1"));
    std::vector<int> seen(tiled.pattern.term.size());
    Index row_before = 0;
    std::vector<std::pair<unsigned, Index>> pieces;
    for (Offset e = 0; e < mesh.elements(); ++e) {
      for (int a = 0; a < mesh.corners(e); ++a) {
        const unsigned place =
            tiled.places[static_cast<std::size_t>(mesh.first[static_cast<std::size_t>(e)] + a)];
        for (int b = 0; b < mesh.corners(e); ++b) {
          ++seen.at(place + static_cast<unsigned>(b));
        }
        pieces.emplace_back(place, mesh.corner(e, a));
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(seen.size()));
    // The places of a row are contiguous.
    std::sort(pieces.begin(), pieces.end());
    std::vector<char> done(static_cast<std::size_t>(mesh.nodes));
    row_before = pieces.front().second;
    for (const auto& [place, row] : pieces) {
      if (row != row_before) done[static_cast<std::size_t>(row_before)] = 1;
      EXPECT_EQ(done[static_cast<std::size_t>(row)], 0);
      row_before = row;
    }
  }
}

}  // namespace
}  // namespace assembly_tiles_check
