// Features of a matrix: the numbers that decide how to store and solve it.
#pragma once

#include <string>
#include <vector>

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

struct HEDDLE_EXPORT Features {
  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;
  Index shortest_row = 0;
  Index longest_row = 0;
  Index empty_rows = 0;
  double mean_row = 0;
  double deviation_of_rows = 0;  // standard deviation of the row lengths
  Index bandwidth = 0;           // largest |row - column|
  double mean_distance = 0;      // mean |row - column|

  // Square matrices only.
  bool square = false;
  bool symmetric_pattern = false;
  bool has_adjoint = false;     // the entries have one, so that the next member is meaningful
  double hermitian_defect = 0;  // largest |a_ij - adjoint(a_ji)| over the largest |a|
  bool has_transpose = false;   // complex entries: then the next member is meaningful
  double symmetric_defect = 0;  // largest |a_ij - transpose(a_ji)| over the largest |a|
  Index missing_diagonal = 0;   // rows without a diagonal entry
  Index singular_diagonal = 0;  // rows whose diagonal entry has no inverse, in addition to those
};

HEDDLE_EXPORT Features features(const AnyMatrix& matrix, const Device& device);

/// Rows whose diagonal entry is missing or has no inverse. The first row is meaningful if there are
/// any, the other one, whose entry is not finite, is else the number of rows.
struct RowsWithoutInverse {
  Index count = 0;
  Index first = 0, not_finite = 0;
};
/// `first_row`: the place of these rows among those of the whole matrix, whose columns they have.
HEDDLE_EXPORT RowsWithoutInverse rows_without_inverse(const AnyMatrix& matrix, const Device& device,
                                                      Index first_row = 0);

/// Rows that store nothing but zeros: A x is 0 there.
HEDDLE_EXPORT std::vector<Index> rows_of_zeros(const AnyMatrix& matrix);

/// One layout's account, and its total over that of CSR (Mueller-Roemer et al. 2020, table 9;
/// theirs counts offsets of 4 bytes, these have 8).
struct HEDDLE_EXPORT LayoutMemory {
  std::string plan;
  MemoryUse use;
  double of_csr = 1;
};

/// Product memory of CSR, ELL, Sl-16, Sl-32, pJDS and K2, and of the real expansion in CSR.
HEDDLE_EXPORT std::vector<LayoutMemory> layout_memory(const AnyMatrix& matrix,
                                                      const Device& device);

}  // namespace heddle
