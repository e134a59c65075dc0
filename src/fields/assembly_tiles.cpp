#include "heddle/detail/assembly_tiles.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// The pieces, entries and terms of the user's row v.
struct RowOf {
  const ElementPattern& pattern;
  std::size_t v;

  unsigned first_piece() const { return pattern.first_corner[v]; }
  unsigned pieces() const { return pattern.first_corner[v + 1] - pattern.first_corner[v]; }
  Offset first_entry() const { return pattern.offsets[v]; }
  Offset end_of_entries() const { return pattern.offsets[v + 1]; }
  auto entries() const { return static_cast<unsigned>(end_of_entries() - first_entry()); }
  unsigned terms() const {
    return pattern.first_term[static_cast<std::size_t>(end_of_entries())] -
           pattern.first_term[static_cast<std::size_t>(first_entry())];
  }
};

/// The user's row for each stored one.
std::vector<std::size_t> stored_rows(const SlicedPattern& matrix) {
  const std::vector<Index> target = matrix.target.to_host();
  std::vector<std::size_t> row(static_cast<std::size_t>(matrix.rows));
  for (std::size_t s = 0; s < row.size(); ++s) {
    const Index place = target.empty() ? static_cast<Index>(s) : target[s];
    row[s] = static_cast<std::size_t>(matrix.row_basis->user_row(place));
  }
  return row;
}

std::size_t number_of_corner(const ElementPattern& pattern, unsigned corner) {
  const Offset e = pattern.code.element_of_corner(corner);
  const Offset first = pattern.first_node.empty() ? e * pattern.max_corners
                                                  : pattern.first_node[static_cast<std::size_t>(e)];
  return static_cast<std::size_t>(first + pattern.code.last(corner));
}

unsigned corners_of(const ElementPattern& pattern, unsigned corner) {
  if (pattern.first_node.empty()) return static_cast<unsigned>(pattern.max_corners);
  const auto e = static_cast<std::size_t>(pattern.code.element_of_corner(corner));
  return static_cast<unsigned>(pattern.first_node[e + 1] - pattern.first_node[e]);
}

/// The places of one tile's terms, entry by entry in the order of their slots.
void fill_tile(const ElementPattern& pattern, const std::vector<Offset>& slots,
               const std::vector<unsigned>& row_places, std::span<const std::size_t> rows,
               std::size_t first_entry, AssemblyTileLists& lists) {
  std::vector<std::size_t> entries;
  for (const std::size_t v : rows) {
    const RowOf row{pattern, v};
    for (Offset i = row.first_entry(); i < row.end_of_entries(); ++i) {
      entries.push_back(static_cast<std::size_t>(i));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [&](std::size_t i, std::size_t k) { return slots[i] < slots[k]; });
  std::uint16_t place = 0;
  for (const std::size_t i : entries) {
    for (unsigned at = pattern.first_term[i]; at < pattern.first_term[i + 1]; ++at) {
      const unsigned term = pattern.term[at], corner = term >> pattern.code.bits;
      const unsigned number = row_places[number_of_corner(pattern, corner)] +
                              static_cast<unsigned>(pattern.code.last(term));
      lists.place[number] = place++;
    }
    lists.slot[first_entry] = static_cast<unsigned>(slots[i]);
    lists.end[first_entry++] = place;
  }
}

}  // namespace

std::vector<unsigned> row_places(const ElementPattern& pattern, const SlicedPattern& matrix) {
  std::vector<unsigned> places(pattern.corner.size());
  unsigned number = 0;
  for (const std::size_t v : stored_rows(matrix)) {
    const RowOf row{pattern, v};
    for (unsigned at = row.first_piece(); at < row.first_piece() + row.pieces(); ++at) {
      const unsigned corner = pattern.corner[at];
      places[number_of_corner(pattern, corner)] = number;
      number += corners_of(pattern, corner);
    }
  }
  return places;
}

AssemblyTileLists assembly_tiles(const ElementPattern& pattern, const SlicedPattern& matrix,
                                 const std::vector<Offset>& slots,
                                 const std::vector<unsigned>& row_places) {
  if (!pattern.first_node.empty()) return {};
  const std::vector<std::size_t> rows = stored_rows(matrix);
  AssemblyTileLists lists;
  // Small meshes get small tiles, so that every multiprocessor has some.
  constexpr std::size_t max_tiles = 1024;
  constexpr unsigned usual = AssemblyTiles::usual_terms;
  lists.terms = static_cast<unsigned>(
      std::clamp<std::size_t>(pattern.term.size() / max_tiles, usual / 4, usual));
  for (const std::size_t v : rows) lists.terms = std::max(lists.terms, RowOf{pattern, v}.terms());
  if (lists.terms > AssemblyTiles::max_terms) return {};

  std::vector<std::size_t> first_row;
  unsigned pieces = 0, entries = 0, terms_of_tile = 0, entries_of_tile = 0;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const RowOf row{pattern, rows[s]};
    terms_of_tile += row.terms();
    entries_of_tile += row.entries();
    if (s == 0 || terms_of_tile > lists.terms || entries_of_tile > AssemblyTiles::threads) {
      first_row.push_back(s);
      lists.first_piece.push_back(pieces);
      lists.first_entry.push_back(entries);
      terms_of_tile = row.terms();
      entries_of_tile = row.entries();
    }
    for (unsigned at = 0; at < row.pieces(); ++at) {
      lists.piece.push_back(pattern.corner[row.first_piece() + at]);
    }
    pieces += row.pieces();
    entries += row.entries();
  }
  first_row.push_back(rows.size());
  lists.first_piece.push_back(pieces);
  lists.first_entry.push_back(entries);

  lists.place.resize(pattern.term.size());
  lists.slot.resize(slots.size());
  lists.end.resize(slots.size());
  parallel_for(default_threads(), static_cast<Offset>(first_row.size()) - 1, [&](Offset tile) {
    const auto t = static_cast<std::size_t>(tile);
    fill_tile(pattern, slots, row_places,
              std::span(rows).subspan(first_row[t], first_row[t + 1] - first_row[t]),
              lists.first_entry[t], lists);
  });
  return lists;
}

}  // namespace heddle::detail
