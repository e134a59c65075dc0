// Work shared out over threads of the CPU: a loop's items are cut into shares, one a thread, and a
// thread that is done takes from the others'. Threads that are late, on a machine that is shared,
// delay nobody: whoever leads waits for none that has not begun.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <mutex>

#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle {

/// The most threads that one loop is shared out over.
inline constexpr int most_threads = 1024;

/// Threads to share out `items` of cheap work, a scalar's or a row's. To call a thread takes as
/// long as some 512 items do: t threads take items / t + 512 t, least where t^2 = items / 512.
inline int team_size(const Stream& stream, long long items) {
  constexpr double call = 512;
  const double best = std::sqrt(static_cast<double>(items) / call);
  return static_cast<int>(std::clamp<double>(best, 1, std::max(stream.threads, 1)));
}

/// The threads of a loop that is told no number: as set here, or else the environment's
/// HEDDLE_NUM_THREADS or OMP_NUM_THREADS, the first of them that is a whole number above 0, or else
/// the cores that this process may use, by affinity and cgroup. At most `most_threads`.
int default_threads();
/// 0 goes back to the environment's. Throws `Error` (usage) below 0 and above `most_threads`.
void set_default_threads(int threads);

namespace detail {

/// Items [begin, end) that a thread has claimed.
struct Claim {
  Offset begin = 0;
  Offset end = 0;
};

class Loop;

/// One thread's way to what is left of a loop.
class Claims {
 public:
  Claims(Loop& loop, int thread) : loop_(loop), thread_(thread) {}
  /// False once nothing is left, or once another thread's work has thrown.
  bool next(Claim& claim);

 private:
  Loop& loop_;
  int thread_;
};

/// A function that is called while it lives.
struct WorkReference {
  void* object;
  void (*call)(void* object, Claims& claims);
};

/// Calls `work(claims)` on up to `threads` threads, the calling one among them, until nothing of
/// [0, count) is left. `chunk` = 0: the shares follow one another, and a sixteenth of one is
/// claimed at once. Otherwise `chunk` items at a time, in order. Rethrows the first exception of
/// `work`. Within another's work it is called by this thread alone.
void share_out(int threads, Offset count, Offset chunk, WorkReference work);

}  // namespace detail

/// `work(for_each)` on every thread that takes part, where `for_each(body)` calls `body(i)` for
/// what the thread claims: for what each thread makes for itself.
///     parallel_shares(team, rows, 0, [&](auto&& for_each) {
///       std::vector<Index> scratch;
///       for_each([&](Index row) { ... });
///     });
template <std::integral Count, class Work>
void parallel_shares(int threads, Count count, Offset chunk, const Work& work) {
  const auto call = [](void* object, detail::Claims& claims) {
    const auto for_each = [&](auto&& body) {
      for (detail::Claim claim; claims.next(claim);) {
        const auto end = static_cast<Count>(claim.end);
        for (auto i = static_cast<Count>(claim.begin); i < end; ++i) body(i);
      }
    };
    (*static_cast<const Work*>(object))(for_each);
  };
  detail::share_out(threads, static_cast<Offset>(count), chunk, {const_cast<Work*>(&work), call});
}

/// `body(i)` for every i in [0, count), in no order. `chunk` as in `share_out`.
template <std::integral Count, class Body>
void parallel_for(int threads, Count count, Offset chunk, const Body& body) {
  parallel_shares(threads, count, chunk, [&](auto&& for_each) { for_each(body); });
}
template <std::integral Count, class Body>
void parallel_for(int threads, Count count, const Body& body) {
  parallel_for(threads, count, 0, body);
}

/// `body(i, result)` for every i, each thread beginning from `identity`; what they come to is
/// joined by `join(result, other)` in no order: for sums of whole numbers, least, greatest, all.
template <std::integral Count, class T, class Body, class Join>
T parallel_reduce(int threads, Count count, const T& identity, const Body& body, const Join& join) {
  T result = identity;
  std::mutex joining;
  parallel_shares(threads, count, 0, [&](auto&& for_each) {
    T own = identity;
    for_each([&](Count i) { body(i, own); });
    const std::lock_guard lock(joining);
    join(result, own);
  });
  return result;
}

/// `least` becomes `value` where that is less.
template <class T>
void lower(std::atomic<T>& least, T value) {
  T known = least.load();
  while (value < known && !least.compare_exchange_weak(known, value)) {
  }
}

/// The least of `identity` and of what `body(i, least)` lowers it to.
template <std::integral Count, class T, class Body>
T parallel_least(int threads, Count count, const T& identity, const Body& body) {
  return parallel_reduce(threads, count, identity, body,
                         [](T& least, const T& other) { least = std::min(least, other); });
}

/// Whether `test(i)` holds for every i.
template <std::integral Count, class Test>
bool parallel_all(int threads, Count count, const Test& test) {
  return parallel_reduce(
      threads, count, true, [&](Count i, bool& all) { all = all && test(i); },
      [](bool& all, bool other) { all = all && other; });
}

}  // namespace heddle
