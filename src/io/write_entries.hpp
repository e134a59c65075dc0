// A matrix of entries as a file, by the end of its name.
#pragma once

#include <string>
#include <type_traits>

#include "heddle/error.hpp"
#include "heddle/expansion.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/npz.hpp"
#include "heddle/runtime/defined_matrix.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/tools/text.hpp"

namespace heddle {

/// Throws `Error` (usage) for a name that gives no format. `option`: the option that asks.
inline void check_entries_path(const std::string& option, const std::string& path) {
  for (const char* const end : {".mtx", ".mtx.gz", ".npz"}) {
    if (path.ends_with(end)) return;
  }
  throw Error(ErrorKind::usage,
              option + ": " + io::printable(path) + " does not end in .mtx, .mtx.gz or .npz");
}

/// `.npz`: blocks as BSR, other compound entries as the columns of their components. Matrix Market:
/// the expansion, in complex numbers if the entry has one, and the size of its tiles.
template <class E>
void write_entries(const std::string& path, const CsrMatrix<E>& matrix, Progress* progress) {
  if (path.ends_with(".npz")) {
    write_npz(path, block_view(matrix), NpzCompression::stored, progress);
  } else if constexpr (std::is_same_v<E, real<double>> || std::is_same_v<E, complex<double>>) {
    write_scalar_matrix(path, matrix.view(), Symmetry::general, progress);  // bits as they are
  } else if constexpr (has_complex_representation<E>) {
    const ScalarMatrix numbers{expand_complex(matrix), tile_rows<E> / 2, tile_columns<E> / 2};
    write_scalar_matrix(path, numbers, Symmetry::general, progress);
  } else {
    const ScalarMatrix numbers{expand(matrix), tile_rows<E>, tile_columns<E>};
    write_scalar_matrix(path, numbers, Symmetry::general, progress);
  }
}

/// Same, for entries from a definition: `.npz` as columns of their components. Throws `Error`
/// (unsupported) for Matrix Market if the real representation mixes components.
HEDDLE_EXPORT void write_entries(const std::string& path, const DefinedMatrix<double>& matrix,
                                 Progress* progress);

}  // namespace heddle
