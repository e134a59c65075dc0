#include "hidden_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/expansion.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle {

namespace {

constexpr int min_tile = 2, max_tile = 8;
constexpr Index looked_at = 64;  // rows of tiles
constexpr Index min_rows = 8;    // rows of tiles: fewer show nothing
constexpr double full_enough = 0.6;
/// Limit for the fill of shifted tiles over the fill: a dense band has that fill everywhere.
constexpr double at_most_elsewhere = 0.8;
constexpr double as_full = 0.02;

/// Calls `f(row)` for some rows of tiles, spread evenly.
template <class F>
void for_some_rows(Index rows, const F& f) {
  const Index count = std::min(rows, looked_at);
  for (Index i = 0; i < count; ++i) f(static_cast<Index>(Offset(i) * rows / count));
}

/// The share of places that are stored in tiles of that size, whose corners are at `shift` plus
/// multiples of the size.
double fill_of(const PatternView& pattern, int size, int shift) {
  std::vector<Index> tiles;
  Offset stored = 0, places = 0;
  for_some_rows((pattern.rows - shift) / size, [&](Index row) {
    tiles.clear();
    const Index first = row * size + shift;
    for (Offset i = pattern.offsets[first]; i < pattern.offsets[Offset(first) + size]; ++i) {
      tiles.push_back((pattern.column[i] + size - shift) / size);
    }
    stored += static_cast<Offset>(tiles.size());
    std::sort(tiles.begin(), tiles.end());
    places += (std::unique(tiles.begin(), tiles.end()) - tiles.begin()) * size * size;
  });
  return places == 0 ? 0 : static_cast<double>(stored) / static_cast<double>(places);
}

/// True if the examined diagonal tiles and their neighbours are representations of E.
template <class E, class S>
bool are_representations(const PatternView& pattern, const CsrMatrix<real<S>>& matrix) {
  constexpr int size = tile_rows<E>;
  bool are_all = true;
  std::vector<std::pair<Index, std::array<S, std::size_t(size) * size>>> tiles;
  for_some_rows(pattern.rows / size, [&](Index row) {
    tiles.clear();
    for (int i = 0; i < size; ++i) {
      const Offset at = Offset(row) * size + i;
      for (Offset k = pattern.offsets[at]; k < pattern.offsets[at + 1]; ++k) {
        const Index column = pattern.column[k] / size;
        auto tile = std::find_if(tiles.begin(), tiles.end(),
                                 [&](const auto& known) { return known.first == column; });
        if (tile == tiles.end()) tile = tiles.insert(tiles.end(), {column, {}});
        tile->second[static_cast<std::size_t>(i * size + pattern.column[k] % size)] =
            matrix.entry(k).component[0];
      }
    }
    for (const auto& [column, numbers] : tiles) {
      E e{};
      S magnitude = 0, defect = 0;
      for (int i = 0; i < size; ++i) e.component[i] = numbers[static_cast<std::size_t>(i * size)];
      const auto expected = detail::representation(e);
      for (int i = 0; i < size * size; ++i) {
        const S number = numbers[static_cast<std::size_t>(i)];
        magnitude = std::max(magnitude, std::abs(number));
        defect = std::max(defect, std::abs(number - expected[i / size][i % size]));
      }
      are_all = are_all && defect <= 16 * std::numeric_limits<S>::epsilon() * magnitude;
    }
  });
  return are_all;
}

std::string entry_of(const AnyMatrix& matrix, int size) {
  if (matrix.kind() == EntryKind::complex) {
    return size == 3 ? std::string(name(EntryKind::complex_block3)) : std::string();
  }
  const auto is = [&]<template <class> class E>() {
    return matrix.visit([&]<class T>(const CsrMatrix<T>& own) {
      if constexpr (std::is_same_v<T, real<float>>) {
        return are_representations<E<float>>(matrix.pattern(), own);
      } else if constexpr (std::is_same_v<T, real<double>>) {
        return are_representations<E<double>>(matrix.pattern(), own);
      } else {
        return false;
      }
    });
  };
  if (size == 2 && is.template operator()<complex>()) return std::string(name(EntryKind::complex));
  if (size == 4 && is.template operator()<quaternion>()) {
    return std::string(name(EntryKind::quaternion));
  }
  const std::string block = "block" + std::to_string(size);
  const auto& names = entry_kind_names;
  return std::find(names.begin(), names.end(), block) == names.end() ? std::string() : block;
}

}  // namespace

std::optional<HiddenTiles> hidden_tiles(const AnyMatrix& matrix) {
  if (matrix.is_defined() || matrix.rows() != matrix.columns()) return std::nullopt;
  if (matrix.kind() != EntryKind::real && matrix.kind() != EntryKind::complex) return std::nullopt;
  const PatternView pattern = matrix.pattern();
  HiddenTiles found;
  for (int size = min_tile; size <= max_tile; ++size) {
    if (pattern.rows % size != 0 || pattern.rows / size < min_rows) continue;
    const double fill = fill_of(pattern, size, 0);
    if (fill < full_enough || fill < found.fill - as_full) continue;
    if (fill_of(pattern, size, size / 2) > at_most_elsewhere * fill) continue;
    found = {size, fill, ""};
  }
  if (found.size == 0) return std::nullopt;
  found.entry = entry_of(matrix, found.size);
  return found;
}

std::optional<EntryKind> entry_of_first_columns(const AnyMatrix& matrix) {
  if (matrix.is_defined() || matrix.kind() != EntryKind::real) return std::nullopt;
  const Offset rows = matrix.rows(), columns = matrix.columns();
  if (columns > 0 && rows == 4 * columns) return EntryKind::quaternion;
  if (columns > 0 && rows == 8 * columns) return EntryKind::dual_quaternion;
  return std::nullopt;
}

std::string reason_for_rectangular(const AnyMatrix& matrix) {
  std::string reason = "the matrix is rectangular";
  const auto entry = entry_of_first_columns(matrix);
  if (!entry) return reason;
  return reason + ", or a square one of " + std::string(name(*entry)) + "s";
}

std::string advice_on(const HiddenTiles& tiles) {
  constexpr std::string_view numbers[] = {"twos",  "threes", "fours", "fives",
                                          "sixes", "sevens", "eights"};
  const std::string size = std::to_string(tiles.size);
  const std::string shape = size + " x " + size;
  const std::string come = "rows come in " + std::string(numbers[tiles.size - min_tile]) + ": ";
  if (tiles.entry == name(EntryKind::complex) || tiles.entry == name(EntryKind::quaternion)) {
    return come + shape + " tiles are " + tiles.entry + " numbers; as " + tiles.entry +
           " entries they take 1/" + size + " of the memory, and fewer iterations";
  }
  const std::string full =
      come + shape + " tiles are " + std::to_string(std::lround(100 * tiles.fill)) + "% full; ";
  if (tiles.entry.empty()) return full + "block-jacobi:" + size + " inverts whole tiles";
  const bool has_motions =
      tiles.entry == name(EntryKind::block2) || tiles.entry == name(EntryKind::block3);
  return full + "as " + tiles.entry + " entries they take fewer iterations, and multigrid with " +
         (has_motions ? "the coordinates of their points, or candidates," : "candidates") +
         " fewer still";
}

}  // namespace heddle
