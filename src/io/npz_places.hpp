// SciPy's `.npz` files in formats other than rows: columns (CSC), places (COO), diagonals (DIA).
#pragma once

#include <string>

#include "heddle/npz.hpp"
#include "npz_member.hpp"

namespace heddle::io {

/// `format`: 'csc', 'coo' or 'dia'. The columns of a row are in the order of the file, duplicates
/// included. Zeros of diagonals are no entries, as in SciPy. Throws `Error`, without the file's
/// name.
BlockMatrix read_places(const Archive& archive, const std::string& format, const Device& device,
                        Progress* progress);

}  // namespace heddle::io
