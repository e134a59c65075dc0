// The heap runs out anywhere in reading, assembling, storing and writing, also on a loop's other
// threads: an exception is thrown, and nothing is leaked.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/expansion.hpp"
#include "heddle/matrix_market.hpp"
#include "heddle/operator.hpp"
#include "heddle/read.hpp"
#include "heddle/triplets.hpp"
#include "support/counted_heap.hpp"
#include "support/random_matrix.hpp"
#include "temporary_folder.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

class HeapThatEnds : public testing::Test {
 protected:
  using E = quaternion<double>;

  void SetUp() override {
    if (!heap_is_counted) GTEST_SKIP() << "the thread sanitizer has the heap";
  }

  /// Runs `task` with all allocations refused from each of its allocations on (some of them if
  /// there are many), and with only that one refused, without which it may succeed.
  template <class Task>
  static void expect_exceptions(const Task& task) {
    task();  // the threads, and objects made once per process
    const long long before = heap_allocations;
    task();
    const long long needed = heap_allocations - before;
    ASSERT_GT(needed, 0);
    for (const bool only_one : {false, true}) {
      for (long long allowed = 0; allowed < needed; allowed += 1 + allowed / 16) {
        SCOPED_TRACE(std::to_string(allowed) + " allocations");
        const long long now = heap_allocations;
        if (only_one) heap_refuses_to = now + allowed + 1;
        heap_refuses_from = now + allowed;
        const char* seen = "nothing";
        try {
          task();
        } catch (const std::bad_alloc&) {
          seen = "memory";
        } catch (const Error& error) {
          seen = error.kind() == ErrorKind::memory ? "memory" : "another error";
        } catch (...) {
          seen = "another exception";
        }
        heap_refuses_from = heap_refuses_to = std::numeric_limits<long long>::max();
        // The number of allocations by threads differs a little from run to run.
        const bool may_pass = only_one || allowed > needed / 2;
        EXPECT_TRUE(seen == std::string("memory") || (may_pass && seen == std::string("nothing")))
            << seen;
      }
    }
    task();
  }

  const Device device_ = Device::cpu(2);
  const CsrMatrix<E> matrix_ = [] {
    Seed seed(3301);
    return random_matrix<E>({.rows = 700, .columns = 700, .per_row = 5}, seed.generator);
  }();
  const CsrMatrix<real<double>> numbers_ = expand(matrix_);
  TemporaryFolder folder_;
};

TEST_F(HeapThatEnds, InReading) {
  for (const std::string name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
    SCOPED_TRACE(name);
    write_scalar_matrix(folder_ / name, numbers_.view());
    expect_exceptions([&] { read_matrix<E>(folder_ / name, device_); });
  }
}

TEST_F(HeapThatEnds, InWriting) {
  for (const std::string name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
    SCOPED_TRACE(name);
    expect_exceptions([&] { write_scalar_matrix(folder_ / name, numbers_.view()); });
  }
  EXPECT_EQ(folder_.files(), 3U);
}

TEST_F(HeapThatEnds, InAssembling) {
  Seed seed(3302);
  std::vector<Triplet<E>> triplets(5000);
  for (Triplet<E>& t : triplets) {
    t = {random_between(0, 699, seed.generator), random_between(0, 699, seed.generator),
         random_components<E>(seed.generator)};
  }
  expect_exceptions([&] { assemble<E>(700, 700, std::span<const Triplet<E>>(triplets), device_); });
  expect_exceptions([&] { fold<E>(expand(matrix_), Tiling::automatic, device_); });
}

TEST_F(HeapThatEnds, InStoring) {
  for (const char* text : {"CSR", "pJDS,T=2", "K2rs,stored=float", "K1,inner=soa", "order=rcm"}) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    expect_exceptions([&] { const Operator<E> A(matrix_, plan, device_); });
  }
}

}  // namespace
