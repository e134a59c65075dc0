// Maps corners of elements to the slots of sliced storage and the rows of a basis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heddle/detail/assembly_tiles.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/element_pattern.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/kernels/assembly_sums.hpp"

namespace heddle {

/// The order in which an array holds K components for each pair (a, b) of an element's corners, or
/// for each corner a. `by_element`: e, a, b, component, element after element. `planes`: a plane
/// over the elements for each (a, b, component), as many as the element with the most corners
/// needs, so that threads that compute an element each write side by side; what a plane has for an
/// element of fewer corners is not read. `by_row`: the pairs (a, 0), (a, 1), ... of a corner
/// together, where `Assembly::row_places` says, so that a GPU reads terms in the order in which
/// they lie; vectors as in `by_element`.
enum class ElementOrder { by_element, planes, by_row };

namespace detail {

/// Where the numbers of elements lie in arrays of an `ElementOrder`.
struct HEDDLE_EXPORT ElementNumbering {
  Offset elements;
  int most;
  const Offset* first_node;   // null where all elements have `most` corners
  const Offset* first_entry;  // likewise, for the pairs of corners
  const unsigned* row_place;  // `row_places`
  ElementOrder order;
  int components;

  /// True if codes of corners number the array, as for elements of 2, 4, 8, ... corners.
  bool is_by_code(const CornerCode& code) const {
    return order == ElementOrder::by_element && first_node == nullptr && most == 1 << code.bits;
  }
  /// Component k is at place + k * stride().
  HEDDLE_INLINE Offset stride() const { return order == ElementOrder::planes ? elements : 1; }
  HEDDLE_INLINE Offset number_of_corner(Offset e, int a) const {
    return (first_node != nullptr ? first_node[e] : e * most) + a;
  }
  HEDDLE_INLINE Offset place(Offset e, int a) const {
    if (order == ElementOrder::planes) return Offset(a) * components * elements + e;
    return number_of_corner(e, a) * components;
  }
  HEDDLE_INLINE Offset place(Offset e, int a, int b) const {
    if (order == ElementOrder::planes) {
      return (Offset(a) * most + b) * components * elements + e;
    }
    if (order == ElementOrder::by_row) {
      return (Offset(row_place[number_of_corner(e, a)]) + b) * components;
    }
    if (first_node == nullptr) return ((e * most + a) * most + b) * components;
    return (first_entry[e] + a * (first_node[e + 1] - first_node[e]) + b) * components;
  }
};

/// Owns the lists of a mesh's pattern for a matrix that was built on it, and those of tiles for
/// entries of `bytes_of_entry` bytes.
class HEDDLE_EXPORT AssemblyMap {
 public:
  AssemblyMap(const ElementPattern& pattern, const SlicedPattern& matrix, const Device& device,
              std::size_t bytes_of_entry);

  AssemblyLists lists(const SlicedPattern& matrix) const {
    return {code_,
            first_term_.data(),
            term_.data(),
            row_.data(),
            matrix.column.data(),
            first_corner_.data(),
            corner_.data(),
            tiles()};
  }
  ElementNumbering numbering(ElementOrder order, int components) const {
    return {elements_,         max_,  first_node_.data(), first_entry_.data(),
            row_place_.data(), order, components};
  }
  std::span<const unsigned> row_places() const { return row_place_.span(); }
  /// Length of an array of that order, for pairs of corners or for corners.
  Offset entry_numbers(ElementOrder order) const;
  Offset corner_numbers(ElementOrder order) const;
  Offset elements() const { return elements_; }
  Offset terms() const { return static_cast<Offset>(term_.size()); }
  long long bytes() const;

 private:
  void list_slots(const ElementPattern& pattern, const SlicedPattern& matrix,
                  const std::vector<Offset>& slots, const Device& device);
  void list_rows(const ElementPattern& pattern, const SlicedPattern& matrix, const Device& device);
  void list_elements(const ElementPattern& pattern, const Device& device);
  void list_tiles(const AssemblyTileLists& lists, const Device& device);
  AssemblyTiles tiles() const;

  Offset elements_;
  int max_;
  CornerCode code_;
  Array<unsigned> first_term_, term_;
  Array<Index> row_;
  Array<unsigned> first_corner_, corner_;
  Array<Offset> first_node_, first_entry_;
  Array<unsigned> row_place_;
  unsigned terms_of_tile_ = 0;
  Array<unsigned> first_piece_of_tile_, first_entry_of_tile_, piece_, slot_;
  Array<std::uint16_t> place_, end_;
};

/// Throws `Error` (size_mismatch) unless the assembly was given `numbers` times `components`
/// scalars.
HEDDLE_EXPORT void check_element_values(Offset numbers, int components, std::size_t scalars);
/// Throws `Error` unless the field has the rows, components and row basis of a matrix, and on a GPU
/// lies in its memory.
HEDDLE_EXPORT void check_assembled_field(const SlicedPattern& matrix, const void* data, Index size,
                                         int of_field, int of_matrix,
                                         const std::shared_ptr<const Basis>& basis,
                                         const Stream& stream);

/// On a GPU: sums the terms of each slot, or the corners of each row, component by component, with
/// the same bits as the passes of `Assembly` on the CPU. Queues one kernel; values in host memory
/// are copied first, and the copy is waited for. S is float or double.
template <class S>
void sum_entries_on_gpu(const AssemblyLists& lists, const ElementNumbering& numbering,
                        std::span<const S> from, const SlotRule& to_slot, S* to,
                        const Stream& stream);
template <class S>
void sum_vectors_on_gpu(const AssemblyLists& lists, const ElementNumbering& numbering,
                        std::span<const S> from, const FieldView<S>& to, const Stream& stream);

}  // namespace detail

}  // namespace heddle
