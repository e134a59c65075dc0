#include "heddle/expansion.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <sstream>

#include "ambiguous_tiles.hpp"

namespace heddle::detail {

namespace {

/// Most that a number may differ from what its tile implies, relative to the tile's largest.
constexpr double representation_tolerance = 1e-12;

/// The part of the scalar matrix for one entry: `rows` x `columns` values of `parts` numbers.
struct Tile {
  int rows = 0;
  int columns = 0;
  int parts = 1;
  std::vector<Position> at;  // (row * columns + column) * parts + part
  std::vector<int> read_at;  // where each component is read
  bool free = false;         // every number is a component of its own: nothing to check

  int numbers() const { return rows * columns * parts; }
};

Tile finished(Tile tile, int components) {
  tile.read_at.assign(components, -1);
  // A component is read in the first column that shows it, where a number's are in order.
  for (int j = tile.columns - 1; j >= 0; --j) {
    for (int i = tile.rows - 1; i >= 0; --i) {
      for (int p = 0; p < tile.parts; ++p) {
        const int at = (i * tile.columns + j) * tile.parts + p;
        if (tile.at[at].sign != 0) tile.read_at[tile.at[at].component] = at;
      }
    }
  }
  if (std::count(tile.read_at.begin(), tile.read_at.end(), -1) != 0) {
    throw Error(ErrorKind::unsupported,
                "the representation of this entry does not show all of its components; assemble "
                "the matrix from triplets instead");
  }
  tile.free = tile.numbers() == components;
  return tile;
}

Tile expansion_tile(const Arrangement& arranged, int parts) {
  Tile tile{arranged.rows / parts, arranged.columns / parts, parts, {}, {}, false};
  for (int i = 0; i < tile.rows; ++i) {
    for (int j = 0; j < tile.columns; ++j) {
      for (int p = 0; p < parts; ++p) {
        tile.at.push_back(arranged.at[(i * parts + p) * arranged.columns + j * parts]);
      }
    }
  }
  return finished(std::move(tile), arranged.components);
}

Tile component_tile(const Arrangement& arranged, int parts) {
  Tile tile{arranged.components / parts, 1, parts, {}, {}, false};
  for (int k = 0; k < arranged.components; ++k) tile.at.push_back({k, 1});
  return finished(std::move(tile), arranged.components);
}

std::string size_text(Index rows, Index columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

/// The tiles that a matrix of such numbers may have.
class Tiles {
 public:
  Tiles(const PatternView& pattern, int parts, const Arrangement& arranged)
      : pattern_(pattern),
        expansion_(expansion_tile(arranged, parts)),
        components_(component_tile(arranged, parts)) {}

  const Tile& of(Tiling tiling) const {
    return tiling == Tiling::components ? components_ : expansion_;
  }
  /// The tiling that the shape determines; automatic if only the numbers do.
  Tiling by_shape() const {
    if (expansion_.free || is_square(expansion_) || !fits(components_)) return Tiling::expansion;
    if (!fits(expansion_)) return Tiling::components;
    return is_square(components_) ? Tiling::automatic : Tiling::expansion;
  }
  bool fits(const Tile& tile) const {
    return pattern_.rows % tile.rows == 0 && pattern_.columns % tile.columns == 0;
  }

 private:
  bool is_square(const Tile& tile) const {
    return fits(tile) && pattern_.rows / tile.rows == pattern_.columns / tile.columns;
  }

  const PatternView& pattern_;
  Tile expansion_, components_;
};

Tiles tiles_of(const PatternView& pattern, int parts, const Arrangement& arranged) {
  if (parts == 2 && !arranged.complex) {
    throw Error(ErrorKind::unsupported,
                "a complex matrix cannot be folded into entries that are not over complex numbers; "
                "choose a complex entry");
  }
  return {pattern, parts, arranged};
}

void check_fits(const Tiles& tiles, const PatternView& pattern, int parts, const Tile& chosen) {
  if (tiles.fits(chosen)) return;
  throw Error(ErrorKind::size_mismatch,
              "a " + size_text(pattern.rows, pattern.columns) +
                  (parts == 2 ? " complex" : " real") + " matrix does not divide into tiles of " +
                  size_text(chosen.rows, chosen.columns) + ", one per entry; choose the entry " +
                  "that the matrix was written for");
}

/// Walks the scalar rows of one row of tiles together, by increasing columns.
class TileRow {
 public:
  TileRow(const PatternView& pattern, const Tile& tile)
      : pattern_(pattern), tile_(tile), next_(tile.rows), end_(tile.rows), front_(tile.rows) {}

  void begin(Index tile_row) {
    for (int i = 0; i < tile_.rows; ++i) {
      const Index row = tile_row * tile_.rows + i;
      next_[i] = pattern_.offsets[row];
      end_[i] = pattern_.offsets[row + 1];
      front_[i] = next_[i] < end_[i] ? pattern_.column[next_[i]] : none;
    }
  }
  /// The column of the next tile, or -1. Calls `put(row, column, value)` for each value of the
  /// tile: row and column within the tile, and the number of the value in the matrix.
  template <class Put>
  Index next(const Put& put) {
    const Index lowest = *std::min_element(front_.begin(), front_.end());
    if (lowest == none) return -1;
    const Index tile_column = lowest / tile_.columns;
    const Index first = tile_column * tile_.columns;
    const Index beyond = first + tile_.columns;
    for (int i = 0; i < tile_.rows; ++i) {
      while (front_[i] < beyond) {
        put(i, front_[i] - first, next_[i]);
        front_[i] = ++next_[i] < end_[i] ? pattern_.column[next_[i]] : none;
      }
    }
    return tile_column;
  }

 private:
  static constexpr Index none = std::numeric_limits<Index>::max();
  const PatternView& pattern_;
  const Tile& tile_;
  std::vector<Offset> next_, end_;
  std::vector<Index> front_;
};

/// The first number that contradicts the rest of its tile, or -1.
template <class T>
int contradiction(const Tile& tile, const std::vector<T>& numbers) {
  T largest = 0;
  for (const T& number : numbers) largest = std::max(largest, std::abs(number));
  const T tolerance = static_cast<T>(representation_tolerance) * largest;
  for (int i = 0; i < tile.numbers(); ++i) {
    const Position& position = tile.at[i];
    T expected = 0;
    if (position.sign != 0) {
      const int from = tile.read_at[position.component];
      expected = position.sign * tile.at[from].sign * numbers[from];
    }
    if (!(std::abs(numbers[i] - expected) <= tolerance)) return i;
  }
  return -1;
}

template <class T>
[[noreturn]] void refuse_tile(const Tile& tile, Index tile_row, Index tile_column,
                              const std::vector<T>& numbers, int bad) {
  const int value = bad / tile.parts;
  const Index row = tile_row * tile.rows + value / tile.columns;
  const Index column = tile_column * tile.columns + value % tile.columns;
  const Position& position = tile.at[bad];
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  text << "tile (" << tile_row << ", " << tile_column << ") is not the "
       << size_text(tile.rows, tile.columns) << " representation of an entry: ";
  if (tile.parts == 2) text << (bad % 2 == 0 ? "the real part at " : "the imaginary part at ");
  text << "scalar row " << row << ", column " << column << " is " << numbers[bad]
       << ", but must be ";
  if (position.sign == 0) {
    text << "0";
  } else {
    const int from = tile.read_at[position.component];
    text << position.sign * tile.at[from].sign * numbers[from] << " as at row "
         << tile_row * tile.rows + from / tile.parts / tile.columns << ", column "
         << tile_column * tile.columns + from / tile.parts % tile.columns;
  }
  text << " (counted from 0); choose the entry that the matrix was written for";
  throw Error(ErrorKind::malformed_file, text.str());
}

/// Rows that a thread takes at a time, because they differ in length.
constexpr Offset rows_at_once = 256;

}  // namespace

template <class T>
CsrArrays<T> with_sorted_columns(const NumbersView<T>& matrix, const Device& device) {
  const PatternView& pattern = matrix.pattern;
  const auto values = static_cast<std::size_t>(pattern.entries());
  const int team = team_size(device.stream(), pattern.entries() + pattern.rows);
  CsrArrays<T> sorted{pattern.rows, pattern.columns,
                      Array<Offset>(static_cast<std::size_t>(pattern.rows) + 1, device),
                      Array<Index>(values, device), Array<T>(values * matrix.parts, device)};
  parallel_shares(team, pattern.rows, rows_at_once, [&](auto&& for_each) {
    std::vector<std::pair<Index, Offset>> order;
    for_each([&](Index row) {
      const Offset begin = pattern.offsets[row], end = pattern.offsets[row + 1];
      sorted.offsets[row + 1] = end;
      order.clear();
      for (Offset i = begin; i < end; ++i) order.emplace_back(pattern.column[i], i);
      std::sort(order.begin(), order.end());
      for (Offset i = begin; i < end; ++i) {
        const auto& [column, from] = order[i - begin];
        sorted.column[i] = column;
        for (int p = 0; p < matrix.parts; ++p) {
          sorted.values[i * matrix.parts + p] = matrix.values[from * matrix.parts + p];
        }
      }
    });
  });
  return sorted;
}

namespace {

/// The tiling by the numbers of sorted rows: the expansion if every tile is a representation.
template <class T>
Tiling tiling_by_numbers(const NumbersView<T>& matrix, const Tiles& tiles, int team) {
  const Tile& tile = tiles.of(Tiling::expansion);
  std::atomic<bool> are_representations{true}, are_zeros{true};
  parallel_shares(team, matrix.pattern.rows / tile.rows, rows_at_once, [&](auto&& for_each) {
    TileRow walk(matrix.pattern, tile);
    std::vector<T> numbers(tile.numbers());
    for_each([&](Index row) {
      if (!are_representations.load(std::memory_order_relaxed)) return;
      walk.begin(row);
      for (;;) {
        std::fill(numbers.begin(), numbers.end(), T(0));
        const Index column = walk.next([&](int i, Index j, Offset value) {
          for (int p = 0; p < matrix.parts; ++p) {
            numbers[(i * tile.columns + j) * tile.parts + p] =
                matrix.values[value * matrix.parts + p];
          }
        });
        if (column < 0) return;
        const auto is_zero = [](const T& number) { return number == 0; };
        if (!std::all_of(numbers.begin(), numbers.end(), is_zero)) are_zeros = false;
        if (contradiction(tile, numbers) >= 0) are_representations = false;
      }
    });
  });
  if (!are_representations) return Tiling::components;
  if (are_zeros) {
    refuse_ambiguous_tiles(matrix.pattern, {tile.rows, tile.columns},
                           {tiles.of(Tiling::components).rows, 1});
  }
  return Tiling::expansion;
}

}  // namespace

void refuse_ambiguous_tiles(const PatternView& pattern, std::pair<int, int> expansion,
                            std::pair<int, int> components) {
  const auto entries = [&](std::pair<int, int> tile) {
    return size_text(pattern.rows / tile.first, pattern.columns / tile.second);
  };
  const auto line = [](std::pair<int, int> tile) {
    return "'%heddle tiles " + size_text(tile.first, tile.second) + "'";
  };
  throw Error(ErrorKind::unsupported,
              "a " + size_text(pattern.rows, pattern.columns) +
                  " matrix is ambiguous: it may have " + entries(expansion) + " entries or " +
                  entries(components) + "; a line " + line(expansion) + " or " + line(components) +
                  " before the sizes of a Matrix Market file decides");
}

template <class S, class T>
CsrArrays<S> fold_tiles(const NumbersView<T>& matrix, const Arrangement& arranged, Tiling tiling,
                        const Device& device) {
  const Tiles tiles = tiles_of(matrix.pattern, matrix.parts, arranged);
  if (tiling == Tiling::automatic) tiling = tiles.by_shape();
  check_fits(tiles, matrix.pattern, matrix.parts, tiles.of(tiling));
  const int team = team_size(device.stream(), matrix.pattern.entries() + matrix.pattern.rows);
  if (!has_sorted_columns(matrix.pattern, team)) {
    const CsrArrays<T> sorted = with_sorted_columns(matrix, device);
    return fold_tiles<S, T>({sorted.pattern(), sorted.values.data(), matrix.parts}, arranged,
                            tiling, device);
  }
  if (tiling == Tiling::automatic) tiling = tiling_by_numbers(matrix, tiles, team);
  const Tile& tile = tiles.of(tiling);
  const PatternView& pattern = matrix.pattern;
  const int parts = matrix.parts, components = arranged.components;
  const Index rows = pattern.rows / tile.rows;
  CsrArrays<S> folded;
  folded.rows = rows;
  folded.columns = pattern.columns / tile.columns;
  folded.offsets = Array<Offset>(static_cast<std::size_t>(rows) + 1, device);

  parallel_shares(team, rows, rows_at_once, [&](auto&& for_each) {
    TileRow walk(pattern, tile);
    for_each([&](Index row) {
      walk.begin(row);
      while (walk.next([](int, Index, Offset) {}) >= 0) ++folded.offsets[row + 1];
    });
  });
  for (Index row = 0; row < rows; ++row) folded.offsets[row + 1] += folded.offsets[row];

  const auto entries = static_cast<std::size_t>(folded.offsets[rows]);
  folded.column = Array<Index>(entries, device);
  folded.values = Array<S>(entries * components, device);
  // No row before the first bad one is skipped, so that the row named is the same with any number
  // of threads. That row is read again afterwards for its message.
  std::atomic<Index> first_bad{rows};
  const auto read_row = [&](TileRow& walk, std::vector<T>& numbers, Index row, const auto& bad) {
    Offset entry = folded.offsets[row];
    walk.begin(row);
    for (;; ++entry) {
      std::fill(numbers.begin(), numbers.end(), T(0));
      const Index column = walk.next([&](int i, Index j, Offset value) {
        for (int p = 0; p < parts; ++p) {
          numbers[(i * tile.columns + j) * parts + p] = matrix.values[value * parts + p];
        }
      });
      if (column < 0) return;
      if (!tile.free) {
        const int at = contradiction(tile, numbers);
        if (at >= 0) return bad(column, at);
      }
      folded.column[entry] = column;
      for (int k = 0; k < components; ++k) {
        const int from = tile.read_at[k];
        folded.values[entry * components + k] = static_cast<S>(tile.at[from].sign * numbers[from]);
      }
    }
  };
  parallel_shares(team, rows, rows_at_once, [&](auto&& for_each) {
    TileRow walk(pattern, tile);
    std::vector<T> numbers(tile.numbers());
    for_each([&](Index row) {
      if (row > first_bad.load(std::memory_order_relaxed)) return;
      read_row(walk, numbers, row, [&](Index, int) { lower(first_bad, row); });
    });
  });
  if (const Index row = first_bad.load(); row < rows) {
    TileRow walk(pattern, tile);
    std::vector<T> numbers(tile.numbers());
    read_row(walk, numbers, row,
             [&](Index column, int at) { refuse_tile(tile, row, column, numbers, at); });
  }
  return folded;
}

template CsrArrays<float> with_sorted_columns(const NumbersView<float>&, const Device&);
template CsrArrays<double> with_sorted_columns(const NumbersView<double>&, const Device&);
template CsrArrays<long double> with_sorted_columns(const NumbersView<long double>&, const Device&);

template CsrArrays<float> fold_tiles(const NumbersView<float>&, const Arrangement&, Tiling,
                                     const Device&);
template CsrArrays<double> fold_tiles(const NumbersView<float>&, const Arrangement&, Tiling,
                                      const Device&);
template CsrArrays<float> fold_tiles(const NumbersView<double>&, const Arrangement&, Tiling,
                                     const Device&);
template CsrArrays<double> fold_tiles(const NumbersView<double>&, const Arrangement&, Tiling,
                                      const Device&);
template CsrArrays<long double> fold_tiles(const NumbersView<double>&, const Arrangement&, Tiling,
                                           const Device&);
template CsrArrays<long double> fold_tiles(const NumbersView<long double>&, const Arrangement&,
                                           Tiling, const Device&);

}  // namespace heddle::detail
