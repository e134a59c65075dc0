// The matrices of Mueller-Roemer et al. (2020): their sizes (table 1) and the memory of their
// layouts (table 9).
#pragma once

#include <array>

#include "heddle/runtime/any_matrix.hpp"
#include "row_lengths.hpp"

namespace heddle::bench {

/// Memory over that of CSR.
struct LayoutRatios {
  double ell = 0, sl16 = 0, sl32 = 0;
};

struct PaperMatrix {
  const char* name;  // in the paper
  EntryKind entry;
  int components;  // of an entry
  int dimensions;  // of the mesh that it comes from
  Index rows;
  Offset entries;
  LayoutRatios printed;  // table 9: one digit after the point
  LayoutRatios wanted;   // of the generated matrix; they round to the printed ones
};

inline constexpr std::size_t paper_matrix_count = 13;
extern const std::array<PaperMatrix, paper_matrix_count> paper_matrices;

/// The matrix with these entries and as many rows, or null.
const PaperMatrix* paper_matrix(EntryKind entry, Index rows);

/// The statistics that give a matrix its wanted ratios.
RowStatistics wanted_statistics(const PaperMatrix& matrix);

/// Memory over that of CSR as the paper counts it, for rows of these statistics and entries of
/// doubles: 4 bytes for a column, an offset or a row's length; rows padded to whole warps in ELL,
/// and to whole slices in sliced layouts, which keep no lengths.
LayoutRatios paper_ratios(const PaperMatrix& matrix, const RowStatistics& rows);

}  // namespace heddle::bench
