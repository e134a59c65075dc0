// Small dense tiles in a matrix of numbers: unknowns of one point, which solvers take better as
// one entry.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

struct HiddenTiles {
  int size = 0;       // rows and columns of a tile
  double fill = 0;    // of the tiles' places, the share that is stored
  std::string entry;  // that reads a tile as one; empty where there is none
};

/// Looks at some of the rows, in about the time of a few products with these. None where the matrix
/// has other entries than numbers, and where no size stands out.
std::optional<HiddenTiles> hidden_tiles(const AnyMatrix& matrix);

/// Advice about them, in a sentence without a full stop.
std::string advice_on(const HiddenTiles& tiles);

}  // namespace heddle
