// The index arithmetic of sliced storage, compared with its definition.
#include "heddle/detail/slice_arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "heddle/detail/place_values.hpp"
#include "most_of_one_thread.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

TEST(SliceArithmetic, ThreadsDoubleUntilNoneHoldsMoreThanTheThreshold) {
  for (Index C = 1; C <= 64; ++C) {
    for (Index threshold : {1, 2, 3, 8, 100}) {
      for (Index longest : {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 250, 999}) {
        int T = 1;
        // A row stays within C lanes and within one warp.
        while (most_of_one_thread(longest, T) > threshold && C % (2 * T) == 0 && T < 32) T *= 2;
        EXPECT_EQ(threads_of_block(longest, C, threshold), T)
            << longest << " entries, C " << C << ", threshold " << threshold;
      }
    }
  }
  EXPECT_EQ(threads_of_block(2147483647, 64, 2147483646), 2);
}

TEST(SliceArithmetic, StepsAndSlicesRoundUp) {
  for (int T : {1, 2, 3, 8, 64}) {
    for (Index length = 0; length < 200; ++length) {
      EXPECT_EQ(steps_of_row(length, T), most_of_one_thread(length, T));
    }
  }
  EXPECT_EQ(steps_of_row(2147483647, 2), 1073741824);
  for (Index rows = 0; rows < 200; ++rows) {
    Index slices = 0;
    for (Index held = 0; held < rows; held += 64 / 4) ++slices;
    EXPECT_EQ(slices_of_rows(rows, 64, 4), slices);
  }
  EXPECT_EQ(slices_of_rows(2147483647, 2, 1), 1073741824);
}

TEST(SliceArithmetic, EachEntryOfASliceHasASlotOfItsOwn) {
  for (const auto& [C, T] : {std::pair(1, 1), {32, 1}, {32, 8}, {33, 3}, {6, 6}, {64, 4}}) {
    constexpr Index length = 21;
    constexpr Offset offset = (Offset(1) << 33) + 7;
    std::set<Offset> taken;
    for (Index r = 0; r < C / T; ++r) {
      for (Index j = 0; j < length; ++j) {
        const Offset slot = slot_of(offset, C, T, r, j);
        EXPECT_GE(slot, offset);
        EXPECT_LT(slot, offset + Offset(steps_of_row(length, T)) * C);
        EXPECT_EQ((slot - offset) % C / T, r);
        EXPECT_EQ((slot - offset) % C % T, j % T);
        EXPECT_EQ((slot - offset) / C, j / T);
        taken.insert(slot);
      }
    }
    EXPECT_EQ(taken.size(), static_cast<std::size_t>(C / T) * length) << C << ", " << T;
  }
}

TEST(SliceArithmetic, FindsTheLastThatIsNotAbove) {
  Seed seed(1001);
  for (int count = 1; count < 40; ++count) {
    std::vector<Index> values{0};
    for (int i = 1; i < count; ++i) {
      values.push_back(values.back() + random_between(1, 4, seed.generator));
    }
    for (Index value = 0; value < values.back() + 3; ++value) {
      const auto after = std::upper_bound(values.begin(), values.end(), value);
      EXPECT_EQ(last_not_above(values.data(), count, value), after - values.begin() - 1);
    }
  }
}

TEST(SliceArithmetic, FindsTheSliceOfARow) {
  const std::vector<Offset> offset{0, 32, 64, 96, 104};
  const std::vector<Index> first_row{0, 8, 10, 12, 13};
  const std::vector<unsigned char> threads{1, 4, 4, 8};
  const SlicesView varying{8, 1, 4, offset.data(), first_row.data(), threads.data()};
  EXPECT_EQ(varying.place_of(7).offset, 0);
  EXPECT_EQ(varying.place_of(7).r, 7);
  EXPECT_EQ(varying.place_of(11).offset, 64);
  EXPECT_EQ(varying.place_of(11).r, 1);
  EXPECT_EQ(varying.place_of(11).T, 4);
  EXPECT_EQ(varying.place_of(12).T, 8);
  const SlicesView even{8, 2, 4, offset.data(), nullptr, nullptr};
  EXPECT_EQ(even.place_of(11).offset, 64);
  EXPECT_EQ(even.place_of(11).r, 3);
  EXPECT_EQ(even.place_of(11).T, 2);
}

TEST(SliceArithmetic, TransposingABlockTwiceChangesNothing) {
  for (int rows = 1; rows < 5; ++rows) {
    for (int columns = 1; columns < 5; ++columns) {
      for (int size : {1, 2}) {
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns; ++column) {
            for (int i = 0; i < size; ++i) {
              const int k = (row * columns + column) * size + i;
              const int by_columns = transposed_component(k, rows, columns, size);
              EXPECT_EQ(by_columns, (column * rows + row) * size + i);
              EXPECT_EQ(transposed_component(by_columns, columns, rows, size), k);
            }
          }
        }
      }
    }
  }
}

}  // namespace
