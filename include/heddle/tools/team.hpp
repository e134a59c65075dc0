// Work shared over threads of the CPU: each thread has a share of a loop's items, and a thread that
// is done takes from the others' shares. Late threads, on a shared machine, cause no delay: the
// leader does not wait for a thread that has not begun.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <mutex>

#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle {

/// The most threads for one loop.
inline constexpr int max_threads = 1024;

/// The number of threads for `items` of cheap work, scalars or rows. Calling a thread takes as long
/// as some 512 items do: t threads take items / t + 512 t, which is least where t^2 = items / 512.
inline int team_size(const Stream& stream, long long items) {
  constexpr double call = 512;
  const double best = std::sqrt(static_cast<double>(items) / call);
  return static_cast<int>(std::clamp<double>(best, 1, std::max(stream.threads, 1)));
}

/// The default number of threads of a loop: as set here, or else the first of the environment's
/// HEDDLE_NUM_THREADS and OMP_NUM_THREADS that is a whole number above 0, or else the cores that
/// the calling thread may use, by affinity, or the places of an OpenMP runtime that has bound it to
/// one of them, and by cgroup. At most `max_threads`.
int default_threads();
/// 0 restores the environment's number. Throws `Error` (usage) below 0 and above `max_threads`.
void set_default_threads(int threads);

namespace detail {

/// Items [begin, end) that a thread has claimed.
struct Claim {
  Offset begin = 0;
  Offset end = 0;
};

class Loop;

/// One thread's access to the remaining items of a loop.
class Claims {
 public:
  Claims(Loop& loop, int thread) : loop_(loop), thread_(thread) {}
  /// False once nothing is left, or once another thread's work has thrown.
  bool next(Claim& claim);

 private:
  Loop& loop_;
  int thread_;
};

/// A reference to a function that is called during its lifetime.
struct WorkReference {
  void* object;
  void (*call)(void* object, Claims& claims);
};

/// Calls `work(claims)` on up to `threads` threads, including the calling one, until nothing of [0,
/// count) is left. `chunk` = 0: the shares are consecutive, and a thread claims a sixteenth of one
/// at once. Otherwise threads claim `chunk` items at a time, in order. Rethrows the first exception
/// of `work`. Within other work only this thread calls it.
void share_out(int threads, Offset count, Offset chunk, WorkReference work);

}  // namespace detail

/// Calls `work(for_each)` on every participating thread, where `for_each(body)` calls `body(i)` for
/// the thread's claims: for objects that each thread makes for itself.
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

/// Calls `body(i)` for every i in [0, count), in no order. `chunk` is as in `share_out`.
template <std::integral Count, class Body>
void parallel_for(int threads, Count count, Offset chunk, const Body& body) {
  parallel_shares(threads, count, chunk, [&](auto&& for_each) { for_each(body); });
}
template <std::integral Count, class Body>
void parallel_for(int threads, Count count, const Body& body) {
  parallel_for(threads, count, 0, body);
}

/// Calls `body(i, result)` for every i; each thread begins from `identity`, and `join(result,
/// other)` combines results in no order: for sums of whole numbers, least, greatest, all.
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

/// Lowers `least` to `value` if that is less.
template <class T>
void lower(std::atomic<T>& least, T value) {
  T known = least.load();
  while (value < known && !least.compare_exchange_weak(known, value)) {
  }
}

/// The least of `identity` and of the values to which `body(i, least)` lowers it.
template <std::integral Count, class T, class Body>
T parallel_min(int threads, Count count, const T& identity, const Body& body) {
  return parallel_reduce(threads, count, identity, body,
                         [](T& least, const T& other) { least = std::min(least, other); });
}

/// True if `test(i)` holds for every i.
template <std::integral Count, class Test>
bool parallel_all(int threads, Count count, const Test& test) {
  return parallel_reduce(
      threads, count, true, [&](Count i, bool& all) { all = all && test(i); },
      [](bool& all, bool other) { all = all && other; });
}

}  // namespace heddle
