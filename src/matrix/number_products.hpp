// Products of sparse matrices of single real numbers: pattern and values from one walk over the
// terms, which are added column by column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/unset_array.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/instruction_sets.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::detail {

/// Sorts columns as bits, unless the bits are many more than the columns.
class ColumnSorter {
 public:
  explicit ColumnSorter(Index columns) : bits_(static_cast<std::size_t>(columns) / 64 + 1) {}

  /// Sorts columns that all differ; `to` lies apart.
  void sort(std::span<const Index> met, Index* to) {
    constexpr std::size_t words_a_column = 4;
    const auto [least, greatest] = std::minmax_element(met.begin(), met.end());
    const std::size_t first = static_cast<std::size_t>(*least) / 64,
                      last = static_cast<std::size_t>(*greatest) / 64;
    if (last - first > words_a_column * met.size()) {
      std::copy(met.begin(), met.end(), to);
      std::sort(to, to + met.size());
      return;
    }
    for (const Index column : met) {
      bits_[static_cast<std::size_t>(column) / 64] |= std::uint64_t(1) << (column % 64);
    }
    for (std::size_t word = first; word <= last; ++word) {
      for (std::uint64_t bits = std::exchange(bits_[word], 0); bits != 0; bits &= bits - 1) {
        *to++ = static_cast<Index>(word * 64) + std::countr_zero(bits);
      }
    }
  }

 private:
  std::vector<std::uint64_t> bits_;  // all 0
};

/// Values one after the other, which are not initialised before they are written.
template <class T>
class GrowingValues {
 public:
  std::size_t size() const { return size_; }
  const T* data() const { return values_.data(); }
  /// Room for `more` further values.
  T* reserve(std::size_t more) {
    if (size_ + more > values_.size()) {
      UnsetArray<T> larger(std::max(2 * values_.size(), size_ + more));
      std::copy_n(values_.data(), size_, larger.data());
      values_ = std::move(larger);
    }
    return values_.data() + size_;
  }
  void add(std::size_t count) { size_ += count; }

 private:
  UnsetArray<T> values_;
  std::size_t size_ = 0;
};

/// Rows of a product, found one after the other.
class NumberRowsOfProduct {
 public:
  struct Factor {
    OffsetsView offsets;
    const Index* column;
    const double* values;
  };

  /// `entries`: number to make room for. `longest`: length of the right factor's longest row.
  NumberRowsOfProduct(Index columns, Offset longest, std::size_t entries, bool is_sorted)
      : sums_(static_cast<std::size_t>(columns)),
        sorter_(is_sorted ? columns : 0),
        longest_(longest),
        is_sorted_(is_sorted) {
    std::fill(sums_.begin(), sums_.end(), none);
    column_.reserve(entries);
    sum_.reserve(entries);
  }

  /// Returns the length of the row.
  Index add_row(const Factor& a, const Factor& b, Index row) {
    const Offset begin = a.offsets[row], end = a.offsets[Offset(row) + 1];
    const auto most = std::min(static_cast<std::size_t>((end - begin) * longest_), sums_.size());
    if (met_.size() < most + 1) met_ = UnsetArray<Index>(2 * most + 1);
    const auto count = static_cast<std::size_t>((has_avx2() ? add_terms_fused : add_terms)(
        a.column + begin, a.column + end, a.values + begin, b, sums_.data(), met_.data()));
    Index* const to = column_.reserve(count);
    double* const sums = sum_.reserve(count);
    if (is_sorted_) {
      sort({met_.data(), count}, to);
    } else {
      std::copy_n(met_.data(), count, to);
    }
    for (std::size_t k = 0; k < count; ++k) {
      sums[k] = std::exchange(sums_[static_cast<std::size_t>(to[k])], none);
    }
    column_.add(count);
    sum_.add(count);
    return static_cast<Index>(count);
  }
  std::size_t entries() const { return column_.size(); }
  const Index* column() const { return column_.data(); }
  const double* sums() const { return sum_.data(); }

 private:
  /// The sum of a column that was not met: no sum of terms is -0 once 0 is added to each term.
  static constexpr double none = -0.0;

  /// Lists the columns as they are met; returns their number. It has no branches, which would go
  /// both ways equally often.
  template <bool is_fused>
  HEDDLE_INLINE static Offset add_terms_by(const Index* middle, const Index* end,
                                           const double* left, const Factor& b, double* sums,
                                           Index* met) {
    constexpr auto bits_of_none = std::bit_cast<std::uint64_t>(none);
    const OffsetsView offsets = b.offsets;
    const Index* const columns = b.column;
    const double* const right = b.values;
    Offset count = 0;
    for (; middle != end; ++middle, ++left) {
      const double factor = *left;
      for (Offset j = offsets[*middle], last = offsets[Offset(*middle) + 1]; j < last; ++j) {
        const Offset column = columns[j];
        const double known = sums[column];
        met[count] = static_cast<Index>(column);
        count += std::bit_cast<std::uint64_t>(known) == bits_of_none ? 1 : 0;
        // The rounded product, in one operation or in two.
        const double term =
            is_fused ? __builtin_fma(factor, right[j], 0.0) : factor * right[j] + 0.0;
        sums[column] = known + term;
      }
    }
    return count;
  }
  // Separate functions, because GCC keeps their pointers on the stack inside another one.
  [[gnu::noinline, gnu::target("avx2,fma")]] static Offset add_terms_fused(
      const Index* middle, const Index* end, const double* left, const Factor& b, double* sums,
      Index* met) {
    return add_terms_by<true>(middle, end, left, b, sums, met);
  }
  [[gnu::noinline]] static Offset add_terms(const Index* middle, const Index* end,
                                            const double* left, const Factor& b, double* sums,
                                            Index* met) {
    return add_terms_by<false>(middle, end, left, b, sums, met);
  }

  void sort(std::span<const Index> met, Index* to) {
    constexpr std::size_t very_few = 8, few = 16;
    if (met.size() > few) return sorter_.sort(met, to);
    if (met.size() <= very_few) {  // mostly in order
      for (std::size_t k = 0; k < met.size(); ++k) {
        const Index own = met[k];
        std::size_t place = k;
        for (; place > 0 && to[place - 1] > own; --place) to[place] = to[place - 1];
        to[place] = own;
      }
      return;
    }
    // Counting the smaller ones takes no branches either.
    for (const Index own : met) {
      Index less = 0;
      for (const Index other : met) less += other < own ? 1 : 0;
      to[less] = own;
    }
  }

  UnsetArray<double> sums_;  // sum of each column; `none` between rows
  UnsetArray<Index> met_;
  ColumnSorter sorter_;
  Offset longest_;
  bool is_sorted_;
  GrowingValues<Index> column_;
  GrowingValues<double> sum_;
};

}  // namespace heddle::detail
