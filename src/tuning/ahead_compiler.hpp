// Kernels that will be needed, compiled by threads of their own while others are measured.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../spmv/kernel_compiler.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// Only worth time: what fails here fails again, and is reported, where the kernel is needed.
class AheadCompiler {
 public:
  using KernelsOf = std::function<std::vector<cuda::KernelSource>(const Plan&)>;
  using Compile = std::function<void(const cuda::KernelSource&)>;

  /// Both are called from the threads, of which there are as many as cores but one, at least one.
  AheadCompiler(KernelsOf kernels_of, Compile compile, unsigned threads = 0);
  /// Forgets what waits, and waits for the kernels that are being compiled: a second or so.
  ~AheadCompiler();

  /// Plans, the soonest first, in place of those that still wait. Texts are made of a plan when its
  /// turn comes, so that there are never more of them than some plans have.
  void announce(std::vector<Plan> plans);

  /// Returns when nothing waits or runs.
  void wait();

 private:
  void work();
  /// The next kernel that nobody has begun; none where there is nothing to do. Called and left
  /// with the lock held.
  bool take(cuda::KernelSource& source, std::unique_lock<std::mutex>& lock);

  KernelsOf kernels_of_;
  Compile compile_;
  unsigned most_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Plan> plans_;
  std::deque<cuda::KernelSource> sources_;  // of plans whose turn has come
  std::set<std::string> begun_;             // hashes
  int busy_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heddle
