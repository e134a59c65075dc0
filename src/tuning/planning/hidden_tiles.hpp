// Small dense tiles in a matrix of numbers: unknowns of one point, which solvers handle better as
// one entry.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle {

struct HiddenTiles {
  int size = 0;       // rows and columns of a tile
  double fill = 0;    // share of the tiles' places that is stored
  std::string entry;  // entry that reads a tile as one; empty where there is none
};

/// Examines some of the rows, in about the time of a few products with them. None where the matrix
/// has entries other than numbers, and where no size stands out.
std::optional<HiddenTiles> hidden_tiles(const AnyMatrix& matrix);

/// The entry whose first columns a matrix of numbers may hold, as files of such entries do: none
/// unless it has 4 or 8 times as many rows as columns.
std::optional<EntryKind> entry_of_first_columns(const AnyMatrix& matrix);

/// The reason why lsmr solves with a matrix that is not square, and what else it may be.
std::string reason_for_rectangular(const AnyMatrix& matrix);

/// Advice about the tiles, in a sentence without a full stop.
std::string advice_on(const HiddenTiles& tiles);

}  // namespace heddle
