// Compiles kernels that will be needed in threads of its own while others are measured.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "heddle/plan.hpp"
#include "spmv/kernel_compiler.hpp"

namespace heddle {

/// Only saves time: a failure here occurs again, and is reported, where the kernel is needed.
class AheadCompiler {
 public:
  using KernelsOf = std::function<std::vector<cuda::KernelSource>(const Plan&)>;
  using Compile = std::function<void(const cuda::KernelSource&)>;

  /// Both are called from the threads: one less than there are cores, but at least one.
  AheadCompiler(KernelsOf kernels_of, Compile compile, unsigned threads = 0);
  /// Drops waiting kernels, and waits for those that are being compiled: a second or so.
  ~AheadCompiler();

  /// Plans, the soonest first, in place of all that still wait. A plan's texts are made when its
  /// turn comes, so that only the texts of a few plans exist at a time.
  void announce(const std::vector<Plan>& plans);
  /// Plans that may come after those, in place of others of that kind. At most half of the threads,
  /// and at least one, work on them: a kernel once begun is not abandoned, and the plans needed
  /// soon must not wait.
  void announce_later(const std::vector<Plan>& plans);

  /// Returns once nothing is waiting or running.
  void wait();

 private:
  struct Waiting {
    std::deque<Plan> plans;
    std::deque<cuda::KernelSource> sources;  // sources of plans whose turn has come
    int announcement = 0;
    bool empty() const { return plans.empty() && sources.empty(); }
    void replace(const std::vector<Plan>& by);
  };

  void start_threads();
  void work();
  bool may_begin_later() const { return later_busy_ < std::max(1u, max_threads_ / 2); }
  bool has_work() const { return !soon_.empty() || (!later_.empty() && may_begin_later()); }
  /// The next kernel that no thread has begun; none where there is nothing to do. The lock is held
  /// on entry and on return.
  bool take(Waiting& waiting, cuda::KernelSource& source, std::unique_lock<std::mutex>& lock);

  KernelsOf kernels_of_;
  Compile compile_;
  unsigned max_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Waiting soon_, later_;
  std::set<std::string> begun_;  // hashes
  unsigned busy_ = 0;
  unsigned later_busy_ = 0;  // number of them at work on later plans
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heddle
