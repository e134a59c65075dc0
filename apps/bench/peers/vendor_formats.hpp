// Matrices of compound entries in the formats of other libraries: compressed rows of dense blocks,
// compressed rows of numbers, and sliced ELLPACK.
#pragma once

#include <string>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/expansion.hpp"

namespace heddle::bench {

/// Entries as dense square blocks of real numbers (`parts` = 1) or complex ones (2).
struct BlockForm {
  int size = 1;
  int parts = 1;
  /// The component at (row * size + column) * parts + part, with its sign.
  std::vector<detail::Position> at;
  /// The format's vectors are the user's, with each scalar of an entry multiplied by its sign here.
  std::vector<int> signs;

  int numbers() const { return size * size * parts; }
  /// e.g. "2x2 complex".
  std::string name() const;
};

/// The real expansion.
template <class E>
BlockForm real_form() {
  const detail::Arrangement arranged = detail::arrangement<E>();
  return {arranged.rows, 1, arranged.at, std::vector<int>(arranged.rows, 1)};
}

/// Complex form for entries with a complex representation: half as high and as wide.
template <class E>
  requires has_complex_representation<E>
BlockForm complex_form() {
  const detail::Arrangement arranged = detail::arrangement<E>();
  BlockForm form{arranged.rows / 2, 2, {}, std::vector<int>(arranged.rows, 1)};
  for (int i = 0; i < form.size; ++i) {
    for (int j = 0; j < form.size; ++j) {
      for (int part = 0; part < 2; ++part) {
        form.at.push_back(arranged.at[(2 * i + part) * arranged.columns + 2 * j]);
      }
    }
  }
  return form;
}

/// A quaternion a + b j as [[a, -b], [conj b, conj a]], which acts on (xi, conj eta) of xi + eta j:
/// 8 numbers where the real expansion has 16.
BlockForm complex_form_of_quaternions();
/// p + eps q as [[P, 0], [Q, P]] of such 2x2 forms: 32 numbers instead of 64.
BlockForm complex_form_of_dual_quaternions();

/// A view of entries in place, with `components` scalars each.
template <class S>
struct EntriesView {
  PatternView pattern;
  const S* values = nullptr;
  int components = 1;
};

/// The offsets in 32 bits. Throws `Error` (unsupported) where 32 bits do not suffice.
std::vector<int> narrow_offsets(const PatternView& pattern);

/// The numbers of all blocks, each block row by row or column by column.
template <class S>
std::vector<S> block_values(const EntriesView<S>& matrix, const BlockForm& form, bool by_columns);

/// Compressed rows of numbers.
template <class S>
struct NumberRows {
  std::vector<int> offsets;
  std::vector<int> column;
  std::vector<S> values;  // `parts` scalars a number
  int parts = 1;

  int rows() const { return static_cast<int>(offsets.size()) - 1; }
};

/// Count of numbers in the result of `number_rows`.
long long count_numbers(const PatternView& pattern, const BlockForm& form);
/// The blocks written out, without the positions that no component takes. Throws `Error`
/// (unsupported) where offsets of 32 bits do not suffice.
template <class S>
NumberRows<S> number_rows(const EntriesView<S>& matrix, const BlockForm& form);

/// Slices of `slice` rows, each stored column by column and padded to its longest row.
template <class S>
struct SlicedEll {
  int slice = 0;
  std::vector<int> offsets;  // offsets of slices, in slots
  std::vector<int> column;   // -1 in padding
  std::vector<S> values;
};
/// Throws `Error` (unsupported) where offsets of 32 bits do not suffice.
template <class S>
SlicedEll<S> sliced_ell(const NumberRows<S>& matrix, int slice);

/// Converts the user's scalars to the signs of a form, and back.
template <class S>
std::vector<S> with_signs(const std::vector<double>& scalars, const BlockForm& form);
template <class S>
std::vector<double> without_signs(const std::vector<S>& scalars, const BlockForm& form);

}  // namespace heddle::bench
