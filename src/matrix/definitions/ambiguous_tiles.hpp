// The refusal of files of numbers that may hold two matrices of entries.
#pragma once

#include <utility>

#include "heddle/csr.hpp"

namespace heddle::detail {

/// Throws `Error` (unsupported) that names the line by which a Matrix Market file distinguishes the
/// two. Tiles are rows and columns of the file's numbers.
[[noreturn]] void refuse_ambiguous_tiles(const PatternView& pattern, std::pair<int, int> expansion,
                                         std::pair<int, int> components);

}  // namespace heddle::detail
