// Sets of blocks and of places as bits, and the number of a member among all: these replace a sort
// where a GPU makes trees. Index arithmetic only, shared by CPU and GPU.
#pragma once

#include "base/bit_count.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

/// The blocks of the block rows [first, end) that hold entries: a bit each, row by row.
struct BlockBits {
  static constexpr int bits_of_word = 64;

  unsigned long long* bits;
  const Offset* before;  // how many are set in earlier words
  Index first, end;
  Offset words_of_row;

  HEDDLE_INLINE static constexpr Offset words_of(Index columns) {
    return (Offset(columns) + bits_of_word - 1) / bits_of_word;
  }
  HEDDLE_INLINE bool covers(Index row) const { return row >= first && row < end; }
  HEDDLE_INLINE Offset words() const { return Offset(end - first) * words_of_row; }
  HEDDLE_INLINE Offset word_of(Index row, Index column) const {
    return Offset(row - first) * words_of_row + column / bits_of_word;
  }
  HEDDLE_INLINE static unsigned long long bit_of(Index column) {
    return 1ULL << (column % bits_of_word);
  }
  /// Blocks of the set before this one, by rows and then by columns.
  HEDDLE_INLINE Offset number_of(Index row, Index column) const {
    const Offset word = word_of(row, column);
    return before[word] + bit_count(bits[word] & (bit_of(column) - 1));
  }
  /// Calls `body(number, row, column)` for the blocks of a word.
  template <class Body>
  HEDDLE_INLINE void for_each_of(Offset word, const Body& body) const {
    const auto row = static_cast<Index>(first + word / words_of_row);
    const auto column = static_cast<Index>(word % words_of_row * bits_of_word);
    Offset number = before[word];
    for (unsigned long long left = bits[word]; left != 0; left &= left - 1) {
      body(number++, row, column + bit_count((left & -left) - 1));
    }
  }
};

/// The places of a node's entries: a bit each, in words of 32.
struct PlaceBits {
  static constexpr int bits_of_word = 32;
  static constexpr int max_words = 256 * 256 / bits_of_word;

  const unsigned* bits;
  const unsigned* before;  // how many are set in earlier words

  HEDDLE_INLINE static constexpr int words_of(Offset positions) {
    return positions < bits_of_word ? 1 : static_cast<int>(positions / bits_of_word);
  }
  HEDDLE_INLINE static unsigned bit_of(int position) { return 1U << (position % bits_of_word); }
  HEDDLE_INLINE bool has(int position) const {
    return (bits[position / bits_of_word] & bit_of(position)) != 0;
  }
  /// Entries before this one, by rows.
  HEDDLE_INLINE int number_of(int position) const {
    const int word = position / bits_of_word;
    return static_cast<int>(before[word]) + bit_count(bits[word] & (bit_of(position) - 1));
  }
};

}  // namespace heddle::cuda
