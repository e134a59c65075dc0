// A matrix that really has more than 2^31 stored entries. Runs if HEDDLE_TEST_LARGE is set: it
// takes 50 GiB of the GPU's memory and half a minute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "support/gpu.hpp"

namespace large_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = real<float>;

constexpr Index rows = 1 << 24;
constexpr Index per_row = 129;
constexpr Offset entries = Offset(rows) * per_row;
static_assert(entries > Offset(1) << 31);
constexpr Index band = rows / per_row;  // the range in which one entry of a row lies

std::uint64_t mixed(std::uint64_t seed) {
  seed = (seed ^ seed >> 31) * 0x9e3779b97f4a7c15ULL;
  seed = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9ULL;
  return seed ^ seed >> 32;
}
/// Columns increase along a row.
Index column_of(Offset entry) {
  const auto j = static_cast<Index>(entry % per_row);
  return j * band + static_cast<Index>(mixed(static_cast<std::uint64_t>(entry)) % band);
}
/// Multiples of 1/8 up to 1: all sums are exact in float, whatever their order.
float value_of(Offset entry) {
  return static_cast<float>(static_cast<int>(mixed(~static_cast<std::uint64_t>(entry)) % 17) - 8) /
         8;
}
float component_of(Index row) {
  return static_cast<float>(static_cast<int>(mixed(static_cast<std::uint64_t>(row) << 40) % 17) -
                            8) /
         8;
}

/// `count` values of a function of their index, computed in parts on the host.
template <class T, class Function>
Array<T> made(Offset count, const Device& device, const Function& function) {
  Array<T> there(static_cast<std::size_t>(count), device);
  const Offset at_a_time = std::min(count, Offset(1) << 26);
  std::vector<T> part(static_cast<std::size_t>(at_a_time));
  for (Offset first = 0; first < count; first += at_a_time) {
    const Offset size = std::min(at_a_time, count - first);
    parallel_for(default_threads(), size,
                 [&](Offset i) { part[static_cast<std::size_t>(i)] = function(first + i); });
    detail::copy_bytes(there.data() + first, part.data(),
                       static_cast<std::size_t>(size) * sizeof(T), device.stream());
  }
  return there;
}

class LargeOnGpu : public OnGpu {
 protected:
  void SetUp() override {
    if (std::getenv("HEDDLE_TEST_LARGE") == nullptr) {
      GTEST_SKIP() << "HEDDLE_TEST_LARGE is not set: takes 50 GiB of the GPU's memory";
    }
    OnGpu::SetUp();
    if (IsSkipped()) return;
    if (device.available_memory() < 50LL << 30) {
      GTEST_SKIP() << "needs 50 GiB of the GPU's memory";
    }
  }
};

TEST_F(LargeOnGpu, ProductOfMoreThan2To31Entries) {
  const auto offsets =
      made<std::int64_t>(Offset(rows) + 1, device, [](Offset row) { return row * per_row; });
  const auto column = made<Index>(entries, device, column_of);
  const auto values = made<float>(entries, device, value_of);
  const auto x_there =
      made<float>(rows, device, [](Offset row) { return component_of(static_cast<Index>(row)); });
  const FieldView<const float> x(x_there.data(), rows, 1);
  const CsrView<E> view{rows,          rows,          OffsetsView(offsets.data()),
                        column.data(), values.data(), ComponentOrder::row_major,
                        device};

  const auto expected = [&](Index row) {
    double sum = 0;
    for (Offset entry = Offset(row) * per_row; entry < Offset(row + 1) * per_row; ++entry) {
      sum += double(value_of(entry)) * double(component_of(column_of(entry)));
    }
    return sum;
  };
  // The first and last rows, and some in between.
  std::vector<Index> checked;
  for (Index i = 0; i < 1000; ++i) {
    checked.push_back(i);
    checked.push_back(rows - 1 - i);
    checked.push_back(static_cast<Index>(mixed(static_cast<std::uint64_t>(i) + 77) % rows));
  }
  // In the given order, where slots are entries; in slices, through a map; with several threads per
  // row.
  for (const char* text : {"CSR,T=1", "Sl-32", "C=32,T=4,load=streaming"}) {
    SCOPED_TRACE(text);
    const Operator<E> A(view, parse_plan(text));
    EXPECT_EQ(A.pattern().entries, entries);
    EXPECT_GE(A.pattern().slots, entries);
    Array<float> y_there(rows, device);
    const FieldView<float> y(y_there.data(), rows, 1);
    for (int repetition = 0; repetition < 2; ++repetition) {
      A.apply(1, x, 0, y, device.stream());
      const std::vector<float> result = y_there.to_host();
      for (const Index row : checked) {
        ASSERT_EQ(static_cast<double>(result[static_cast<std::size_t>(row)]), expected(row)) << row;
      }
      if (repetition == 0) {
        // Repeat after another update of the values through the map.
        Operator<E> same = A;
        same.update_values(values);
      }
    }
  }
}

}  // namespace
}  // namespace large_gpu
