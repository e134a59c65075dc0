// Memory in which the threads of a loop work, kept from one loop to the next.
#pragma once

#include <atomic>
#include <vector>

#include "heddle/tools/memory_error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

template <class T>
class ThreadScratch {
 public:
  /// Makes room for `threads` threads; only grows. Throws `Error` (memory).
  void reserve(int threads, std::size_t size) {
    const auto team = static_cast<std::size_t>(threads);
    // Padded, so that no two threads write to one cache line.
    const std::size_t padded = size + 128 / sizeof(T);
    or_refuse_memory("numbers of a team", team * padded, sizeof(T), [&] {
      if (of_thread_.size() < team) of_thread_.resize(team);
      for (std::size_t k = 0; k < team; ++k) {
        if (of_thread_[k].size() < padded) of_thread_[k].resize(padded);
      }
    });
  }
  T* of_thread(int thread) { return of_thread_[static_cast<std::size_t>(thread)].data(); }
  long long bytes() const {
    std::size_t count = 0;
    for (const std::vector<T>& scratch : of_thread_) count += scratch.size();
    return static_cast<long long>(count * sizeof(T));
  }

 private:
  std::vector<std::vector<T>> of_thread_;
};

/// Like `parallel_shares`, but `work(thread, for_each)` gets a number below `threads` that no other
/// participating thread has.
template <std::integral Count, class Work>
void numbered_shares(int threads, Count count, Offset chunk, const Work& work) {
  std::atomic<int> begun = 0;
  parallel_shares(threads, count, chunk, [&](auto&& for_each) { work(begun++, for_each); });
}

}  // namespace heddle::detail
