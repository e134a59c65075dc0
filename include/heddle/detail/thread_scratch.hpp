// Memory that the threads of a loop work in, kept from one loop to the next.
#pragma once

#include <atomic>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

template <class T>
class ThreadScratch {
 public:
  /// For so many threads; grows only.
  void reserve(int threads, std::size_t size) {
    if (of_thread_.size() < static_cast<std::size_t>(threads)) {
      of_thread_.resize(static_cast<std::size_t>(threads));
    }
    for (std::vector<T>& scratch : of_thread_) {
      // Padded, so that no two threads write to one cache line.
      const std::size_t padded = size + 128 / sizeof(T);
      if (scratch.size() < padded) scratch.resize(padded);
    }
  }
  T* of_thread(int thread) { return of_thread_[static_cast<std::size_t>(thread)].data(); }

 private:
  std::vector<std::vector<T>> of_thread_;
};

/// As `parallel_shares`, where `work(thread, for_each)` gets a number below `threads` that no other
/// participating thread has.
template <std::integral Count, class Work>
void numbered_shares(int threads, Count count, Offset chunk, const Work& work) {
  std::atomic<int> begun = 0;
  parallel_shares(threads, count, chunk, [&](auto&& for_each) { work(begun++, for_each); });
}

}  // namespace heddle::detail
