// Trees that a GPU makes from arrays and from other trees in its memory, below the type of their
// entries: the same bytes as on a CPU.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "heddle/detail/trees/tree_edit.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/detail/trees/tree_sum.hpp"
#include "heddle/export.hpp"

namespace heddle::cuda {

/// Values of entries in a GPU's memory, or in host memory, from which they are copied.
struct HEDDLE_EXPORT EntriesToStore {
  const void* values = nullptr;
  int scalar_bytes = 8;         // 4 or 8
  std::vector<int> order = {};  // the scalar that becomes scalar k of an entry; empty for k
};

/// Like `detail::tree_of`, for rows in the memory of `device`, which also checks them. Also throws
/// `Error`: out_of_range and malformed_file like `check_pattern`, unsupported for 2^31 entries or
/// more.
HEDDLE_EXPORT detail::Tree tree_of_rows(const PatternView& pattern, const NodeShape& leaf,
                                        const EntriesToStore& entries, const Device& device,
                                        const std::optional<long long>& limit);

/// Same for entries in any order. Throws `Error`: out_of_range for one beyond the matrix, usage for
/// two in one place.
HEDDLE_EXPORT detail::Tree tree_of_places(Index rows, Index columns, Offset entries,
                                          const Index* row, const Index* column,
                                          const NodeShape& leaf, const EntriesToStore& values,
                                          const Device& device,
                                          const std::optional<long long>& limit);

/// alpha a + beta b for entries that are added and multiplied component by component, or multiplied
/// by complex numbers if they have two components. b may be an adjoint.
struct HEDDLE_EXPORT EntrySum {
  int scalar_bytes = 8;
  int components = 1;
  bool is_complex = false;
  double alpha[2] = {1, 0};  // real and imaginary part
  double beta[2] = {1, 0};
  /// Component k of the adjoint is component |adjoint[k]| - 1, negated if adjoint[k] is negative.
  /// Empty for b itself.
  std::vector<int> adjoint = {};
};

/// Like `detail::sum_of_trees`, for trees on one GPU that fit.
HEDDLE_EXPORT detail::Tree sum_of_trees(const std::shared_ptr<const TreeOnGpu>& A,
                                        const std::shared_ptr<const TreeOnGpu>& B,
                                        bool transposes_b, const EntrySum& sum,
                                        SumSchedule schedule);

/// Edits of one kind in arrays in a GPU's memory, or in host memory, from which they are copied.
struct HEDDLE_EXPORT EditsToMake {
  detail::EditAction action = detail::EditAction::set;
  Offset count = 0;
  const Index* row = nullptr;
  const Index* column = nullptr;
  EntriesToStore entries = {};
};

/// Like `detail::edited`, for entries whose sum is that of their components: the GPU makes the
/// edits, and reads only the part of the tree that they touch. Edits are counted from the first one
/// of all parts. Also throws `Error`: unsupported for 2^31 edits or more.
HEDDLE_EXPORT detail::Tree edited_tree(const TreeOnGpu& matrix, std::span<const EditsToMake> edits);
/// Same for a batch in host memory.
HEDDLE_EXPORT detail::Tree edited_tree(const TreeOnGpu& matrix,
                                       std::span<const detail::PlacedEdit> edits,
                                       const std::byte* values, int scalar_bytes);

/// Writes the tree's matrix by rows, columns sorted: rows + 1 offsets, which are zeros before, and
/// for each entry a column and 4-byte words, all in the memory of its GPU.
HEDDLE_EXPORT void rows_of_tree(const TreeOnGpu& matrix, Offset* offsets, Index* column,
                                void* values);

/// Writes the diagonal of a square tree as rows of one entry each, into arrays like those of
/// `rows_of_tree`. False if a row has none; the values of that row are left unchanged.
HEDDLE_EXPORT bool diagonal_of_tree(const TreeOnGpu& matrix, Offset* offsets, Index* column,
                                    void* values);

}  // namespace heddle::cuda
