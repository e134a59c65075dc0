// Operations on a tree by threads of the CPU: each has tasks of its own, and a thread without any
// takes some of another's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/kernels/trees/pair_task.hpp"
#include "heddle/kernels/trees/tree_operation.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// Addresses of a tree's pools in the host's memory.
inline std::vector<unsigned long long> addresses_of_pools(const Tree& tree) {
  std::vector<unsigned long long> addresses;
  addresses.reserve(tree.pools.size());
  for (const PoolShare& share : tree.pools) {
    addresses.push_back(share.pool ? reinterpret_cast<unsigned long long>(share.pool->data()) : 0);
  }
  return addresses;
}

/// The task of a tree's root, with no node if the tree has no entries.
inline NodeTask root_task(const Tree& tree, std::span<const unsigned long long> pools) {
  const int level = levels_of(tree.rows, tree.columns, tree.leaf.log2_size) - 1;
  if (tree.entries == 0) return PairTask::no_node(level, 0, 0);
  return NodeTask::make(pools[static_cast<std::size_t>(tree.root.pool())] +
                            static_cast<unsigned long long>(tree.root.byte()),
                        tree.root.kind(), level, 0, 0);
}

/// `Lanes` of kernels/trees/tree_operation.hpp: a thread of its own for a whole node.
struct OneLane {
  static constexpr int count = 1;
  static constexpr int of_warp = 1;

  static int lane() { return 0; }
  static int warp_lane() { return 0; }
  static int turns(int slots) { return slots; }
  template <class Task>
  static SlotRange part(const Task&, int slots) {
    return {0, slots};
  }
  template <class T, int n>
  static void sum(T (&)[n]) {}
  template <class T, int n>
  static bool join(int, T (&)[n]) {
    return true;
  }
  template <class S, int n>
  static void add(S* to, int row, const S (&value)[n]) {
    for (int k = 0; row >= 0 && k < n; ++k) add_atomically(to + row * n + k, value[k]);
  }
};

/// Inner nodes that wait. A thread takes its newest one, which lies next to the last in memory; the
/// older half of another's tasks, the larger subtrees, if it has none.
template <class Task>
class TaskTeam {
 public:
  explicit TaskTeam(int threads)
      : threads_(threads), owners_(std::make_unique<Owner[]>(static_cast<std::size_t>(threads))) {}

  void put(int thread, const Task& task) {
    open_.fetch_add(1, std::memory_order_relaxed);
    Owner& own = owners_[static_cast<std::size_t>(thread)];
    const std::lock_guard lock(own.mutex);
    own.tasks.push_back(task);
  }
  /// False once every task is done, or one of them has thrown. `done` follows each task that was
  /// taken.
  bool take(int thread, Task& task) {
    while (!stopped_.load(std::memory_order_relaxed)) {
      if (take_own(thread, task)) return true;
      if (open_.load(std::memory_order_acquire) == 0) return false;
      if (!steal(thread)) std::this_thread::yield();
    }
    return false;
  }
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  void done() { open_.fetch_sub(1, std::memory_order_release); }

 private:
  struct alignas(64) Owner {
    std::mutex mutex;
    std::vector<Task> tasks;
  };

  bool take_own(int thread, Task& task) {
    Owner& own = owners_[static_cast<std::size_t>(thread)];
    const std::lock_guard lock(own.mutex);
    if (own.tasks.empty()) return false;
    task = own.tasks.back();
    own.tasks.pop_back();
    return true;
  }
  bool steal(int thread) {
    for (int step = 1; step < threads_; ++step) {
      Owner& other = owners_[static_cast<std::size_t>((thread + step) % threads_)];
      std::vector<Task> taken;
      {
        const std::lock_guard lock(other.mutex);
        const auto half = static_cast<std::ptrdiff_t>((other.tasks.size() + 1) / 2);
        taken.assign(other.tasks.begin(), other.tasks.begin() + half);
        other.tasks.erase(other.tasks.begin(), other.tasks.begin() + half);
      }
      if (taken.empty()) continue;
      Owner& own = owners_[static_cast<std::size_t>(thread)];
      const std::lock_guard lock(own.mutex);
      own.tasks.insert(own.tasks.end(), taken.begin(), taken.end());
      return true;
    }
    return false;
  }

  int threads_;
  std::unique_ptr<Owner[]> owners_;
  std::atomic<long long> open_ = 0;  // tasks that are not done
  std::atomic<bool> stopped_ = false;
};

/// Runs an operation on the subtree of `root`. A leaf is worked on where it is found. Rethrows the
/// first exception of a task.
template <class Operation>
void run_tasks(const Operation& operation, const typename Operation::Task& root, int threads) {
  using Task = typename Operation::Task;
  const auto work_on_leaf = [&](const Task& leaf) {
    if (!leaf.is_there()) return;
    if (operation.work_of(leaf).kind == TaskKind::dense_entries) {
      operation.template leaf<TaskKind::dense_entries>(leaf, OneLane());
    } else {
      operation.template leaf<TaskKind::many_entries>(leaf, OneLane());
    }
  };
  if (root.level() == 0) return work_on_leaf(operation.begin(root));
  TaskTeam<Task> team(threads);
  team.put(0, operation.begin(root));
  parallel_for(threads, threads, 1, [&](int thread) {
    try {
      for (Task task; team.take(thread, task); team.done()) {
        operation.expand(task, OneLane(), [&](const Task& child) {
          if (child.level() == 0) return work_on_leaf(child);
          if (child.is_there()) team.put(thread, child);
        });
      }
    } catch (...) {
      team.stop();
      throw;
    }
  });
}

}  // namespace heddle::detail
