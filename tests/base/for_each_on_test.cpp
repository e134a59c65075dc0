// Passes on the threads of a CPU visit every number once; and refused inputs.
#include "heddle/for_each_on.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace heddle::test {
namespace {

struct Visit {
  Offset count;
  std::atomic<int>* visits;

  HEDDLE_INLINE void operator()(Offset i) const { visits[i].fetch_add(1); }
};

struct ThrowAt {
  Index count;
  Offset at;

  void operator()(Offset i) const {
    if (i == at) throw std::runtime_error("number " + std::to_string(i));
  }
};

struct WithoutCount {
  void operator()(Offset) const {}
};
struct WithoutCall {
  Offset count;
};
struct OfHalves : WithoutCount {
  double count;
};
struct WithMemory : WithoutCount {
  Offset count;
  std::vector<int> memory;
};
static_assert(Pass<Visit> && Pass<ThrowAt>);
static_assert(!Pass<WithoutCount> && !Pass<WithoutCall> && !Pass<OfHalves> && !Pass<WithMemory>);

TEST(ForEachOn, CallsWithEachNumberOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const Device device = Device::cpu(threads);
    // The last counts are worth more than one thread.
    for (const Offset count : {0, 1, 7, 128, 129, 4097, 50001}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      for_each_on(device, Visit{count, visits.data()});
      for_each_on(device.stream(), Visit{count, visits.data()});
      for (const std::atomic<int>& times : visits) ASSERT_EQ(times.load(), 2);
    }
  }
}

TEST(ForEachOn, PassesOnWhatACallThrows) {
  for (const int threads : {1, 4}) {
    for (const Offset at : {0, 17, 49999}) {
      EXPECT_THROW(for_each_on(Device::cpu(threads), ThrowAt{50000, at}), std::runtime_error);
    }
    EXPECT_NO_THROW(for_each_on(Device::cpu(threads), ThrowAt{50000, 50000}));
  }
}

TEST(ForEachOn, RefusesACountBelowZero) {
  expect_error(ErrorKind::usage, "a pass cannot run over -3 numbers",
               [] { for_each_on(Device::cpu(1), ThrowAt{-3, 0}); });
}

TEST(ForEachOn, RefusesAGpuWithoutAKernel) {
  expect_error(ErrorKind::unsupported,
               "this pass has no kernel: nvcc does not compile the file that calls `for_each_on`, "
               "and no HEDDLE_KERNEL names a header of the pass",
               [] { for_each_on(Stream{.gpu = 0}, ThrowAt{3, 0}); });
}

}  // namespace
}  // namespace heddle::test
