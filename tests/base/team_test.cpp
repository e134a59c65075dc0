// Loops distributed over threads: every item once, whatever happens to the threads.
#include "heddle/tools/team.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heddle/error.hpp"
#include "support/child.hpp"
#include "support/scoped_environment.hpp"

namespace heddle::test {
namespace {

/// The number of visits to each of `count` items.
std::vector<int> visits(int threads, Offset count, Offset chunk) {
  std::vector<std::atomic<int>> visited(static_cast<std::size_t>(count));
  parallel_for(threads, count, chunk,
               [&](Offset i) { visited[static_cast<std::size_t>(i)].fetch_add(1); });
  return {visited.begin(), visited.end()};
}

TEST(Team, VisitsEachItemOnce) {
  for (const int threads : {1, 2, 3, 8, 37}) {
    for (const Offset count : {0, 1, 2, 7, 36, 1000, 4097}) {
      for (const Offset chunk : {0, 1, 3, 16, 5000}) {
        EXPECT_EQ(visits(threads, count, chunk),
                  std::vector<int>(static_cast<std::size_t>(count), 1))
            << threads << " threads, " << count << " items, chunks of " << chunk;
      }
    }
  }
}

TEST(Team, TakesFromThreadsThatAreHeldUp) {
  // The thread with item 0 waits for the last one, so others must take all of its remaining items.
  constexpr Offset count = 16;  // so few that each is claimed separately
  std::atomic<int> others{0};
  parallel_for(2, count, 0, [&](Offset i) {
    if (i != 0) {
      others.fetch_add(1);
      return;
    }
    while (others.load() < count - 1) std::this_thread::yield();
  });
  EXPECT_EQ(others.load(), count - 1);
}

TEST(Team, GoesThroughManyLoopsOfChangingSize) {
  std::atomic<long long> sum{0};
  for (int round = 0; round < 2000; ++round) {
    parallel_for(1 + round % 5, 1 + round % 13, [&](Offset i) { sum.fetch_add(i + 1); });
  }
  long long expected = 0;
  for (int round = 0; round < 2000; ++round) {
    const long long n = 1 + round % 13;
    expected += n * (n + 1) / 2;
  }
  EXPECT_EQ(sum.load(), expected);
}

TEST(Team, HandsOnTheFirstExceptionAndGoesOn) {
  for (const Offset at : {0, 3, 499}) {
    std::atomic<int> done{0};
    const auto body = [&](Offset i) {
      if (i == at) throw std::runtime_error("item " + std::to_string(i));
      done.fetch_add(1);
    };
    try {
      parallel_for(3, 500, body);
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "item " + std::to_string(at));
    }
    EXPECT_LE(done.load(), 499);
    EXPECT_EQ(visits(3, 500, 0), std::vector<int>(500, 1));
  }
  EXPECT_THROW(parallel_for(4, 100, 1, [](Offset) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(Team, RunsALoopWithinALoopByOneThread) {
  std::vector<std::atomic<int>> visited(30);
  parallel_for(3, 5, [&](Offset i) {
    const std::thread::id own = std::this_thread::get_id();
    parallel_for(3, 6, [&](Offset j) {
      EXPECT_EQ(std::this_thread::get_id(), own);
      visited[static_cast<std::size_t>(6 * i + j)].fetch_add(1);
    });
  });
  for (const auto& count : visited) EXPECT_EQ(count.load(), 1);
}

TEST(Team, IsLedBySeveralThreadsAtOnce) {
  std::atomic<long long> sum{0};
  std::vector<std::thread> leaders;
  for (int t = 0; t < 4; ++t) {
    leaders.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        parallel_for(3, 50, [&](Offset) { sum.fetch_add(1); });
      }
    });
  }
  for (std::thread& leader : leaders) leader.join();
  EXPECT_EQ(sum.load(), 4 * 200 * 50);
}

TEST(Team, JoinsWhatThreadsCameTo) {
  for (const int threads : {1, 2, 5}) {
    const long long sum = parallel_reduce(
        threads, 10000, 0LL, [](Offset i, long long& own) { own += i; },
        [](long long& result, long long own) { result += own; });
    EXPECT_EQ(sum, 9999LL * 5000);
  }
}

TEST(Team, MakesAThingForEachThread) {
  std::atomic<int> made{0}, visited{0};
  parallel_shares(3, 100, 4, [&](auto&& for_each) {
    made.fetch_add(1);
    for_each([&](Offset) { visited.fetch_add(1); });
  });
  EXPECT_LE(made.load(), 3);
  EXPECT_GE(made.load(), 1);
  EXPECT_EQ(visited.load(), 100);
}

TEST(Team, DoesWithTheThreadsThatItGets) {
  if (addresses_are_reserved) GTEST_SKIP() << "sanitizers reserve more addresses";
  EXPECT_EQ(status_of_child([] {
              // Room for the stacks of some threads, but not of all.
              if (!limit(RLIMIT_AS, rlim_t(1) << 28)) return 1;
              return visits(1000, 4000, 0) == std::vector<int>(4000, 1) ? 0 : 2;
            }),
            0);
}

TEST(Team, IsNotTheChildsOfAFork) {
  EXPECT_EQ(visits(3, 100, 0), std::vector<int>(100, 1));
  EXPECT_EQ(status_of_child([] { return visits(3, 100, 0) == std::vector<int>(100, 1) ? 0 : 1; }),
            0);
}

TEST(Team, TakesNonsenseInTheEnvironmentForNothing) {
  const ScopedEnvironment none("HEDDLE_NUM_THREADS", nullptr);
  const auto threads_for = [](const char* value) {
    const ScopedEnvironment set("OMP_NUM_THREADS", value);
    return default_threads();
  };
  for (const char* nonsense : {"", "0", "-3", "many", "3x", "1e3", "99999999999999999999"}) {
    EXPECT_GE(threads_for(nonsense), 1) << nonsense;
    EXPECT_LE(threads_for(nonsense), max_threads) << nonsense;
  }
  EXPECT_EQ(threads_for("70000"), max_threads);
  EXPECT_EQ(threads_for("3,2"), 3);
  const ScopedEnvironment own("HEDDLE_NUM_THREADS", "5");
  EXPECT_EQ(threads_for("3"), 5);
  set_default_threads(7);
  EXPECT_EQ(default_threads(), 7);
  EXPECT_THROW(set_default_threads(-1), Error);
  EXPECT_THROW(set_default_threads(max_threads + 1), Error);
  set_default_threads(0);
  EXPECT_EQ(default_threads(), 5);
}

}  // namespace
}  // namespace heddle::test
