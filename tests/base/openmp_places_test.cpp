// Teams of threads that an OpenMP runtime has bound to one of its places.
#include "base/openmp_places.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "base/cores.hpp"
#include "heddle/tools/team.hpp"
#include "support/child.hpp"

namespace heddle::test::openmp_places {
namespace {

constexpr int fine = 0, wrong = 1, cannot_tell = 77;

/// Runs `body` in a thread of a new process, which no runtime has touched yet.
template <class Body>
int status_of_thread(const char* bind, const Body& body) {
  return status_of_child([&] {
    for (const char* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_NUM_THREADS",
                             "HEDDLE_NUM_THREADS"}) {
      unsetenv(name);
    }
    setenv("OMP_PROC_BIND", bind, 1);
    int status = wrong;
    std::thread([&] { status = body(); }).join();
    std::fflush(stdout);
    return status;
  });
}

/// Loads libgomp like Python extensions do. It binds the calling thread, unless it was loaded
/// before.
bool is_bound_by_libgomp() {
  const Processors before = processors_of_thread();
  return before.size() > 1 && dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr &&
         processors_of_thread().size() < before.size();
}

/// The processors of each thread in a team of `threads`, all of which take part.
std::vector<Processors> processors_of_members(int threads) {
  std::vector<Processors> all(static_cast<std::size_t>(threads));
  std::atomic<int> begun{0};
  parallel_for(threads, threads, 1, [&](int i) {
    all[static_cast<std::size_t>(i)] = processors_of_thread();
    begun.fetch_add(1);
    while (begun.load() < threads) std::this_thread::yield();
  });
  return all;
}

double seconds_of_work(int threads) {
  std::vector<double> sums(static_cast<std::size_t>(threads) * 64);
  double least = INFINITY;
  for (int run = 0; run < 5; ++run) {
    const auto start = std::chrono::steady_clock::now();
    parallel_for(threads, sums.size(), 1, [&](std::size_t i) {
      double sum = 0;
      for (int k = 1; k < 20000; ++k) sum += std::sqrt(static_cast<double>(k) + double(i));
      sums[i] = sum;
    });
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

TEST(OpenMpPlaces, OneOfSeveralStandsForAll) {
  const std::vector<Processors> places{{0, 8}, {1, 9}, {2, 10}};
  const Processors all{0, 1, 2, 8, 9, 10};
  EXPECT_EQ(detail::without_place(places, {1, 9}), all);
  for (const Processors& own : {Processors{1}, Processors{0, 1}, all, Processors{3, 11}}) {
    EXPECT_EQ(detail::without_place(places, own), own);
  }
  EXPECT_EQ(detail::without_place({}, {4}), Processors{4});
  EXPECT_EQ(detail::without_place({{4}}, {4}), Processors{4});
}

/// The team of a bound thread gets all places, and the thread itself keeps its own.
TEST(OpenMpPlaces, ATeamLeavesThePlaceOfItsLeader) {
  for (const char* const bind : {"close", "spread", "true"}) {
    const int status = status_of_thread(bind, [&] {
      const Processors before = processors_of_thread();
      if (!is_bound_by_libgomp()) return cannot_tell;
      const Processors own = processors_of_thread();
      if (processors_of_team() != before || processors_to_take() != before) return wrong;
      const auto quota = static_cast<int>(std::min(1e6, std::ceil(cores_of_control_groups())));
      const int cores = std::min(static_cast<int>(before.size()), quota);
      if (usable_cores() != cores || default_threads() != cores) return wrong;
      if (processors_of(Device::cpu()) != cores) return wrong;
      const auto members = processors_of_members(std::max(2, std::min(cores, 4)));
      const auto bound = std::count(members.begin(), members.end(), own);
      const auto free = std::count(members.begin(), members.end(), before);
      if (bound != 1 || free + 1 != std::ssize(members)) return wrong;
      return processors_of_thread() == own ? fine : wrong;
    });
    if (status == cannot_tell) GTEST_SKIP() << "one processor, or no libgomp to load";
    EXPECT_EQ(status, fine) << bind;
  }
}

/// Affinities that no runtime set, or that request the first thread's place, are left unchanged.
TEST(OpenMpPlaces, OtherAffinitiesCount) {
  const int primary = status_of_thread("primary", [] {
    if (!is_bound_by_libgomp()) return cannot_tell;
    return processors_of_team() == processors_of_thread() && usable_cores() == 1 ? fine : wrong;
  });
  const int own = status_of_thread("false", [] {
    const Processors all = processors_of_thread();
    if (all.size() < 2) return cannot_tell;
    take_processors({all.back()});
    if (processors_of_thread() != Processors{all.back()} || usable_cores() != 1) return wrong;
    return processors_of_members(2) == std::vector<Processors>(2, {all.back()}) ? fine : wrong;
  });
  // A runtime's places lie within the processors of the process.
  const int within = status_of_thread("close", [] {
    const Processors all = processors_of_thread();
    if (all.size() < 2) return cannot_tell;
    take_processors({all.back()});
    if (dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) return cannot_tell;
    return processors_of_team() == Processors{all.back()} ? fine : wrong;
  });
  for (const int status : {primary, own, within}) {
    EXPECT_TRUE(status == fine || status == cannot_tell) << status;
  }
}

/// Prints how long the same work takes; a reader judges if the two times are alike.
TEST(OpenMpPlaces, WorkTakesAsLongWhereTheLeaderIsBound) {
  const int status = status_of_thread("close", [] {
    const int threads = default_threads();
    double free = 0;
    std::thread([&] { free = seconds_of_work(threads); }).join();
    if (!is_bound_by_libgomp()) return cannot_tell;
    const double bound = seconds_of_work(threads);
    std::printf("%d threads on %d processors: %.2f ms, and %.2f ms where OMP_PROC_BIND=close\n",
                threads, usable_cores(), 1e3 * free, 1e3 * bound);
    return usable_cores() == threads ? fine : wrong;
  });
  if (status == cannot_tell) GTEST_SKIP() << "one processor, or no libgomp to load";
  EXPECT_EQ(status, fine);
}

}  // namespace
}  // namespace heddle::test::openmp_places
